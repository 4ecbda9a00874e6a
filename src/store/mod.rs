#![doc = include_str!("README.md")]

mod arena;
pub mod bitset;
pub mod chunk_code;
pub mod chunked_bits;
pub mod format;
pub mod level_archive;
pub mod mapped;
pub mod pack;
pub mod pack_entry;
pub mod packed_bits;
pub mod rank_set;
pub mod shard;

pub use mapped::{Home, MappedView, MappedWords, Region, Storage};
pub use pack::{PackReader, PackWriter};
pub use pack_entry::{Contents, PackEntry};
pub use packed_bits::{Chunk, Cut, LevelFile, PackedBits};
pub use rank_set::{Lanes, RankSet};
pub use shard::{Edges, LevelPart, Shard, scratch_path};
