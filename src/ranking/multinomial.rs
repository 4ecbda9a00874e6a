//! Lexicographic rank of a sequence among all orders of the same contents, equal ones included.
//!
//! At each place the rank grows by the number of orders that have a smaller content there:
//! `remaining * count(content) / places left` for each smaller content that is left, where
//! `remaining` is the number of orders of what is left. (Knuth, The Art of Computer Programming,
//! volume 4A, section 7.2.1.2, answer 4.) Cost: places x contents steps with a division.

/// The orders of some contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Multinomial {
    /// How often each content occurs.
    counts: Vec<u64>,
    places: u64,
    orders: u128,
}

impl Multinomial {
    /// The orders of these contents, each below `kinds`; `None` when they are 2^64 or more.
    #[must_use]
    pub fn of(contents: &[u8], kinds: u8) -> Option<Self> {
        let mut counts = vec![0; kinds.into()];
        let mut orders: u128 = 1;
        for (place, &content) in (1_u128..).zip(contents) {
            let count: &mut u64 = &mut counts[usize::from(content)];
            *count += 1;
            // Exact at every step: the number of orders of the contents so far.
            orders = orders.checked_mul(place)? / u128::from(*count);
            if orders > u128::from(u64::MAX) {
                return None;
            }
        }
        Some(Self { counts, places: contents.len().try_into().ok()?, orders })
    }

    /// How many orders there are.
    #[must_use]
    pub fn orders(&self) -> u128 {
        self.orders
    }

    /// Whether these are the contents, in any order.
    #[must_use]
    pub fn is_of(&self, contents: &[u8]) -> bool {
        let mut left = self.counts.clone();
        let takes = |content: &u8| left.get_mut(usize::from(*content)).filter(|count| **count > 0).map(|count| *count -= 1).is_some();
        u64::try_from(contents.len()) == Ok(self.places) && contents.iter().all(takes)
    }

    /// The rank of an order, `0..orders`. The contents must be these.
    #[must_use]
    pub fn rank(&self, contents: &[u8]) -> u64 {
        let mut left = self.counts.clone();
        let mut remaining = self.orders;
        let mut rank = 0;
        for (places, &content) in (1..=u128::from(self.places)).rev().zip(contents) {
            for smaller in &left[..usize::from(content)] {
                rank += remaining * u128::from(*smaller) / places;
            }
            let count = &mut left[usize::from(content)];
            remaining = remaining * u128::from(*count) / places;
            *count = count.saturating_sub(1);
        }
        u64::try_from(rank).unwrap_or(u64::MAX)
    }

    /// The order of rank `rank`.
    pub fn unrank(&self, rank: u64, contents: &mut [u8]) {
        let mut left = self.counts.clone();
        let mut remaining = self.orders;
        let mut rest = u128::from(rank);
        for (places, place) in (1..=u128::from(self.places)).rev().zip(contents) {
            for (content, count) in (0_u8..).zip(&mut left) {
                let orders = remaining * u128::from(*count) / places;
                if rest < orders {
                    *place = content;
                    *count -= 1;
                    remaining = orders;
                    break;
                }
                rest -= orders;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_ascend_through_all_orders() {
        for contents in [vec![0, 0, 1, 2, 2], vec![0, 1, 2, 3], vec![1, 1, 1], vec![2]] {
            let numbering = Multinomial::of(&contents, 4).expect("small");
            let orders = u64::try_from(numbering.orders()).expect("small");
            let mut before: Option<Vec<u8>> = None;
            for rank in 0..orders {
                let mut order = vec![0; contents.len()];
                numbering.unrank(rank, &mut order);
                assert!(numbering.is_of(&order) && before.as_ref().is_none_or(|before| *before < order));
                assert_eq!(numbering.rank(&order), rank);
                before = Some(order);
            }
        }
        assert_eq!(Multinomial::of(&[0, 0, 1, 2, 2], 4).expect("small").orders(), 30);
        assert!(!Multinomial::of(&[0, 0, 1], 2).expect("small").is_of(&[0, 1, 1]));
        assert!(Multinomial::of(&(0..30).collect::<Vec<u8>>(), 30).is_none());
    }
}
