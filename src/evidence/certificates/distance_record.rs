//! What the certificate of a run's distances names, as far as the label of the run needs it: that
//! it is one for this puzzle with these levels, and the archived files that it rests on. Whether
//! those show the distances is for `farthest-verify` to say, which reads every byte of them.

use super::{ArchiveFile, CertifiedPuzzle, VERSION};
use crate::base::ids::to_u64;
use crate::evidence::checksums::{is_digest, is_level_file};
use crate::evidence::table_rows::number;

/// The archived files of the distance certificate `text`, by depth and path; `None` when it is no
/// certificate of `levels` states by depth of `puzzle`.
#[must_use]
pub fn archive_of(text: &str, puzzle: &CertifiedPuzzle, levels: &[u64]) -> Option<Vec<ArchiveFile>> {
    let mut records = Records { lines: text.strip_suffix('\n')?.split('\n').collect(), next: 0 };
    records.exactly(&format!("farthest-certificate {VERSION}"))?;
    records.exactly("claim distance")?;
    for line in puzzle.records().lines() {
        records.exactly(line)?;
    }
    if records.peek().is_some_and(|line| line.starts_with("arranged ")) {
        records.next()?;
    }
    records.next()?.strip_prefix("ranks ")?;
    let states = levels.iter().try_fold(0_u64, |sum, &states| sum.checked_add(states))?;
    records.exactly(&format!("states {states}"))?;
    records.exactly(&format!("levels {}", levels.len()))?;
    for (depth, states) in levels.iter().enumerate() {
        records.exactly(&format!("level {depth} {states}"))?;
    }
    let count = number(records.next()?.strip_prefix("archives ")?)?;
    let mut files: Vec<ArchiveFile> = Vec::new();
    while records.peek() != Some("end") {
        let file = archive_file(records.next()?)?;
        let is_of_level = usize::try_from(file.depth).is_ok_and(|depth| depth < levels.len());
        let ascends = files.last().is_none_or(|last| (last.depth, &last.path) < (file.depth, &file.path));
        if !is_of_level || !ascends {
            return None;
        }
        files.push(file);
    }
    records.exactly("end")?;
    let has_all = (0..levels.len()).all(|depth| files.iter().any(|file| usize::try_from(file.depth) == Ok(depth)));
    (records.next == records.lines.len() && to_u64(files.len()) == count && has_all).then_some(files)
}

fn archive_file(line: &str) -> Option<ArchiveFile> {
    let parts: Vec<&str> = line.split(' ').collect();
    let ["archive", depth, bytes, sha256, path] = parts[..] else { return None };
    let depth = u32::try_from(number(depth)?).ok()?;
    let is_its_level = is_level_file(path) && path.split('/').nth(1) == Some(&format!("{depth:06}"));
    (is_its_level && is_digest(sha256)).then(|| number(bytes)).flatten().map(|bytes| ArchiveFile {
        depth,
        bytes,
        sha256: sha256.into(),
        path: path.into(),
    })
}

/// Records, one a line; comments are passed over from the second line on.
struct Records<'a> {
    lines: Vec<&'a str>,
    next: usize,
}

impl<'a> Records<'a> {
    fn peek(&mut self) -> Option<&'a str> {
        while self.next > 0 && self.lines.get(self.next).is_some_and(|line| line.starts_with('#')) {
            self.next += 1;
        }
        self.lines.get(self.next).copied()
    }

    fn next(&mut self) -> Option<&'a str> {
        let line = self.peek()?;
        self.next += 1;
        Some(line)
    }

    fn exactly(&mut self, expected: &str) -> Option<()> {
        (self.next()? == expected).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Certificate, Distance};
    use super::*;

    fn puzzle() -> CertifiedPuzzle {
        CertifiedPuzzle::named("turnstyle 4 step")
    }

    fn text() -> String {
        let file = |depth: u32, bytes: u64| ArchiveFile {
            depth,
            bytes,
            sha256: "0f".repeat(32),
            path: format!("levels/{depth:06}/process-0000.pack"),
        };
        let claim = Distance { arranged: None, ranks: 8, shard_length: 8, levels: vec![1, 3], archive: vec![file(0, 7), file(1, 9)] };
        Certificate::new(puzzle(), claim).to_text()
    }

    #[test]
    fn what_was_written_is_read() {
        let files = archive_of(&text(), &puzzle(), &[1, 3]).expect("a certificate");
        assert_eq!(files.iter().map(|file| (file.depth, file.bytes)).collect::<Vec<_>>(), [(0, 7), (1, 9)]);
        let commented = text().replace("claim distance\n", "# a remark\nclaim distance\n");
        assert!(archive_of(&commented, &puzzle(), &[1, 3]).is_some());
    }

    #[test]
    fn other_texts_are_no_certificate_of_these_levels() {
        let other = CertifiedPuzzle::named("turnstyle 4 turn");
        assert!(archive_of(&text(), &other, &[1, 3]).is_none());
        assert!(archive_of(&text(), &puzzle(), &[1, 4]).is_none());
        assert!(archive_of(&text(), &puzzle(), &[1, 3, 1]).is_none());
        for (from, to) in [
            ("claim distance", "claim word"),
            ("certificate 1", "certificate 2"),
            ("states 4", "states 5"),
            ("level 1 3", "level 1 4"),
            ("archives 2", "archives 1"),
            ("archive 1 9", "archive 0 9"),
            ("archive 1 9", "archive 1 x"),
            ("levels/000001", "levels/000000"),
            ("levels/000001/process", "levels/000001/../process"),
            ("end\n", "end\nend\n"),
            ("end\n", ""),
            ("end\n", "end"),
        ] {
            let changed = text().replacen(from, to, 1);
            assert_ne!(changed, text());
            assert!(archive_of(&changed, &puzzle(), &[1, 3]).is_none(), "{changed}");
        }
        let shorter = text().lines().filter(|line| !line.starts_with("archive 1 ")).fold(String::new(), |text, line| text + line + "\n");
        assert!(archive_of(&shorter.replace("archives 2", "archives 1"), &puzzle(), &[1, 3]).is_none(), "a level without a file");
    }
}
