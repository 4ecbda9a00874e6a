//! Archives of levels, written from the specification alone, right or with one thing wrong.

use super::texts::{below, one_of};
use crate::common::disturb::{Dice, sha256};
use crate::common::forge::digests_again;
use farthest::base::ids::{to_u64, to_usize};
use farthest::store::{Contents, PackReader};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

/// A block of a pack with the entry of the index.
#[derive(Clone)]
pub struct Block {
    /// Shard, set, encoding, members, raw length, whether it is compressed.
    entry: [u64; 6],
    stored: Vec<u8>,
    /// What is added to offset, stored length and checksum.
    lie: [u64; 3],
}

/// The states of each level, by their numbers, and the first records of the certificate.
#[derive(Clone)]
pub struct Levels {
    head: String,
    ranks: u64,
    shard: u64,
    levels: Vec<Vec<u64>>,
    /// Counts of the certificate, where they are not those of the levels.
    counts: Option<Vec<usize>>,
}

/// A number of the index.
fn integer(number: u64) -> Vec<u8> {
    let bytes = number.to_le_bytes();
    match number {
        0..251 => bytes[..1].to_vec(),
        251..0x1_0000 => [&[251], &bytes[..2]].concat(),
        0x1_0000..0x1_0000_0000 => [&[252], &bytes[..4]].concat(),
        _ => [&[253], &bytes[..]].concat(),
    }
}

