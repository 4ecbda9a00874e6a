//! Commits, and the resumes that they allow. The crash cases are argued one by one in
//! `src/search/README.md`.
//!
//! `checkpoint/gen-D/process-P.pack` hold the sets that changed since the generation before,
//! `checkpoint/manifest-D` names every entry that makes up generation D (the depth of its last
//! level). The rename of the manifest is the commit. Two generations are kept (in compact storage
//! one). Where every host has a disk of its own (`machine/disks.rs`) the packs are on the disks of
//! their writers, and the manifest is on the first process's.

pub mod commit;
mod generations;
mod identity;
mod load;
pub mod manifest;
mod restore;

pub use commit::Checkpoint;
pub use generations::{exists, newest_whole, refuse_absent_host, refuse_other_search, was_set_aside};
pub use identity::SearchIdentity;
pub use restore::set_aside;
