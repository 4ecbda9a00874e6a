//! The canonical encoding of a compiled puzzle, and its digest.
//!
//! Checkpoints and published runs hold this digest, so the encoding never changes: not when a field
//! of a struct gets another name, and not when a puzzle gets new parts. It is the text of a JSON
//! object without blanks, with the keys in this order:
//!
//! ```text
//! {"name":TEXT,"metric":TEXT,"planes":N,"arrangement_length":N,
//!  "generators":[{"name":TEXT,"moves":[{"target":N,"permutation":N},...]},...],
//!  "permutations":[{"images":[N,...]},...],
//!  "starts":[{"plane":N,"arrangement":[N,...]},...],
//!  "layout":{"Cycle":{"size":N}} | "Circle" | "Numbered" | "Cells" |
//!           {"Orbits":{"positions":N,"arranged":[N,...],"planar":[N,...],"planes":[[N,...],...]}}}
//! ```
//!
//! A generator that is absent in a plane has `null` there. Puzzles of tokens have, in the place of
//! the keys from `planes` to `permutations`,
//! `"cells":N,"contents":N,"moves":[{"name":TEXT,"needs":[[CELL,BITS],...],"writes":[{"cell":N,"of":N} or {"cell":N,"always":N},...]},...]`.

use super::planes::Planes;
use super::tokens::{NewContent, Tokens};
use super::{Layout, Puzzle, Rules};
use std::fmt::{Display, Write as _};

/// Bytes that are collected before they are hashed: a puzzle of a million planes has 200 MB.
const BUFFER_BYTES: usize = 1 << 16;

/// Blake3 of the canonical encoding, as hexadecimal text.
#[must_use]
pub fn digest(puzzle: &Puzzle) -> String {
    let mut writer = Writer { hasher: blake3::Hasher::new(), text: String::with_capacity(BUFFER_BYTES) };
    writer.puzzle(puzzle);
    writer.flush();
    writer.hasher.finalize().to_hex().to_string()
}

/// Hashes what is written.
struct Writer {
    hasher: blake3::Hasher,
    text: String,
}

impl Writer {
    fn flush(&mut self) {
        self.hasher.update(self.text.as_bytes());
        self.text.clear();
    }

    fn put(&mut self, part: impl Display) {
        let _ = write!(self.text, "{part}");
        if self.text.len() >= BUFFER_BYTES {
            self.flush();
        }
    }

    /// A JSON string: names may hold any characters.
    fn quoted(&mut self, text: &str) {
        self.put(serde_json::Value::from(text));
    }

    /// `[`, the items with commas between them, `]`.
    fn list<T>(&mut self, items: impl IntoIterator<Item = T>, mut item: impl FnMut(&mut Self, T)) {
        self.put('[');
        for (number, value) in items.into_iter().enumerate() {
            if number > 0 {
                self.put(',');
            }
            item(self, value);
        }
        self.put(']');
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.list(bytes, Self::put);
    }

    fn puzzle(&mut self, puzzle: &Puzzle) {
        self.put("{\"name\":");
        self.quoted(puzzle.name());
        self.put(",\"metric\":");
        self.quoted(puzzle.metric());
        match puzzle.rules() {
            Rules::Planes(planes) => self.planes(planes),
            Rules::Tokens(tokens) => self.tokens(tokens),
        }
        self.put(",\"starts\":");
        self.list(puzzle.starts(), |writer, start| {
            writer.put(format_args!("{{\"plane\":{},\"arrangement\":", start.plane));
            writer.bytes(&start.arrangement);
            writer.put('}');
        });
        self.put(",\"layout\":");
        self.layout(puzzle.layout());
        self.put('}');
    }

    fn planes(&mut self, rules: &Planes) {
        self.put(format_args!(",\"planes\":{},\"arrangement_length\":{}", rules.planes(), rules.arrangement_length()));
        self.put(",\"generators\":");
        self.list(rules.generators(), |writer, generator| {
            writer.put("{\"name\":");
            writer.quoted(&generator.name);
            writer.put(",\"moves\":");
            writer.list(&generator.moves, |writer, step| match step {
                Some(step) => writer.put(format_args!("{{\"target\":{},\"permutation\":{}}}", step.target, step.permutation)),
                None => writer.put("null"),
            });
            writer.put('}');
        });
        self.put(",\"permutations\":");
        self.list(rules.permutations(), |writer, permutation| {
            writer.put("{\"images\":");
            writer.bytes(permutation.images());
            writer.put('}');
        });
    }

