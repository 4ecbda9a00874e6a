//! One set of offsets `0..length` of a shard, in one of five forms: empty, full, sparse list,
//! mapped bits, or (a level of a search in compact storage) packed bits.

use super::bitset;
use super::chunked_bits::ChunkedBits;
use super::mapped::{MappedWords, Region};
use super::pack_entry::Contents;
use super::packed_bits::{LevelFile, PackedBits};
use crate::base::Result;
use crate::base::fingerprint::{self, Fingerprint, LANE_STATES};
use crate::base::ids::{to_u64, to_usize};
use std::ops::Range;
use std::sync::Arc;

/// A sparse set turns into bits when it has more than `length / SPARSE_FRACTION` members: then its
/// list of 64-bit offsets is as large as the bitset.
const SPARSE_FRACTION: u64 = 64;

/// A region of at most this many words (256 KiB) is kept by an empty set: giving it back and taking
/// it again costs more than it holds.
const KEPT_WORDS: u64 = 1 << 15;

#[derive(Debug)]
enum Form {
    Empty,
    Full,
    Sparse(Vec<u64>),
    Bits(ChunkedBits),
    Packed(PackedBits),
}

/// A set for reading by lanes.
#[derive(Clone, Copy, Debug)]
pub enum Lanes<'a> {
    /// No member.
    Empty,
    /// Every offset.
    Full,
    /// The bits, with at least eight bytes after them.
    Bits(&'a [u8]),
}

/// A set of offsets of a shard. Invariant: `count` is the number of members, whatever the form.
#[derive(Debug)]
pub struct RankSet {
    form: Form,
    count: u64,
    length: u64,
    /// Where the form `Bits` has its words.
    region: Region,
    /// Words of an earlier use, kept while the set is likely to need them again.
    spare: Option<MappedWords>,
    /// Whether the set differs from what the last checkpoint holds of it.
    changed: bool,
}

impl RankSet {
    /// The empty set of offsets below `length`; its bits go to `region` once there are many.
    #[must_use]
    pub fn empty(length: u64, region: Region) -> Self {
        Self { form: Form::Empty, count: 0, length, region, spare: None, changed: false }
    }

    /// Number of members.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether the set differs from what the last checkpoint holds of it.
    #[must_use]
    pub fn changed(&self) -> bool {
        self.changed
    }

    /// Notes that a checkpoint now holds the set as it is.
    pub fn mark_saved(&mut self) {
        self.changed = false;
    }

    /// Notes that a checkpoint holds something else in this set's place.
    pub fn mark_changed(&mut self) {
        self.changed = true;
    }

    /// Whether `offset` is a member. Sparse: a binary search.
    #[inline]
    #[must_use]
    pub fn contains(&self, offset: u64) -> bool {
        match &self.form {
            Form::Empty => false,
            Form::Full => true,
            Form::Sparse(list) => list.binary_search(&offset).is_ok(),
            Form::Bits(bits) => bits.contains(offset),
            Form::Packed(bits) => bits.contains(offset),
        }
    }

    /// Adds `offsets` (any order, repeats allowed); returns how many were new. `offsets` is left in
    /// an unspecified order.
    ///
    /// # Errors
    /// When the bits need a scratch file that cannot be allocated; the set is then unchanged.
    pub fn insert(&mut self, offsets: &mut Vec<u64>) -> Result<u64> {
        if offsets.is_empty() || matches!(self.form, Form::Full) {
            return Ok(0);
        }
        self.unpack()?;
        if !matches!(self.form, Form::Bits(_)) {
            offsets.sort_unstable();
            offsets.dedup();
            if self.count + to_u64(offsets.len()) > self.length / SPARSE_FRACTION {
                self.make_bits()?;
            }
        }
        let before = self.count;
        match &mut self.form {
            Form::Bits(bits) => self.count += bits.insert(offsets),
            Form::Sparse(list) => {
                let merged = merged(list, offsets);
                self.count = to_u64(merged.len());
                *list = merged;
            }
            Form::Empty | Form::Full | Form::Packed(_) => {
                self.count = to_u64(offsets.len());
                self.form = Form::Sparse(offsets.clone());
            }
        }
        self.changed |= self.count > before;
        Ok(self.count - before)
    }

