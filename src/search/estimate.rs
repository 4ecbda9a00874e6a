//! What each expansion is estimated to cost for a level.

use std::fmt;

/// Estimated seconds of one thread of all processes together, for each expansion of the table, in
/// its order.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate(Vec<(&'static str, Option<f64>)>);

impl Estimate {
    /// The seconds of each expansion by name; `None` where the puzzle does not allow it.
    #[must_use]
    pub fn new(costs: impl IntoIterator<Item = (&'static str, Option<f64>)>) -> Self {
        Self(costs.into_iter().collect())
    }

    /// Whether the expansion `name` is possible.
    #[must_use]
    pub fn allows(&self, name: &str) -> bool {
        self.0.iter().any(|(own, cost)| *own == name && cost.is_some())
    }

    /// The cheapest of the possible expansions that are `wanted`, the first of equals; `None` when
    /// there is none.
    #[must_use]
    pub fn cheapest(&self, wanted: impl Fn(&str) -> bool) -> Option<&'static str> {
        let possible = self.0.iter().filter_map(|&(name, cost)| cost.filter(|_| wanted(name)).map(|cost| (name, cost)));
        possible.reduce(|best, other| if other.1 < best.1 { other } else { best }).map(|(name, _)| name)
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |cost: &Option<f64>| cost.map_or_else(|| "-".into(), |seconds| format!("{seconds:.3} s"));
        let costs: Vec<String> = self.0.iter().map(|(name, cost)| format!("{name} {}", shown(cost))).collect();
        formatter.write_str(&costs.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cheapest_that_is_possible_is_chosen() {
        let estimate = |costs: [Option<f64>; 3]| Estimate::new(["states", "lanes", "unseen"].into_iter().zip(costs));
        let cheapest = |costs| estimate(costs).cheapest(|_| true).expect("one is possible");
        assert_eq!(cheapest([Some(1.0), Some(2.0), Some(3.0)]), "states");
        assert_eq!(cheapest([Some(5.0), Some(2.0), Some(3.0)]), "lanes");
        assert_eq!(cheapest([Some(5.0), None, Some(3.0)]), "unseen");
        assert_eq!(cheapest([Some(5.0), None, None]), "states");
        assert_eq!(cheapest([Some(5.0), Some(5.0), Some(5.0)]), "states");
        assert_eq!(estimate([Some(1.0), Some(2.0), None]).cheapest(|name| name == "lanes"), Some("lanes"));
        assert_eq!(estimate([Some(1.0), None, None]).cheapest(|name| name == "lanes"), None);
    }

    #[test]
    fn costs_are_shown_in_the_order_of_the_table() {
        let shown = Estimate::new([("states", Some(1.0)), ("lanes", None), ("unseen", Some(0.25))]).to_string();
        assert_eq!(shown, "states 1.000 s, lanes -, unseen 0.250 s");
    }
}
