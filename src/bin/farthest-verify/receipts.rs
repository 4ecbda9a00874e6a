//! Receipts: checker processes each check an interval of the states, and write a receipt; a merge
//! puts the receipts together. Anyone can write a receipt. One is proof only if it is sealed with a
//! key that the author of the folder does not have.

use crate::distance::{Certificate, Counted};
use crate::limits::{Checked, Claim, Limits, counted, refuted, shown, unreadable, wide};
use crate::records::{Records, io_error, open, shown_path};
use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Shortest and longest file of a key, in bytes.
const KEY_BYTES: std::ops::RangeInclusive<usize> = 16..=4_096;

/// A key that seals receipts, derived from the bytes of a file.
pub struct Key([u8; 32]);

impl Key {
    /// Reads a key. It may be any bytes that only those who check know.
    pub fn read(path: &Path) -> Checked<Self> {
        let mut bytes = Vec::new();
        let longest = wide(*KEY_BYTES.end());
        open(path)?.take(longest + 1).read_to_end(&mut bytes).map_err(|error| io_error(path, &error))?;
        if !KEY_BYTES.contains(&bytes.len()) {
            let expected = format!("{} to {longest} bytes that nobody can guess, such as head -c 32 /dev/urandom", KEY_BYTES.start());
            return Err(unreadable(shown_path(path), counted(wide(bytes.len()), "byte"), expected));
        }
        Ok(Self(blake3::derive_key("farthest-verify 2026-12-01 receipts of intervals", &bytes)))
    }

    fn seal(&self, text: &str) -> String {
        blake3::keyed_hash(&self.0, text.as_bytes()).to_hex().to_string()
    }
}

/// The lines of a receipt before its seal and its end.
fn text_of(certificate: &Certificate, interval: &Range<u64>, counts: &[u64]) -> String {
    let mut text = format!(
        "farthest-receipt 2\ncertificate {}\narchive {}\ninterval {} {}\nlevels {}\n",
        certificate.digest,
        certificate.archive_digest(),
        interval.start,
        interval.end,
        counts.len()
    );
    for (depth, count) in counts.iter().enumerate() {
        text += &format!("level {depth} {count}\n");
    }
    text
}

/// Writes a receipt for an interval to a new file. Refuses to overwrite a file.
pub fn write(path: &Path, certificate: &Certificate, interval: &Range<u64>, counts: &[Counted], key: Option<&Key>) -> Checked<()> {
    let counts: Vec<u64> = counts.iter().map(|count| count.states).collect();
    let mut text = text_of(certificate, interval, &counts);
    if let Some(key) = key {
        text += &format!("seal {}\n", key.seal(&text));
    }
    let cannot = |error: std::io::Error| unreadable(shown_path(path), error, "a new file that can be written (no receipt is overwritten)");
    let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(cannot)?;
    file.write_all((text + "end\n").as_bytes()).and_then(|()| file.sync_all()).map_err(cannot)
}

/// Checks that all receipts are for this certificate, cover each number once, and sum to its
/// counts. The total must be the order of the group. The claim is proved only if a key is given;
/// every receipt must then have its seal.
pub fn merge(certificate: &Certificate, paths: &[PathBuf], key: Option<&Key>, limits: &Limits) -> Checked<Claim> {
    certificate.check_ranks(limits)?;
    certificate.check_total(limits)?;
    let mut intervals = Vec::new();
    let mut sums = vec![0_u128; certificate.levels.len()];
    for path in paths {
        let (interval, counts, place) = read(path, certificate, key, limits)?;
        for (sum, count) in sums.iter_mut().zip(&counts) {
            *sum += u128::from(*count);
        }
        intervals.push((interval.start, interval.end, place));
    }
    intervals.sort();
    let mut covered = 0;
    for (start, end, place) in &intervals {
        if *start != covered || end < start {
            let what = if *start > covered { "a gap" } else { "an overlap" };
            return Err(refuted(place, format!("numbers {start} to {end}, {what}"), format!("an interval from {covered} on")));
        }
        covered = *end;
    }
    if covered != certificate.ranks {
        return Err(refuted(&certificate.place, format!("receipts up to number {covered}"), format!("up to {}", certificate.ranks)));
    }
    for ((&stated, found), place) in certificate.levels.iter().zip(sums).zip(&certificate.level_places) {
        if u128::from(stated) != found {
            return Err(refuted(place, format!("{stated} states"), format!("{found}, the sum of the receipts")));
        }
    }
    let receipts = counted(wide(paths.len()), "receipt");
    let claim = crate::distance::claim(certificate);
    Ok(match key {
        Some(_) => Claim::proved(format!("{claim} (as {receipts} with the seal of your key say together)")),
        None => Claim {
            is_proved: false,
            text: format!(
                "{claim}, if {receipts} are to be believed: checked here are the numbering, the number of states, and that the receipts are for this certificate and \
                 archive, cover it and sum to it; not proved: that a checker wrote them (give each --interval and --merge the same --key), and so the distances"
            ),
        },
    })
}

/// Reads a receipt: its interval, its counts for each level, and its place for messages.
fn read(path: &Path, certificate: &Certificate, key: Option<&Key>, limits: &Limits) -> Checked<(Range<u64>, Vec<u64>, String)> {
    let mut records = Records::open(path, limits)?;
    let record = records.expect("farthest-receipt")?;
    if record.numbers("farthest-receipt 2")? != [2] {
        return Err(record.unreadable(shown(record.text()), "version 2"));
    }
    for (name, expected) in [("certificate", certificate.digest.clone()), ("archive", certificate.archive_digest())] {
        let record = records.expect(name)?;
        let [digest] = record.fields("certificate SHA256, archive SHA256")?;
        if digest != expected {
            return Err(refuted(record.place(), format!("a receipt for {name} {}", shown(digest)), expected));
        }
    }
    let record = records.expect("interval")?;
    let [start, end] = record.numbers("interval FIRST END")?;
    let place = record.place();
    let record = records.expect("levels")?;
    if record.numbers("levels D+1")? != [wide(certificate.levels.len())] {
        return Err(record.unreadable(shown(record.text()), format!("{} levels", certificate.levels.len())));
    }
    let mut counts = Vec::new();
    for depth in 0..wide(certificate.levels.len()) {
        let record = records.expect("level")?;
        let [stated, states] = record.numbers("level DEPTH STATES")?;
        if stated != depth {
            return Err(record.unreadable(shown(record.text()), format!("level {depth}")));
        }
        counts.push(states);
    }
    let seal = if records.is_next("seal")? { Some(records.expect("seal")?) } else { None };
    records.end()?;
    if let Some(key) = key {
        let expected = key.seal(&text_of(certificate, &(start..end), &counts));
        let found = seal.as_ref().map(|record| record.fields::<1>("seal HEX")).transpose()?;
        if found != Some([expected.as_str()]) {
            return Err(refuted(shown_path(path), "a receipt without the seal of this key", "one that was written with it"));
        }
    }
    Ok((start..end, counts, place))
}