    /// Adds all members of `other`, which is disjoint from this set. A set that now has every
    /// offset drops its data.
    ///
    /// # Errors
    /// As [`RankSet::insert`].
    pub fn absorb_disjoint(&mut self, other: &Self) -> Result<()> {
        if other.count == 0 {
            return Ok(());
        }
        match &other.form {
            Form::Bits(added) => {
                self.make_bits()?.absorb_disjoint(added);
                self.count += other.count;
            }
            Form::Packed(added) => {
                self.make_bits()?.absorb_packed(added)?;
                self.count += other.count;
            }
            Form::Sparse(list) => {
                self.insert(&mut list.clone())?;
            }
            Form::Empty | Form::Full => {}
        }
        self.changed = true;
        if self.count == self.length {
            self.set_form(Form::Full);
        }
        Ok(())
    }

    /// Empties the set. Mapped words are kept for the next use when that is likely or they are few
    /// ([`KEPT_WORDS`]); else their space is given back.
    pub fn clear(&mut self, likely_again: bool) {
        self.changed |= self.count > 0;
        self.count = 0;
        if let Form::Bits(bits) = std::mem::replace(&mut self.form, Form::Empty) {
            self.spare = Some(bits.into_words());
        }
        if !likely_again && self.region.words > KEPT_WORDS && self.spare.take().is_some() {
            self.region.release();
        }
    }

    /// Fingerprint of the members, for a shard whose first rank is in lane `first_lane` of the
    /// space.
    #[must_use]
    pub fn fingerprint(&self, first_lane: u64) -> Fingerprint {
        match &self.form {
            Form::Empty => Fingerprint::default(),
            Form::Full => fingerprint::of_sorted_ranks((0..self.length).map(|offset| first_lane * LANE_STATES + offset)),
            Form::Sparse(list) => fingerprint::of_sorted_ranks(list.iter().map(|offset| first_lane * LANE_STATES + offset)),
            Form::Bits(bits) => bits.fingerprint(first_lane),
            Form::Packed(bits) => bits.fingerprint(first_lane),
        }
    }

    /// Counts the members from the data itself, and sums them up by chunks on the way
    /// ([`ChunkedBits::count`]): to be called before a set that was overwritten is read.
    pub fn measure(&mut self) -> u64 {
        match &mut self.form {
            Form::Bits(bits) => bits.count(),
            // What was packed is read back when it joins what is seen.
            Form::Packed(bits) => bits.count(),
            _ => self.recount(),
        }
    }

    /// Whether all offsets of a range are known to be members; a set may have more than it knows.
    #[must_use]
    pub fn is_full(&self, offsets: Range<u64>) -> bool {
        match &self.form {
            Form::Full => true,
            Form::Bits(bits) => bits.is_full(offsets),
            Form::Empty | Form::Sparse(_) | Form::Packed(_) => false,
        }
    }

    /// Counts the members from the data itself.
    #[must_use]
    pub fn recount(&self) -> u64 {
        match &self.form {
            Form::Empty => 0,
            Form::Full => self.length,
            Form::Sparse(list) => to_u64(list.len()),
            Form::Bits(bits) => bitset::count(bits.words()),
            Form::Packed(bits) => bits.recount(),
        }
    }

    /// The members at and after `cursor`, ascending, until `out` has at least `enough` entries
    /// (each plus `base`). Returns the cursor to go on from, `None` at the end.
    pub fn list_from(&self, cursor: u64, enough: usize, base: u64, out: &mut Vec<u64>) -> Option<u64> {
        match &self.form {
            Form::Empty => None,
            Form::Full => {
                let end = self.length.min(cursor + to_u64(enough.saturating_sub(out.len())));
                out.extend((cursor..end).map(|offset| base + offset));
                (end < self.length).then_some(end)
            }
            Form::Sparse(list) => {
                let first = list.partition_point(|&offset| offset < cursor);
                let part = &list[first..list.len().min(first + enough.saturating_sub(out.len()))];
                out.extend(part.iter().map(|offset| base + offset));
                list.get(first + part.len()).copied()
            }
            Form::Bits(bits) => bits.list_from(cursor, enough, base, out),
            Form::Packed(bits) => bits.list_from(cursor, enough, base, out),
        }
    }