    fn tokens(&mut self, rules: &Tokens) {
        self.put(format_args!(",\"cells\":{},\"contents\":{}", rules.cells(), rules.contents()));
        self.put(",\"moves\":");
        self.list(rules.moves(), |writer, step| {
            writer.put("{\"name\":");
            writer.quoted(&step.name);
            writer.put(",\"needs\":");
            writer.list(&step.needs, |writer, (cell, allowed)| writer.put(format_args!("[{cell},{allowed}]")));
            writer.put(",\"writes\":");
            writer.list(&step.writes, |writer, (cell, content)| match content {
                NewContent::Of(other) => writer.put(format_args!("{{\"cell\":{cell},\"of\":{other}}}")),
                NewContent::Always(content) => writer.put(format_args!("{{\"cell\":{cell},\"always\":{content}}}")),
            });
            writer.put('}');
        });
    }

    fn layout(&mut self, layout: &Layout) {
        match layout {
            Layout::Cycle { size } => self.put(format_args!("{{\"Cycle\":{{\"size\":{size}}}}}")),
            Layout::Circle => self.put("\"Circle\""),
            Layout::Numbered => self.put("\"Numbered\""),
            Layout::Cells => self.put("\"Cells\""),
            Layout::Orbits { positions, arranged, planar, planes } => {
                self.put(format_args!("{{\"Orbits\":{{\"positions\":{positions},\"arranged\":"));
                self.bytes(arranged);
                self.put(",\"planar\":");
                self.bytes(planar);
                self.put(",\"planes\":");
                self.list(planes, |writer, contents| writer.bytes(contents));
                self.put("}}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families::{PuzzleSource, reading};
    use crate::puzzle::{Permutation, State};
    use std::path::Path;

    /// Digests as version 0.1.0 worked them out, from what `serde_json` made of its structs: every
    /// layout, two planes, several starts, and names that JSON escapes.
    #[test]
    fn digests_are_those_of_the_first_version() {
        let planes = "family = \"planes\"\nname = \"toy\"\nplanes = 2\npositions = 3\nstart_plane = 1\n[[generators]]\nname = \"A\"\n\
                      planes = [1, 0]\npermutations = [[1, 2, 0], [0, 1, 2]]\n";
        for (name, metric, known) in [
            ("turnstyle-9", "step", "1b52a3478ea7e4e883145b2c9ee0b55c7a67d8858655c0335d33b54c6af28c58"),
            ("turnstyle-8", "flip", "f41186ad71e4ee694506dd947bd5f19b8db1bfd554d8186eced4e55b60b2576d"),
            ("rotation-board-3x5n3", "half", "6483b858f58d9540e557277a0b484f11833f56ad5124f8ed3677e8a77110e946"),
            ("pocket-cube", "quarter", "54c9b7f826bb2a8efe04bc7709140f2d963d645bc2bf3b42abf61753f18159e0"),
            (planes, "step", "3a97cfa50092aa29358be86f9bb0be9745a2a272e29708d1a02842bcab01f25e"),
        ] {
            let source = if name.contains('\n') { reading::puzzle_text("x.toml", name) } else { PuzzleSource::from_short_name(name) };
            let puzzle = source.and_then(|source| source.build(metric)).expect("valid");
            assert_eq!(digest(&puzzle), known, "{name} {metric}");
        }
        let cycle = Permutation::new(vec![1, 2, 0]).expect("a bijection");
        let starts = [[0, 1, 2], [1, 0, 2]].map(|arrangement| State { plane: 0, arrangement: arrangement.to_vec() });
        let generators = vec![("<A'\t>".to_owned(), vec![(0, cycle)])];
        let odd = Puzzle::of_planes("t\"o\\y\n", "\u{e4}\u{7f}\u{1}/", 3, generators, starts.to_vec(), Layout::Numbered).expect("valid");
        assert_eq!(digest(&odd), "f4fe9a08f38d3ee35ff7bc6d4f9e558bf1f6f6fcd97a3ac39d3b30c8995af58f");
    }

    /// Every published run has the digest of the puzzle that its configuration builds today.
    #[test]
    fn digests_are_those_of_the_published_runs() {
        let mut compared = 0;
        let mut folders = vec![Path::new("results").to_owned()];
        while let Some(folder) = folders.pop() {
            folders.extend(
                std::fs::read_dir(&folder).expect("listed").map(|entry| entry.expect("listed").path()).filter(|path| path.is_dir()),
            );
            let Ok(summary) = std::fs::read_to_string(folder.join("summary.json")) else { continue };
            let summary: serde_json::Value = serde_json::from_str(&summary).expect("JSON");
            let text = |key: &str| summary[key].as_str().expect("text").to_owned();
            let puzzle = PuzzleSource::from_short_name(&text("puzzle")).and_then(|source| source.build(&text("metric"))).expect("shipped");
            assert_eq!(digest(&puzzle), text("puzzle_digest"), "{}", folder.display());
            compared += 1;
        }
        assert!(compared >= 40, "{compared} published runs");
    }
}
