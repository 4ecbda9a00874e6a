//! Archived levels: `levels/DDDDDD/process-P.pack` hold every level set, when `keep_levels` is set.
//!
//! A level's folder is complete before a checkpoint holds the level; on a resume the levels after
//! the checkpoint are removed and found again. Which process wrote which pack has no meaning: a
//! reader takes all packs of the folder together.
//!
//! - [`keep`]: writes a level that was just closed, and compares all of them with the counts at the
//!   end; the one place where the search touches the archive;
//! - [`read`]: reads archived levels back, for those who use a complete run, too.

pub mod keep;
pub mod read;

pub use read::{level_folder, packs, ranks_of, read_level};