    /// The offsets that are no members, at and after `cursor`; otherwise as [`RankSet::list_from`].
    pub fn list_absent_from(&self, cursor: u64, enough: usize, base: u64, out: &mut Vec<u64>) -> Option<u64> {
        match &self.form {
            Form::Full => None,
            Form::Bits(bits) => bits.list_absent_from(cursor, enough, base, out),
            Form::Empty | Form::Sparse(_) | Form::Packed(_) => {
                let wanted = to_u64(enough.saturating_sub(out.len())).min(self.length).next_multiple_of(64);
                let end = self.length.min(cursor + wanted);
                out.extend((cursor..end).filter(|&offset| !self.contains(offset)).map(|offset| base + offset));
                (end < self.length).then_some(end)
            }
        }
    }

    /// Makes the set ready for lanes to be read: bits, or a form without data.
    ///
    /// # Errors
    /// When bits need a scratch file that cannot be allocated.
    pub fn prepare_lanes(&mut self) -> Result<()> {
        if matches!(self.form, Form::Sparse(_) | Form::Packed(_)) {
            self.make_bits()?;
        }
        Ok(())
    }

    /// The members for reading by lanes, after [`RankSet::prepare_lanes`].
    #[must_use]
    pub fn lanes(&self) -> Lanes<'_> {
        match &self.form {
            Form::Full => Lanes::Full,
            Form::Bits(bits) => Lanes::Bits(bits.padded_bytes()),
            Form::Empty | Form::Sparse(_) | Form::Packed(_) => Lanes::Empty,
        }
    }

    /// Turns the set into bits whose every byte the caller overwrites, and returns them;
    /// [`RankSet::set_overwritten`] must follow.
    ///
    /// # Errors
    /// When bits need a scratch file that cannot be allocated.
    pub fn overwrite(&mut self) -> Result<&mut [u8]> {
        if !matches!(self.form, Form::Bits(_)) {
            let words = match self.spare.take() {
                Some(words) => words,
                None => MappedWords::create(&self.region)?,
            };
            self.form = Form::Bits(ChunkedBits::unknown(words, self.length));
        }
        let Form::Bits(bits) = &mut self.form else { unreachable!("just made bits") };
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(bits.words_to_overwrite());
        // The last word may have bits after the end, which nobody overwrites.
        let used = to_usize(self.length.div_ceil(8));
        bytes[used..].fill(0);
        Ok(&mut bytes[..used])
    }

    /// Replaces the set by a packed one.
    pub fn set_packed(&mut self, bits: PackedBits) {
        self.clear(false);
        self.set_overwritten(bits.count());
        self.form = if bits.count() == 0 { Form::Empty } else { Form::Packed(bits) };
    }

    /// Turns a packed set into a list, or into bits where a list would be larger; other sets stay
    /// as they are. To be called before members are looked up one by one.
    ///
    /// # Errors
    /// As [`RankSet::insert`].
    pub fn unpack(&mut self) -> Result<()> {
        if let Form::Packed(bits) = &self.form {
            if self.count > self.length / SPARSE_FRACTION {
                self.make_bits()?;
                return Ok(());
            }
            let mut list = Vec::with_capacity(to_usize(self.count));
            bits.list_from(0, usize::MAX, 0, &mut list);
            self.form = Form::Sparse(list);
        }
        Ok(())
    }

    /// Notes how many members the overwritten bits hold.
    pub fn set_overwritten(&mut self, count: u64) {
        self.changed |= count > 0 || self.count > 0;
        self.count = count;
    }

    /// The members as data for an entry.
    #[must_use]
    pub fn contents(&self) -> Contents<'_> {
        match &self.form {
            Form::Empty => Contents::Empty,
            Form::Full => Contents::Full,
            Form::Sparse(list) => Contents::Sparse(list.into()),
            Form::Bits(bits) => Contents::Words(bits.words().into()),
            Form::Packed(bits) => Contents::Words(bits.all_words().into()),
        }
    }

    /// Replaces the set by what an entry held; it then equals the checkpoint. Bits go to `file`,
    /// when there is one.
    ///
    /// # Errors
    /// When bits need a scratch file that cannot be allocated.
    pub fn load(&mut self, contents: &Contents<'_>, file: Option<&Arc<LevelFile>>) -> Result<()> {
        self.clear(false);
        match contents {
            Contents::Empty => {}
            Contents::Full => {
                self.count = self.length;
                self.form = Form::Full;
            }
            Contents::Sparse(list) => {
                self.insert(&mut list.to_vec())?;
            }
            Contents::Words(source) => {
                if let Some(file) = file {
                    self.set_packed(PackedBits::of_words(file, source)?);
                    self.changed = false;
                    return Ok(());
                }
                let bits = self.make_bits()?;
                bits.words_to_overwrite().copy_from_slice(source);
                self.count = bits.count();
            }
        }
        self.changed = false;
        Ok(())
    }

    /// Flips a bit of the data behind the count's back, for the tests of the guards; true when
    /// there was data.
    pub fn damage(&mut self) -> bool {
        match &mut self.form {
            Form::Bits(bits) => bits.damage(),
            Form::Packed(bits) => bits.damage(),
            Form::Sparse(list) => {
                list.pop();
            }
            Form::Empty | Form::Full => return false,
        }
        true
    }

    /// Turns the set into bits, and returns them.
    fn make_bits(&mut self) -> Result<&mut ChunkedBits> {
        if !matches!(self.form, Form::Bits(_)) {
            self.form = Form::Bits(self.as_bits()?);
        }
        let Form::Bits(bits) = &mut self.form else { unreachable!("just made bits") };
        Ok(bits)
    }

    /// The members as bits, in the words that the set has to spare or new ones.
    fn as_bits(&mut self) -> Result<ChunkedBits> {
        let words = match self.spare.take() {
            Some(mut words) => {
                words.fill(0);
                words
            }
            None => MappedWords::create(&self.region)?,
        };
        let mut bits = ChunkedBits::empty(words, self.length);
        match &self.form {
            Form::Sparse(list) => {
                bits.insert(list);
            }
            Form::Packed(packed) => bits.absorb_packed(packed)?,
            _ => {}
        }
        debug_assert!(!matches!(self.form, Form::Full), "a full set takes no more members");
        Ok(bits)
    }

    /// Changes to a form without data and gives the scratch space back.
    fn set_form(&mut self, form: Form) {
        let had_space = matches!(self.form, Form::Bits(_)) || self.spare.is_some();
        self.form = form;
        self.spare = None;
        if had_space {
            self.region.release();
        }
    }
}