fn leb128(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 128 {
        bytes.push(number.to_le_bytes()[0] | 128);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
    bytes
}

impl Block {
    /// A list.
    fn list(shard: u64, offsets: &[u64]) -> Self {
        let mut next = 0;
        let mut stored = Vec::new();
        for &offset in offsets {
            stored.extend(leb128(offset - next));
            next = offset + 1;
        }
        Self::of(shard, 2, offsets.len(), stored)
    }

    /// Bits.
    fn bits(shard: u64, offsets: &[u64], size: u64) -> Self {
        let mut stored = vec![0; to_usize(size.div_ceil(64) * 8)];
        for &offset in offsets {
            stored[to_usize(offset / 8)] |= 1 << (offset % 8);
        }
        Self::of(shard, 3, offsets.len(), stored)
    }

    fn of(shard: u64, encoding: u64, members: usize, stored: Vec<u8>) -> Self {
        Self { entry: [shard, 1, encoding, to_u64(members), to_u64(stored.len()), 0], stored, lie: [0; 3] }
    }

    fn compressed(mut self) -> Self {
        self.stored = zstd::encode_all(&self.stored[..], 1).expect("in memory");
        self.entry[5] = 1;
        self
    }
}

/// A pack of these blocks; the index may be changed before its checksum is taken.
fn pack(blocks: &[Block], change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = [b"FARTHESTPACK\x01\0".as_slice(), &[0; 18]].concat();
    let mut payload = integer(to_u64(blocks.len()));
    for block in blocks {
        let ends = [to_u64(bytes.len()), to_u64(block.stored.len()), xxh3_64(&block.stored)];
        let ends = ends.iter().zip(block.lie).map(|(&number, lie)| number.wrapping_add(lie));
        payload.extend(block.entry.iter().copied().chain(ends).flat_map(integer));
        bytes.extend(&block.stored);
    }
    change(&mut payload);
    let head = [b"FARTHESTINDX\x01\0\x01\0".as_slice(), &to_u64(payload.len()).to_le_bytes()].concat();
    let index = to_u64(bytes.len());
    let checksum = xxh3_64(&[&head[..], &payload].concat());
    bytes.extend([&head[..], &checksum.to_le_bytes(), &payload, &index.to_le_bytes()].concat());
    bytes.extend([&(to_u64(payload.len()) + 32).to_le_bytes(), b"FARTHEND".as_slice()].concat());
    bytes
}

/// Another way to write a pack.
type WritePack = dyn Fn(&mut Dice, Vec<Block>) -> Vec<u8>;

impl Levels {
    /// Those of a run.
    pub fn read(run: &Path) -> Self {
        let text = fs::read_to_string(run.join("distance.cert")).expect("text");
        let records = || text.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        let number = |text: &str| text.parse::<u64>().expect("a number");
        let (head, _) = text.split_once("ranks ").expect("a record");
        let [ranks, shard] =
            records().find(|record| record[0] == "ranks").map(|record| [number(record[1]), number(record[2])]).expect("ranks");
        let mut levels = vec![Vec::new(); records().filter(|record| record[0] == "level").count()];
        for record in records().filter(|record| record[0] == "archive") {
            let reader = PackReader::open(&run.join(record[4])).expect("whole");
            for entry in reader.entries().expect("whole") {
                let first = u64::from(entry.shard.0) * shard;
                let size = shard.min(ranks - first);
                let offsets: Vec<u64> = match reader.read_set(&entry, size).expect("whole") {
                    Contents::Empty => Vec::new(),
                    Contents::Full => (0..size).collect(),
                    Contents::Sparse(list) => list.to_vec(),
                    Contents::Words(words) => (0..size).filter(|bit| words[to_usize(bit / 64)] >> (bit % 64) & 1 == 1).collect(),
                };
                levels[to_usize(number(record[1]))].extend(offsets.iter().map(|offset| first + offset));
            }
        }
        levels.iter_mut().for_each(|level| level.sort_unstable());
        assert!(levels.iter().all(|level| !level.is_empty()));
        Self { head: head.to_owned(), ranks, shard, levels, counts: None }
    }

    fn depth(&self) -> usize {
        self.levels.len() - 1
    }

    /// Takes a state out of a level.
    fn take(&mut self, dice: &mut Dice, depth: usize) -> u64 {
        let level = &mut self.levels[depth];
        level.remove(below(dice, level.len()))
    }

    fn put(&mut self, depth: usize, rank: u64) {
        self.levels[depth].push(rank);
        self.levels[depth].sort_unstable();
    }

    /// The blocks of a level, each encoded in one of the ways that it can be.
    fn blocks(&self, dice: &mut Dice, depth: usize) -> Vec<Block> {
        let mut blocks = Vec::new();
        for shard in 0..self.ranks.div_ceil(self.shard) {
            let (first, last) = (shard * self.shard, ((shard + 1) * self.shard).min(self.ranks));
            let level = &self.levels[depth];
            let part = level.partition_point(|&rank| rank < first)..level.partition_point(|&rank| rank < last);
            let offsets: Vec<u64> = level[part].iter().map(|rank| rank - first).collect();
            let is_full = to_u64(offsets.len()) == last - first && offsets.windows(2).all(|pair| pair[0] < pair[1]);
            if offsets.is_empty() {
                if dice.below(40) == 0 {
                    blocks.push(Block::of(shard, 0, 0, Vec::new()));
                }
                continue;
            }
            let block = match dice.below(3) {
                0 if is_full => Block::of(shard, 1, offsets.len(), Vec::new()),
                1 => Block::bits(shard, &offsets, last - first),
                _ => Block::list(shard, &offsets),
            };
            blocks.push(if dice.below(3) == 0 && !block.stored.is_empty() { block.compressed() } else { block });
        }
        blocks
    }

    /// Writes the archive and its certificate; one level may be written in another way.
    fn write(&self, dice: &mut Dice, run: &Path, special: Option<(usize, &WritePack)>) {
        fs::remove_dir_all(run.join("levels")).expect("removable");
        let mut archives = String::new();
        for depth in 0..=self.depth() {
            let blocks = self.blocks(dice, depth);
            let path = format!("levels/{depth:06}/a");
            let bytes = match special {
                Some((at, write)) if at == depth => write(dice, blocks),
                _ => pack(&blocks, |_| ()),
            };
            fs::create_dir_all(run.join(format!("levels/{depth:06}"))).expect("created");
            fs::write(run.join(&path), &bytes).expect("written");
            archives += &format!("archive {depth} {} {} {path}\n", bytes.len(), sha256(&run.join(&path)));
        }
        let counts = self.counts.clone().unwrap_or_else(|| self.levels.iter().map(Vec::len).collect());
        let lines: String = counts.iter().enumerate().map(|(depth, count)| format!("level {depth} {count}\n")).collect();
        let text = format!(
            "{}ranks {} {}\nstates {}\nlevels {}\n{lines}archives {}\n{archives}end\n",
            self.head,
            self.ranks,
            self.shard,
            counts.iter().sum::<usize>(),
            counts.len(),
            counts.len()
        );
        fs::write(run.join("distance.cert"), text).expect("written");
    }
}

/// Changes the archive of a copy of a run.
type Change = fn(&mut Dice, &Path);

/// Ways to change an archive, by name.
pub const CHANGES: [(&str, Change); 13] = [
    ("written anew", |dice, run| Levels::read(run).write(dice, run, None)),
    ("a byte flipped", |dice, run| change_a_file(dice, run, |dice, bytes| a_byte(dice, bytes))),
    ("a byte flipped, and the digest made right", |dice, run| {
        change_a_file(dice, run, |dice, bytes| a_byte(dice, bytes));
        digests_again(run);
    }),
    ("a file cut or longer, and the digest made right", |dice, run| {
        change_a_file(dice, run, |dice, bytes| {
            if dice.below(2) == 0 {
                bytes.truncate(below(dice, bytes.len()));
            } else {
                bytes.push(0);
            }
        });
        digests_again(run);
    }),
    ("another kind of file, or none", another_kind_of_file),
    ("two files exchanged, and the digests made right", |dice, run| {
        let files = files(run);
        let (one, other) = (one_of(dice, &files), one_of(dice, &files));
        let [first, second] = [one, other].map(|path| fs::read(path).expect("readable"));
        fs::write(one, second).expect("written");
        fs::write(other, first).expect("written");
        digests_again(run);
    }),
    ("the first level in a form that no program writes", a_loose_form),
    ("a state in another level", |dice, run| {
        let mut levels = Levels::read(run);
        let (from, to) = (1 + below(dice, levels.depth()), below(dice, levels.depth() + 1));
        let rank = levels.take(dice, from);
        levels.put(to, rank);
        levels.write(dice, run, None);
    }),
    ("labels wrong in one way", labels_wrong_in_one_way),
    ("labels wrong in one way, again", labels_wrong_in_one_way),
    ("a pack wrong in one way", a_pack_wrong_in_one_way),
    ("a pack wrong in one way, again", a_pack_wrong_in_one_way),
    ("a pack wrong in one way, once more", a_pack_wrong_in_one_way),
];

/// Where each condition of the specification fails alone, if one does.
fn labels_wrong_in_one_way(dice: &mut Dice, run: &Path) {
    let mut levels = Levels::read(run);
    let deepest = levels.depth();
    let counts: Vec<usize> = levels.levels.iter().map(Vec::len).collect();
    match dice.below(13) {
        // The deepest level, or a part of it, has no label.
        0 => drop(levels.levels.pop()),
        1 if counts[deepest] > 1 => drop(levels.take(dice, deepest)),
        // A state that no deeper one comes after is one level too near, or too far.
        1 | 2 => {
            let rank = levels.take(dice, deepest);
            levels.put(deepest - 1, rank);
            if levels.levels[deepest].is_empty() {
                levels.levels.pop();
            }
        }
        3 => {
            let rank = levels.take(dice, deepest);
            levels.levels.push(vec![rank]);
            levels.levels.retain(|level| !level.is_empty());
        }
        // A state is listed in another level, too.
        4 | 5 => {
            let depth = 1 + below(dice, deepest);
            let rank = *one_of(dice, &levels.levels[depth]);
            levels.put(depth - 1, rank);
            levels.counts = Some(counts);
        }
        // States are missing or more than the certificate says.
        6 | 7 => {
            let mut counts = counts;
            let (one, other) = (below(dice, deepest + 1), below(dice, deepest + 1));
            counts[one] += 1;
            counts[other] = (counts[other] - 1).max(1);
            levels.counts = Some(counts);
        }
        // Two states in exchange.
        8 => {
            let (one, other) = (below(dice, deepest + 1), below(dice, deepest + 1));
            let (first, second) = (levels.take(dice, one), if one == other { 0 } else { levels.take(dice, other) });
            levels.put(other, first);
            if one != other {
                levels.put(one, second);
            }
        }
        // All that has no label gets one, the same: a set that no move leaves.
        9 => {
            let labelled: BTreeSet<u64> = levels.levels.iter().flatten().copied().collect();
            levels.levels[2].extend((0..levels.ranks).filter(|rank| !labelled.contains(rank)));
            levels.levels[2].sort_unstable();
        }
        // All distances from another state: its pieces have other names in every state. One plane,
        // so that this is seen at the numbers.
        10 | 11 if levels.head.contains("rotation-board 2 ") => {
            let pieces = (1..).find(|&pieces| (1..=pieces).product::<u64>() == levels.ranks).expect("a factorial");
            let (one, other) = (dice.below(pieces), dice.below(pieces));
            levels.levels.iter_mut().flatten().for_each(|rank| *rank = with_two_names_exchanged(*rank, pieces, [one, other]));
            levels.levels.iter_mut().for_each(|level| level.sort_unstable());
        }
        // Other shards, rightly.
        _ => levels.shard = 10 + dice.below(levels.ranks - 9),
    }
    levels.write(dice, run, None);
}

/// The lexicographic number of an arrangement after two of the pieces have exchanged their names.
fn with_two_names_exchanged(mut number: u64, pieces: u64, [one, other]: [u64; 2]) -> u64 {
    let mut left: Vec<u64> = (0..pieces).collect();
    let arrangement: Vec<u64> = (0..pieces)
        .rev()
        .map(|after| {
            let arrangements: u64 = (1..=after).product();
            let piece = left.remove(to_usize(number / arrangements));
            number %= arrangements;
            if piece == one {
                other
            } else if piece == other {
                one
            } else {
                piece
            }
        })
        .collect();
    let smaller_after = |at: usize| to_u64(arrangement[at..].iter().filter(|&&piece| piece < arrangement[at]).count());
    (0..arrangement.len()).fold(0, |number, at| number * to_u64(arrangement.len() - at) + smaller_after(at))
}

/// Bits that end early, or a block that begins in the header, each with its right checksum.
fn a_loose_form(dice: &mut Dice, run: &Path) {
    let levels = Levels::read(run);
    let (shard, offset) = (levels.levels[0][0] / levels.shard, levels.levels[0][0] % levels.shard);
    let size = levels.shard.min(levels.ranks - shard * levels.shard);
    let write = move |dice: &mut Dice, _| {
        if offset == 0 && dice.below(2) == 0 {
            // The last byte of the header is the list of the first number.
            return pack(&[Block { lie: [u64::MAX, 0, 0], ..Block::list(shard, &[0]) }], |_| ());
        }
        let mut block = Block::bits(shard, &[offset], size);
        block.stored.truncate(to_usize(offset / 8 + 1));
        block.entry[4] = to_u64(block.stored.len());
        pack(&[block], |_| ())
    };
    levels.write(dice, run, Some((0, &write)));
}

fn a_pack_wrong_in_one_way(dice: &mut Dice, run: &Path) {
    let levels = Levels::read(run);
    let size = levels.shard.min(levels.ranks);
    let depth = below(dice, levels.depth() + 1);
    levels.write(
        dice,
        run,
        Some((depth, &move |dice, mut blocks| {
            let at = below(dice, blocks.len());
            let block = &mut blocks[at];
            let way = dice.below(24);
            match way {
                0..6 => {
                    let number = &mut block.entry[to_usize(way)];
                    *number = *one_of(dice, &[*number + 1, number.saturating_sub(1), 0, 3, 1 << 20, u64::MAX]);
                }
                6 => block.lie[0] = *one_of(dice, &[1, u64::MAX, 1 << 40]),
                7 => block.lie[1] = *one_of(dice, &[1, u64::MAX, 1 << 40]),
                8 => block.lie[2] = 1,
                9 => block.stored.push(0),
                10 => drop(block.stored.pop()),
                // The same bytes in another form.
                11 if block.entry[5] == 0 => *block = block.clone().compressed(),
                12 if block.entry[5] == 0 && block.stored.len() > 1 => {
                    let (one, other) = block.stored.split_at(block.stored.len() / 2);
                    block.stored = [one, other].map(|part| zstd::encode_all(part, 1).expect("in memory")).concat();
                    block.entry[5] = 1;
                }
                // A frame of another length, and one with something after it.
                13 => {
                    *block = block.clone().compressed();
                    block.entry[4] += 1;
                }
                14 => {
                    *block = block.clone().compressed();
                    block.stored.extend([0x50, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, 7]);
                }
                // A member beyond the shard, and a list with a blank number.
                15 => *block = Block::list(block.entry[0], &[size]),
                16 => *block = Block::list(block.entry[0], &[u64::MAX - 1]),
                17 if block.entry[2] == 2 && block.entry[5] == 0 => {
                    let last = block.stored.pop().expect("a number");
                    block.stored.extend([last | 128, 0]);
                    block.entry[4] += 1;
                }
                18 => {
                    *block = Block::bits(block.entry[0], &[0], size);
                    block.stored.extend([0; 8]);
                    block.entry[4] += 8;
                }
                19 => {
                    let twice = block.clone();
                    blocks.push(twice);
                }
                20 => blocks.push(Block::of(0, 0, 0, Vec::new())),
                21 => return pack(&blocks, |index| index.push(0)),
                22 => {
                    // The number of blocks in three bytes.
                    return pack(&blocks, |index| {
                        let first = index.remove(0);
                        index.splice(0..0, [251, first, 0]);
                    });
                }
                _ => {
                    let mut bytes = pack(&blocks, |_| ());
                    let end = bytes.len();
                    // Header, checksum of the index, and what follows it.
                    let at = *one_of(dice, &[12, 13, 14, 31, end - 1, end - 9, end - 17, end - 24]);
                    bytes[at] ^= 1 << below(dice, 8);
                    return bytes;
                }
            }
            pack(&blocks, |_| ())
        })),
    );
}

fn a_byte(dice: &mut Dice, bytes: &mut [u8]) {
    let at = below(dice, bytes.len());
    bytes[at] ^= 1 << below(dice, 8);
}

/// Whether two folders differ in a file of the archive or in the certificate.
pub fn differ(one: &Path, other: &Path) -> bool {
    let is_plain = |run: &Path, path: &Path| !run.join("levels").is_symlink() && path.symlink_metadata().is_ok_and(|data| data.is_file());
    let read = |run: &Path| {
        let paths = files(run).into_iter().chain([run.join("distance.cert")]);
        paths.map(|path| is_plain(run, &path).then(|| fs::read(path).expect("readable"))).collect::<Vec<_>>()
    };
    read(one) != read(other)
}

/// Files of the archive, as the certificate names them.
fn files(run: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(run.join("distance.cert")).expect("text");
    text.lines().filter_map(|line| line.strip_prefix("archive ")).map(|line| run.join(line.rsplit(' ').next().expect("a path"))).collect()
}

fn change_a_file(dice: &mut Dice, run: &Path, change: impl FnOnce(&mut Dice, &mut Vec<u8>)) {
    let files = files(run);
    let path = one_of(dice, &files);
    let mut bytes = fs::read(path).expect("readable");
    change(dice, &mut bytes);
    fs::write(path, bytes).expect("written");
}

fn another_kind_of_file(dice: &mut Dice, run: &Path) {
    let files = files(run);
    let path = one_of(dice, &files);
    let link = |to: &Path| std::os::unix::fs::symlink(to, path).expect("linked");
    let moved = run.join("moved");
    match dice.below(5) {
        0 => fs::remove_file(path).expect("removable"),
        1 => {
            fs::remove_file(path).expect("removable");
            fs::create_dir(path).expect("created");
        }
        2 => {
            fs::rename(path, &moved).expect("moved");
            link(&moved);
        }
        3 => {
            fs::remove_file(path).expect("removable");
            link(Path::new("/dev/zero"));
        }
        _ => {
            fs::rename(run.join("levels"), &moved).expect("moved");
            std::os::unix::fs::symlink(&moved, run.join("levels")).expect("linked");
        }
    }
}
