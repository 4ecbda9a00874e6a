//! A run or puzzle as a script for the computer algebra system GAP, which checks the claims with
//! its own permutation groups.
//!
//! States become tuples of points, and generators permutations of the points, so that a generator
//! takes a state's tuple to its successor's, entry by entry. Three ways to do so, of which the
//! first possible one is taken:
//! 1. *places*: the places that a person sees, when each generator moves every place alike in all
//!    planes (rings, boards); a state is where each label is;
//! 2. *planes and positions*: a point for each plane and one for each position, when a generator's
//!    permutation is the same in all planes (cubes with orientations); a state is its plane, then
//!    where each label is;
//! 3. *pairs* of plane and position otherwise; a state is the pair (its plane, where a label is)
//!    for each label.
//!
//! In all three different states have different tuples, so the number of states reached from a
//! start is the length of its tuple's orbit: the group's order by that of the stabiliser, both by
//! GAP's own methods. GAP's permutations act from the right, and words read left to right, as here.
//! Cost: planes x generators x positions for the points.

use super::{Exported, Exporter, RunClaims};
use crate::base::ids::{index_u32, to_u64};
use crate::base::{Error, Result};
use crate::puzzle::planes::Planes;
use crate::puzzle::{PlaneMove, Puzzle, State};
use std::fmt::Write as _;

/// Most points of a script: more would keep GAP busy for hours.
const MOST_POINTS: usize = 1 << 17;

/// The exporter of scripts for GAP.
pub struct Gap;

impl Exporter for Gap {
    fn name(&self) -> &'static str {
        "gap"
    }

    fn about(&self) -> &'static str {
        "a script for GAP, which checks generators, number of states and antipodes: exit code 0 or 1"
    }

    fn text(&self, exported: &Exported) -> Result<String> {
        script(&exported.puzzle, exported.states, exported.run.as_ref())
    }
}

/// How states and generators act on points.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Points {
    /// Places as a person sees them, with the labels in ascending order.
    Places { labels: Vec<u64> },
    /// Planes (none when there is only one), then positions.
    PlanesAndPositions,
    /// Pairs of plane and position.
    Pairs,
}

/// The script for `puzzle`, which is claimed to reach `states` states. `Config` when the puzzle has
/// no group, or needs too many points.
fn script(puzzle: &Puzzle, states: Option<u64>, run: Option<&RunClaims>) -> Result<String> {
    let (Some(planes), Some(states)) = (puzzle.as_planes().filter(|planes| planes.is_total()), states) else {
        return Err(Error::config(format!(
            "{}: its moves are no permutations of all states, so there is no group that GAP could check",
            puzzle.name()
        )));
    };
    let group = Group { puzzle, planes };
    let points = Points::of(group);
    let count = points.count(group);
    if count > MOST_POINTS {
        return Err(Error::config(format!(
            "{}: its generators permute {count} pairs of plane and position; at most {MOST_POINTS} are written for GAP",
            puzzle.name()
        )));
    }
    let mut text = format!(
        "# {} in metric {}: claims for GAP (www.gap-system.org), checked by its own permutation groups.\n\
         # Written by farthest {}. Run: gap -q FILE. The last line is \"OK every claim\" and the exit code 0, or a line says Error and it is 1.\n\
         # {}\n\n",
        puzzle.name(),
        puzzle.metric(),
        env!("CARGO_PKG_VERSION"),
        points.explanation(group)
    );
    text += PREAMBLE;
    text += "\nnames := [\n";
    for generator in 0..puzzle.generators() {
        let _ = writeln!(text, "  {},", quoted(puzzle.generator_name(generator)));
    }
    text += "];\ngenerators := [\n";
    for generator in 0..puzzle.generators() {
        let _ = writeln!(text, "  {},", cycles(&points.permutation(group, generator)));
    }
    text += "];\nstarts := [\n";
    for start in puzzle.starts() {
        let _ = writeln!(text, "  {},", list(points.tuple(group, start)));
    }
    let _ = writeln!(text, "];\nclaimed_states := {states};");
    text += STATES;
    if let Some(run) = run {
        let (way, image, end) = if run.is_to_start {
            ("from each to a start", "OnTuples(antipodes[number], Product(generators{words[number]}, One(G)))", "start")
        } else {
            ("to each", "OnTuples(start, Product(generators{words[number]}, One(G)))", "antipodes[number]")
        };
        let _ = writeln!(text, "\n# States by depth, and antipodes with a shortest word {way} where one is known.");
        let _ = writeln!(text, "distribution := {};", list(run.distribution.iter().copied()));
        text += "antipodes := [\n";
        for (state, _) in &run.antipodes {
            let _ = writeln!(text, "  {},", list(points.tuple(group, state)));
        }
        text += "];\nwords := [\n";
        for (_, word) in &run.antipodes {
            let numbers = word.iter().flatten().map(|&generator| to_u64(generator) + 1);
            let _ = writeln!(text, "  {},", if word.is_some() { list(numbers) } else { "fail".into() });
        }
        text += "];\n";
        let lead = if run.is_to_start { "lead from their" } else { "lead to their" };
        text += &RUN.replace("IMAGE", image).replace("END", end).replace("lead to their", lead);
    }
    text += END;
    Ok(text)
}

