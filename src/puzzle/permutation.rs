//! A permutation of positions `0..length`, in the passive convention used everywhere in this crate:
//! `images[i]` is the position whose piece comes to position `i`, so applying `s` to an arrangement
//! `a` gives `a∘s`, `(a∘s)(i) = a(s(i))`. A word of permutations acts left to right: `a∘s∘t` is
//! "first s, then t".

/// Most positions a permutation of an arrangement may have: 20! is the last factorial below 2^63.
pub const MOST_RANKED_POSITIONS: usize = 20;

/// Most positions any permutation may have.
pub const MOST_POSITIONS: usize = 255;

/// A permutation of positions. Invariant: every position occurs exactly once in the images.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Permutation {
    images: Vec<u8>,
}

impl Permutation {
    /// The permutation with these images, or, when they are none, the first offending position of
    /// the list.
    ///
    /// # Errors
    /// `(index, value)` of the first image that is out of range or repeated.
    pub fn new(images: Vec<u8>) -> Result<Self, (usize, u8)> {
        let mut seen = [false; 256];
        for (index, &image) in images.iter().enumerate() {
            if usize::from(image) >= images.len() || std::mem::replace(&mut seen[usize::from(image)], true) {
                return Err((index, image));
            }
        }
        Ok(Self { images })
    }

    /// The permutation that moves nothing.
    ///
    /// # Panics
    /// When `length` is over [`MOST_POSITIONS`]; callers have checked that.
    #[must_use]
    pub fn identity(length: usize) -> Self {
        assert!(length <= MOST_POSITIONS, "a permutation of {length} positions");
        Self { images: (0..=u8::MAX).take(length).collect() }
    }

    /// The permutation given by a function from position to source position, known to be a
    /// bijection.
    ///
    /// # Panics
    /// When it is none: a fault of this program.
    #[must_use]
    pub fn from_fn(length: usize, source: impl Fn(usize) -> usize) -> Self {
        let images = (0..length).map(|i| u8::try_from(source(i)).expect("positions are below 256")).collect();
        Self::new(images).expect("the built-in rule is a bijection of positions")
    }

    /// Number of positions.
    #[must_use]
    pub fn length(&self) -> usize {
        self.images.len()
    }

    /// For each position the position whose piece comes to it.
    #[must_use]
    pub fn images(&self) -> &[u8] {
        &self.images
    }

    /// `self` first, then `next`.
    #[must_use]
    pub fn then(&self, next: &Self) -> Self {
        debug_assert_eq!(self.length(), next.length());
        Self { images: next.images.iter().map(|&i| self.images[usize::from(i)]).collect() }
    }

    /// The permutation that undoes this one.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let mut images = vec![0; self.images.len()];
        for (position, &source) in self.images.iter().enumerate() {
            images[usize::from(source)] = u8::try_from(position).expect("positions are below 256");
        }
        Self { images }
    }

    /// Whether nothing moves.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.images.iter().enumerate().all(|(i, &image)| i == usize::from(image))
    }

    /// Whether it is a product of an odd number of transpositions.
    #[must_use]
    pub fn is_odd(&self) -> bool {
        let mut seen = vec![false; self.images.len()];
        let mut odd = false;
        for start in 0..self.images.len() {
            let mut at = start;
            let mut cycle_length = 0_usize;
            while !std::mem::replace(&mut seen[at], true) {
                at = usize::from(self.images[at]);
                cycle_length += 1;
            }
            odd ^= cycle_length > 0 && cycle_length.is_multiple_of(2);
        }
        odd
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_act_left_to_right() {
        let cycle = Permutation::new(vec![2, 0, 1]).expect("bijection");
        let swap = Permutation::new(vec![1, 0, 2]).expect("bijection");
        // Pieces a b c: the cycle gives c a b, the swap then a c b.
        let word = cycle.then(&swap);
        let pieces = ['a', 'b', 'c'];
        let result: String = word.images().iter().map(|&i| pieces[usize::from(i)]).collect();
        assert_eq!(result, "acb");
        assert!(cycle.then(&cycle.inverse()).is_identity());
    }

    #[test]
    fn signs() {
        assert!(!Permutation::identity(5).is_odd());
        assert!(Permutation::new(vec![1, 0, 2]).expect("bijection").is_odd());
        assert!(!Permutation::new(vec![1, 0, 3, 2]).expect("bijection").is_odd());
        assert!(Permutation::new(vec![3, 0, 1, 2]).expect("bijection").is_odd());
    }

    #[test]
    fn no_permutation_names_the_offending_image() {
        assert_eq!(Permutation::new(vec![0, 2, 2]).expect_err("repeated"), (2, 2));
        assert_eq!(Permutation::new(vec![0, 3, 1]).expect_err("out of range"), (1, 3));
    }
}
