//! The houses inside `src/search/`: folders of which each may know a few of the others only, and a
//! few of the layers.

use super::paths::{CratePath, module_of};

/// A folder of `src/search/`, the modules beside it that it may import, and the layers below.
pub struct House {
    pub name: &'static str,
    pub beside: &'static [&'static str],
    pub layers: &'static [&'static str],
}

/// The houses. What is in no folder is the level algorithm, which may import all of them.
pub const HOUSES: [House; 4] = [
    // Of puzzles, states and levels it knows nothing.
    House { name: "machine", beside: &[], layers: &["base", "exchange"] },
    // Two states instead of all: no processes, no run folder.
    House { name: "shortest", beside: &[], layers: &["base", "puzzle", "ranking", "store", "expand"] },
    // Of how a level is found it knows nothing.
    House {
        name: "checkpoint",
        beside: &["archive", "job", "level_record", "machine", "observer", "progress"],
        layers: &["base", "puzzle", "ranking", "store", "exchange"],
    },
    // Of what happens between levels it knows nothing.
    House {
        name: "expansions",
        beside: &[
            "budget",
            "estimate",
            "expansion_row",
            "expansion_choice",
            "guards",
            "job",
            "machine",
            "observer",
            "progress",
            "round",
            "settings",
            "space",
            "spot_checks",
            "tally",
        ],
        layers: &["base", "ranking", "store", "expand", "exchange"],
    },
];

/// Why a file of a house may not follow a path; `None` where it may, or is in no house.
pub fn refusal(file: &str, path: &CratePath) -> Option<String> {
    let module = module_of(file);
    let house = HOUSES
        .iter()
        .find(|house| module.first().is_some_and(|layer| layer == "search") && module.get(1).is_some_and(|name| name == house.name))?;
    let layer = path.words.first().map_or("", String::as_str);
    let name = house.name;
    // Tests may take a puzzle to try things out.
    if layer != "search" {
        return (!path.in_test && !house.layers.contains(&layer)).then(|| format!("search::{name} may not know {layer}"));
    }
    let target = path.words.get(1).map_or("", String::as_str);
    (target != name && !house.beside.contains(&target)).then(|| format!("search::{name} may not know search::{target}"))
}