/// Everything that is the same in all scripts. `FORCE_QUIT_GAP` in `OnBreak`: an error in the
/// script itself is no success.
const PREAMBLE: &str = r#"OnBreak := function() Print("Error: this script does not run here\n"); FORCE_QUIT_GAP(1); end;
SizeScreen([4096, 100]);
failures := 0;
Check := function(what, found, claimed)
  if found = claimed then
    Print("OK ", what, ": ", found, "\n");
  else
    Print("Error: ", what, ": found ", found, ", claimed ", claimed, "\n");
    failures := failures + 1;
  fi;
end;
"#;

const STATES: &str = r#"
G := Group(generators);
# Starts in different orbits, and the states reached from each.
representatives := [];
for start in starts do
  if ForAll(representatives, known -> RepresentativeAction(G, known, start, OnTuples) = fail) then
    Add(representatives, start);
  fi;
od;
Print("Group of order ", Size(G), " on ", LargestMovedPoint(G), " points, ", Length(generators), " generators: ", JoinStringsWithSeparator(names, " "), "\n");
Check("states reached", Sum(representatives, start -> Size(G) / Size(Stabilizer(G, start, OnTuples))), claimed_states);
"#;

const RUN: &str = r#"Check("sum of the states by depth", Sum(distribution), claimed_states);
Check("different antipodes listed", Length(Set(antipodes)), Length(antipodes));
Check("antipodes listed that are more than there are", Maximum(0, Length(antipodes) - distribution[Length(distribution)]), 0);
reached := Filtered(antipodes, state -> ForAny(representatives, start -> RepresentativeAction(G, start, state, OnTuples) <> fail));
Check("antipodes reached by the group", Length(reached), Length(antipodes));
known := Filtered([1..Length(words)], number -> words[number] <> fail);
right := Filtered(known, number -> ForAny(starts, start -> IMAGE = END));
if Length(known) > 0 then
  Check("words that lead to their antipodes", Length(right), Length(known));
  right := Filtered(known, number -> Length(words[number]) = Length(distribution) - 1);
  Check("words as long as God's number", Length(right), Length(known));
fi;
"#;

const END: &str = r#"
if failures = 0 then
  Print("OK every claim\n");
  QUIT_GAP(0);
fi;
Print("Error: ", failures, " claims are wrong\n");
FORCE_QUIT_GAP(1);
"#;

/// A puzzle whose generators are permutations of all states.
#[derive(Clone, Copy)]
struct Group<'a> {
    puzzle: &'a Puzzle,
    planes: &'a Planes,
}

impl<'a> Group<'a> {
    /// What a generator does in each plane; it is absent in none.
    fn steps(self, generator: usize) -> impl Iterator<Item = PlaneMove> + 'a {
        self.planes.generators()[generator].moves.iter().copied().flatten()
    }
}

impl Points {
    fn of(group: Group<'_>) -> Self {
        if let Some(labels) = uniform_labels(group) {
            return Self::Places { labels };
        }
        let alike = (0..group.puzzle.generators()).all(|generator| {
            let mut permutations = group.steps(generator).map(|step| step.permutation);
            let first = permutations.next();
            permutations.all(|permutation| Some(permutation) == first)
        });
        if alike { Self::PlanesAndPositions } else { Self::Pairs }
    }

    fn count(&self, group: Group<'_>) -> usize {
        let (planes, positions) = (index_u32(group.planes.planes()), index_u32(group.planes.arrangement_length()));
        match self {
            Self::Places { labels } => labels.len(),
            Self::PlanesAndPositions => plane_points(group) + positions,
            Self::Pairs => planes * positions,
        }
    }

    fn explanation(&self, group: Group<'_>) -> String {
        let (planes, positions) = (group.planes.planes(), group.planes.arrangement_length());
        match self {
            Self::Places { labels } => format!(
                "Points 1 to {} are the places in the order in which states are written; a state is the list of the places of its labels {} to {}.",
                labels.len(),
                labels[0],
                labels[labels.len() - 1]
            ),
            Self::PlanesAndPositions if planes == 1 => {
                format!("Points 1 to {positions} are the positions; a state is the list of the positions of its labels.")
            }
            Self::PlanesAndPositions => format!(
                "Points 1 to {planes} are the planes, the next {positions} the positions; a state is its plane, then the positions of its labels."
            ),
            Self::Pairs => format!(
                "Point p*{positions} + i + 1 is plane p (of {planes}) with position i (of {positions}); a state is the list, for each label, of its plane \
                 with the label's position."
            ),
        }
    }

