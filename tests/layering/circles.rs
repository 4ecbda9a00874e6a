//! Circles of imports between the modules (files) of a layer: where there is one, none of its files
//! can be read, tried or moved without the others.

use super::paths::{crate_paths, module_of};
use super::tokens::tokens;
use std::collections::{BTreeMap, BTreeSet};

/// For each module of `layer` those that it imports from; tests do not count. A path belongs to the
/// longest module that it begins with, so a name that a `mod.rs` passes on is imported from that
/// `mod.rs`, which imports the file that has it.
pub fn imports(files: &BTreeMap<String, String>, layer: &str) -> BTreeMap<String, BTreeSet<String>> {
    let of_layer = |file: &&String| module_of(file).first().is_some_and(|first| first == layer);
    let modules: BTreeSet<String> = files.keys().filter(of_layer).map(|file| module_of(file).join("::")).collect();
    let longest = |words: &[String]| (1..=words.len()).rev().map(|length| words[..length].join("::")).find(|name| modules.contains(name));
    let mut imports = BTreeMap::new();
    for (file, source) in files.iter().filter(|(file, _)| of_layer(file)) {
        let own = module_of(file).join("::");
        let (paths, _) = crate_paths(file, &tokens(source));
        let targets = paths.iter().filter(|path| !path.in_test).filter_map(|path| longest(&path.words));
        let targets: BTreeSet<String> = targets.filter(|target| *target != own).collect();
        imports.insert(own, targets);
    }
    imports
}

/// A circle, as the names along it; `None` when there is none.
pub fn circle(imports: &BTreeMap<String, BTreeSet<String>>) -> Option<Vec<String>> {
    let mut done = BTreeSet::new();
    imports.keys().find_map(|start| walk(start, imports, &mut Vec::new(), &mut done))
}

/// Goes on from `module`; `way` leads to it, and `done` are modules from which no circle can be
/// reached.
fn walk(
    module: &str,
    imports: &BTreeMap<String, BTreeSet<String>>,
    way: &mut Vec<String>,
    done: &mut BTreeSet<String>,
) -> Option<Vec<String>> {
    if let Some(at) = way.iter().position(|before| before == module) {
        return Some(way[at..].to_vec());
    }
    if done.contains(module) {
        return None;
    }
    way.push(module.to_owned());
    let found = imports.get(module).into_iter().flatten().find_map(|next| walk(next, imports, way, done));
    way.pop();
    done.insert(module.to_owned());
    found
}