/// Union of two ascending lists without repeats.
fn merged(first: &[u64], second: &[u64]) -> Vec<u64> {
    let mut union = Vec::with_capacity(first.len() + second.len());
    let (mut i, mut j) = (0, 0);
    while i < first.len() && j < second.len() {
        let (a, b) = (first[i], second[j]);
        union.push(a.min(b));
        i += usize::from(a <= b);
        j += usize::from(b <= a);
    }
    union.extend(&first[i..]);
    union.extend(&second[j..]);
    union
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Home;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::os::unix::fs::MetadataExt;

    const LENGTH: u64 = 2_400;

    fn set_in(folder: &tempfile::TempDir, number: u64) -> RankSet {
        RankSet::empty(LENGTH, Region { home: Home::File(folder.path().join("scratch")), number, words: bitset::words_for(LENGTH) })
    }

    fn listed(list: impl Fn(u64, &mut Vec<u64>) -> Option<u64>) -> Vec<u64> {
        let mut all = Vec::new();
        let mut cursor = Some(0);
        while let Some(from) = cursor {
            let mut part = Vec::new();
            cursor = list(from, &mut part);
            all.extend(part);
        }
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn every_form_is_the_same_set(batches in proptest::collection::vec(proptest::collection::vec(0..LENGTH, 0..60), 1..6), enough in 1_usize..100) {
            let folder = tempfile::tempdir().expect("temporary folder");
            let mut set = set_in(&folder, 0);
            let mut model = BTreeSet::new();
            for batch in batches {
                let before = model.len();
                model.extend(batch.iter().copied());
                let added = set.insert(&mut batch.clone()).expect("room");
                prop_assert_eq!(added, to_u64(model.len() - before));
                prop_assert_eq!(set.count(), set.recount());
                prop_assert_eq!(set.measure(), set.recount());
                let expected: Vec<u64> = model.iter().map(|offset| offset + 1_000).collect();
                let absent: Vec<u64> = (0..LENGTH).filter(|offset| !model.contains(offset)).map(|offset| offset + 1_000).collect();
                for enough in [enough, usize::MAX] {
                    prop_assert_eq!(&listed(|from, part| set.list_from(from, enough, 1_000, part)), &expected);
                    prop_assert_eq!(&listed(|from, part| set.list_absent_from(from, enough, 1_000, part)), &absent);
                }
                prop_assert_eq!(set.fingerprint(5), fingerprint::of_sorted_ranks(model.iter().map(|offset| offset + 600)));
                let mut copy = set_in(&folder, 1);
                copy.load(&set.contents(), None).expect("room");
                prop_assert_eq!(copy.fingerprint(0), set.fingerprint(0));
            }
        }
    }

    #[test]
    fn a_union_has_no_repeats() {
        assert_eq!(merged(&[1, 3, 9], &[3, 4, 9, 10]), [1, 3, 4, 9, 10]);
        assert_eq!(merged(&[], &[3]), [3]);
    }

    /// A checkpoint writes what differs from the one before.
    #[test]
    fn a_set_knows_whether_it_differs_from_the_checkpoint() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let mut set = set_in(&folder, 0);
        set.clear(false);
        assert!(!set.changed(), "still empty");
        set.insert(&mut vec![5]).expect("room");
        assert!(set.changed());
        set.mark_saved();
        set.insert(&mut vec![5]).expect("room");
        assert!(!set.changed(), "it was there");
        set.clear(false);
        assert!(set.changed());
    }

    /// What the words held before does not come back, neither between the members nor after the
    /// end.
    #[test]
    fn words_that_are_used_again_are_clean() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let mut set = RankSet::empty(1_000, Region { home: Home::File(folder.path().join("scratch")), number: 0, words: 16 });
        set.insert(&mut (0..1_000).collect()).expect("room");
        set.make_bits().expect("room").words_to_overwrite()[15] = u64::MAX;
        set.clear(true);
        set.overwrite().expect("room").fill(0);
        assert_eq!(set.recount(), 0, "behind the end");
        set.clear(true);
        set.insert(&mut (0..1_000).collect()).expect("room");
        set.clear(true);
        set.insert(&mut (0..500).step_by(2).collect()).expect("room");
        assert_eq!((set.count(), set.recount()), (250, 250));
    }

    #[test]
    fn few_members_need_no_space_and_a_full_set_needs_none_any_more() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let space = || std::fs::metadata(folder.path().join("scratch")).map_or(0, |facts| facts.blocks());
        let mut set = set_in(&folder, 0);
        set.insert(&mut vec![5, 7]).expect("room");
        assert_eq!(space(), 0);
        set.insert(&mut (0..1_000).collect()).expect("room");
        assert!(space() > 0);
        assert_eq!(set.count(), 1_000);
        let mut rest = set_in(&folder, 1);
        rest.insert(&mut (1_000..LENGTH).collect()).expect("room");
        let both = space();
        set.absorb_disjoint(&rest).expect("room");
        assert!(matches!(set.form, Form::Full));
        assert!(space() < both);
        assert_eq!(listed(|from, part| set.list_from(from, 7, 0, part)).len(), 2_400);
        assert_eq!(set.fingerprint(0), fingerprint::of_sorted_ranks(0..LENGTH));
    }
}