    /// The state's tuple of points, from 1.
    fn tuple(&self, group: Group<'_>, state: &State) -> Vec<u64> {
        let positions = u64::from(group.planes.arrangement_length());
        let place_of = |label: u64| to_u64(state.arrangement.iter().position(|&found| u64::from(found) == label).unwrap_or(0)) + 1;
        match self {
            Self::Places { labels } => {
                let written = labels_of(&group.puzzle.text(state)).unwrap_or_default();
                labels.iter().map(|label| to_u64(written.iter().position(|found| found == label).unwrap_or(0)) + 1).collect()
            }
            Self::PlanesAndPositions => {
                let plane = (plane_points(group) > 0).then(|| u64::from(state.plane) + 1);
                plane.into_iter().chain((0..positions).map(|label| to_u64(plane_points(group)) + place_of(label))).collect()
            }
            Self::Pairs => (0..positions).map(|label| u64::from(state.plane) * positions + place_of(label)).collect(),
        }
    }

    /// Where the generator takes each point, from 0.
    fn permutation(&self, group: Group<'_>, generator: usize) -> Vec<usize> {
        let mut images: Vec<usize> = (0..self.count(group)).collect();
        let positions = index_u32(group.planes.arrangement_length());
        let steps: Vec<PlaneMove> = group.steps(generator).collect();
        // The piece at `source` comes to `target`.
        let moved = |permutation: u32| {
            group.planes.permutations()[index_u32(permutation)].images().iter().map(|&source| usize::from(source)).enumerate()
        };
        match self {
            Self::Places { .. } => {
                if let Some(places) = places_moved(group, generator, 0) {
                    images = places;
                }
            }
            Self::PlanesAndPositions => {
                let planes = plane_points(group);
                for (plane, step) in steps.iter().enumerate().take(planes) {
                    images[plane] = index_u32(step.target);
                }
                for (target, source) in moved(steps[0].permutation) {
                    images[planes + source] = planes + target;
                }
            }
            Self::Pairs => {
                for (plane, step) in steps.iter().enumerate() {
                    for (target, source) in moved(step.permutation) {
                        images[plane * positions + source] = index_u32(step.target) * positions + target;
                    }
                }
            }
        }
        images
    }
}

/// Points for planes: none when there is only one.
fn plane_points(group: Group<'_>) -> usize {
    if group.planes.planes() == 1 { 0 } else { index_u32(group.planes.planes()) }
}

/// The labels of a state's text, when it is nothing but different numbers.
fn labels_of(text: &str) -> Option<Vec<u64>> {
    let labels: Vec<u64> = text.split(' ').map(|word| word.parse().ok()).collect::<Option<_>>()?;
    let mut sorted = labels.clone();
    sorted.sort_unstable();
    sorted.dedup();
    (sorted.len() == labels.len()).then_some(labels)
}

/// The labels of all states, ascending, when every generator moves the places of the text alike in
/// all planes.
fn uniform_labels(group: Group<'_>) -> Option<Vec<u64>> {
    for generator in 0..group.puzzle.generators() {
        let first = places_moved(group, generator, 0)?;
        if (1..group.planes.planes()).any(|plane| places_moved(group, generator, plane).as_ref() != Some(&first)) {
            return None;
        }
    }
    let mut labels = labels_of(&group.puzzle.text(&group.puzzle.starts()[0]))?;
    labels.sort_unstable();
    Some(labels)
}

/// For each place, from 0, where the generator takes what is there, in the states of a plane.
fn places_moved(group: Group<'_>, generator: usize, plane: u32) -> Option<Vec<usize>> {
    let arrangement: Vec<u8> = (0..=u8::MAX).take(index_u32(group.planes.arrangement_length())).collect();
    let state = State { plane, arrangement };
    let before = labels_of(&group.puzzle.text(&state))?;
    let after = labels_of(&group.puzzle.text(&group.puzzle.apply(generator, &state)))?;
    before.iter().map(|label| after.iter().position(|found| found == label)).collect()
}

/// A permutation in GAP's notation: cycles of points from 1.
fn cycles(images: &[usize]) -> String {
    let mut seen = vec![false; images.len()];
    let mut text = String::new();
    for start in 0..images.len() {
        let mut cycle = Vec::new();
        let mut at = start;
        while !std::mem::replace(&mut seen[at], true) {
            cycle.push((at + 1).to_string());
            at = images[at];
        }
        if cycle.len() > 1 {
            let _ = write!(text, "({})", cycle.join(","));
        }
    }
    if text.is_empty() { "()".into() } else { text }
}

fn list(numbers: impl IntoIterator<Item = u64>) -> String {
    format!("[{}]", numbers.into_iter().map(|number| number.to_string()).collect::<Vec<_>>().join(","))
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.escape_default())
}
