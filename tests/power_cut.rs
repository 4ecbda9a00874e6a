//! A power cut at any moment, when the disk has kept any part of what was not synced: a resume ends
//! with the right bytes, and not behind a commit that was durable.
//!
//! A kill leaves all that was written; a power cut does not. One run is recorded by a small library
//! that is loaded before the system's and notes every operation on the files of the run folder with
//! its bytes. From the record the state of the disk is worked out for a cut behind every operation:
//! what was synced is there; of the rest, a random part. So a sync that is forgotten, of a file or
//! of a folder, or a rename that is too early, is a failure here (after ALICE, OSDI 2014).
//!
//! The model: bytes of a file are safe when the file is synced; names, renames and removals when
//! their folder is. What is not safe is kept or lost one operation at a time; bytes that are lost
//! leave zeros, or a shorter file. The scratch folder is left out: every run empties it.

mod common;

use common::disturb::{Dice, names, scratch};
use common::needs::{Need, test_lacks};
use common::{contents, farthest, outcome, result_bytes, succeed};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Notes `kind path [second path] [bytes]` for each operation below $RECORD_ROOT, in $RECORD_FILE:
/// a line, then the bytes.
const RECORDER: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static int record = -1;
static int ours(const char *path) {
    const char *root = getenv("RECORD_ROOT");
    return root && !strncmp(path, root, strlen(root));
}
static void note(const char *kind, const char *path, const char *second, long offset, const void *bytes, size_t length) {
    if (!ours(path)) return;
    pthread_mutex_lock(&turn);
    if (record < 0) record = syscall(SYS_openat, AT_FDCWD, getenv("RECORD_FILE"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    char line[9000];
    int end = snprintf(line, sizeof line, "%s\t%s\t%s\t%ld\t%zu\n", kind, path, second, offset, length);
    syscall(SYS_write, record, line, end);
    if (length) syscall(SYS_write, record, bytes, length);
    pthread_mutex_unlock(&turn);
}
static void path_of(int file, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, 4095);
    path[length < 0 ? 0 : length] = 0;
}
static void path_at(int folder, const char *name, char *path) {
    if (name[0] == '/' || folder == AT_FDCWD) { snprintf(path, 8192, "%s", name); return; }
    path_of(folder, path);
    strcat(path, "/");
    strncat(path, name, 4000);
}
static int opened(int folder, const char *name, int flags, mode_t mode) {
    char path[8192];
    struct stat facts;
    path_at(folder, name, path);
    int created = (flags & O_CREAT) && stat(path, &facts) != 0;
    int file = syscall(SYS_openat, folder, name, flags, mode);
    if (file >= 0 && created) note("create", path, "", 0, "", 0);
    if (file >= 0 && !created && (flags & O_TRUNC)) note("cut", path, "", 0, "", 0);
    return file;
}
#define MODE mode_t mode = 0; if (flags & O_CREAT) { va_list rest; va_start(rest, flags); mode = va_arg(rest, mode_t); va_end(rest); }
int open(const char *name, int flags, ...) { MODE return opened(AT_FDCWD, name, flags, mode); }
int open64(const char *name, int flags, ...) { MODE return opened(AT_FDCWD, name, flags, mode); }
int openat(int folder, const char *name, int flags, ...) { MODE return opened(folder, name, flags, mode); }
int openat64(int folder, const char *name, int flags, ...) { MODE return opened(folder, name, flags, mode); }
ssize_t write(int file, const void *bytes, size_t length) {
    char path[8192];
    path_of(file, path);
    long offset = ours(path) ? lseek(file, 0, (fcntl(file, F_GETFL) & O_APPEND) ? SEEK_END : SEEK_CUR) : 0;
    ssize_t written = syscall(SYS_write, file, bytes, length);
    if (written > 0) note("write", path, "", offset, bytes, written);
    return written;
}
#define OF_FILE(kind, offset) char path[8192]; path_of(file, path); if (code == 0) note(kind, path, "", offset, "", 0); return code;
int ftruncate64(int file, off64_t length) { int code = syscall(SYS_ftruncate, file, length); OF_FILE("cut", length) }
int ftruncate(int file, off_t length) { int code = syscall(SYS_ftruncate, file, length); OF_FILE("cut", length) }
int fsync(int file) { int code = syscall(SYS_fsync, file); OF_FILE("sync", 0) }
int fdatasync(int file) { int code = syscall(SYS_fdatasync, file); OF_FILE("sync", 0) }
int mkdir(const char *path, mode_t mode) {
    int code = syscall(SYS_mkdirat, AT_FDCWD, path, mode);
    if (code == 0) note("folder", path, "", 0, "", 0);
    return code;
}
int rename(const char *from, const char *to) {
    int code = syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
    if (code == 0) note("rename", from, to, 0, "", 0);
    return code;
}
int unlinkat(int folder, const char *name, int flags) {
    char path[8192];
    path_at(folder, name, path);
    int code = syscall(SYS_unlinkat, folder, name, flags);
    if (code == 0) note("remove", path, "", 0, "", 0);
    return code;
}
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }
"#;

/// What is done to the disk.
#[derive(Clone, Debug)]
enum Operation {
    Create(PathBuf),
    Folder(PathBuf),
    Cut(PathBuf, usize),
    Write(PathBuf, usize, Vec<u8>),
    Sync(PathBuf),
    Rename(PathBuf, PathBuf),
    Remove(PathBuf),
}

/// Reads a record; paths are made relative to the folder above the run's.
fn read_record(bytes: &[u8], root: &Path) -> Vec<Operation> {
    let mut rest = bytes;
    let mut operations = Vec::new();
    while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
        let line = std::str::from_utf8(&rest[..end]).expect("text").to_owned();
        let fields: Vec<&str> = line.split('\t').collect();
        let [kind, path, second, offset, length] = fields[..] else { panic!("{line}") };
        let number = |text: &str| text.parse::<usize>().expect("a number");
        let relative = |path: &str| Path::new(path).strip_prefix(root).expect("below").to_path_buf();
        let (path, offset, length) = (relative(path), number(offset), number(length));
        let data = rest[end + 1..end + 1 + length].to_vec();
        rest = &rest[end + 1 + length..];
        operations.push(match kind {
            "create" => Operation::Create(path),
            "folder" => Operation::Folder(path),
            "cut" => Operation::Cut(path, offset),
            "write" => Operation::Write(path, offset, data),
            "sync" => Operation::Sync(path),
            "rename" => Operation::Rename(path, relative(second)),
            "remove" => Operation::Remove(path),
            _ => panic!("{line}"),
        });
    }
    operations
}

/// Bytes that are not synced: a new length, or data at a place.
#[derive(Clone, Debug)]
enum Change {
    Cut(usize),
    Write(usize, Vec<u8>),
}

/// A file or folder, whatever its name.
#[derive(Clone, Debug, Default)]
struct Node {
    is_folder: bool,
    safe: Vec<u8>,
    unsafe_changes: Vec<Change>,
}

/// A name that comes or goes: in this folder, under this name, this node or nothing.
type Naming = Vec<(PathBuf, Option<usize>)>;

/// The disk: what is safe, and what was done since in order.
struct Disk {
    nodes: Vec<Node>,
    /// As programs see it.
    now: BTreeMap<PathBuf, usize>,
    /// As it is after a cut that loses all that can be lost.
    safe: BTreeMap<PathBuf, usize>,
    /// What is not safe yet.
    namings: Vec<Naming>,
}

impl Disk {
    /// With one empty folder, the one that gets the run folder.
    fn new() -> Self {
        let top = Node { is_folder: true, ..Node::default() };
        Self { nodes: vec![top], now: BTreeMap::from([(PathBuf::new(), 0)]), safe: BTreeMap::new(), namings: Vec::new() }
    }

    fn node(&mut self, path: &Path) -> &mut Node {
        let node = *self.now.get(path).unwrap_or_else(|| panic!("{} is not there", path.display()));
        &mut self.nodes[node]
    }

    fn name(&mut self, naming: Naming) {
        for (path, node) in &naming {
            match node {
                Some(node) => drop(self.now.insert(path.clone(), *node)),
                None => drop(self.now.remove(path)),
            }
        }
        self.namings.push(naming);
    }

    fn act(&mut self, operation: &Operation) {
        match operation {
            Operation::Create(path) | Operation::Folder(path) => {
                let is_folder = matches!(operation, Operation::Folder(_));
                self.nodes.push(Node { is_folder, ..Node::default() });
                let node = self.nodes.len() - 1;
                self.name(vec![(path.clone(), Some(node))]);
            }
            Operation::Cut(path, length) => self.node(path).unsafe_changes.push(Change::Cut(*length)),
            Operation::Write(path, at, bytes) => self.node(path).unsafe_changes.push(Change::Write(*at, bytes.clone())),
            Operation::Rename(from, to) => {
                let node = self.now[from];
                self.name(vec![(to.clone(), Some(node)), (from.clone(), None)]);
            }
            Operation::Remove(path) => self.name(vec![(path.clone(), None)]),
            Operation::Sync(path) if self.node(path).is_folder => {
                let (synced, left) = self.namings.drain(..).partition(|naming: &Naming| naming[0].0.parent() == Some(path));
                self.namings = left;
                apply(&mut self.safe, synced);
            }
            Operation::Sync(path) => {
                let node = self.node(path);
                let changes = std::mem::take(&mut node.unsafe_changes);
                changes.iter().for_each(|change| change_bytes(&mut node.safe, change));
            }
        }
    }

    /// Writes what a cut leaves: of what is not safe, each operation with a chance of `kept` in 4.
    fn leave(&self, folder: &Path, dice: &mut Dice, kept: u64) {
        let mut tree = self.safe.clone();
        apply(&mut tree, self.namings.iter().filter(|_| dice.below(4) < kept).cloned().collect());
        // Sorted: a folder comes before what is in it. What is in a folder that is lost is lost.
        for (path, node) in tree {
            let (node, target) = (&self.nodes[node], folder.join(&path));
            if !target.parent().is_some_and(Path::is_dir) {
                continue;
            }
            if node.is_folder {
                fs::create_dir(&target).expect("created");
            } else {
                let mut bytes = node.safe.clone();
                node.unsafe_changes.iter().filter(|_| dice.below(4) < kept).for_each(|change| change_bytes(&mut bytes, change));
                fs::write(&target, bytes).expect("written");
            }
        }
    }

    /// Depth of the newest manifest whose rename is safe.
    fn durable_level(&self) -> Option<u32> {
        self.safe.keys().filter_map(|path| path.file_name()?.to_str()?.strip_prefix("manifest-")?.parse().ok()).max()
    }
}

fn apply(tree: &mut BTreeMap<PathBuf, usize>, namings: Vec<Naming>) {
    for (path, node) in namings.into_iter().flatten() {
        match node {
            Some(node) => drop(tree.insert(path, node)),
            None => drop(tree.remove(&path)),
        }
    }
}

fn change_bytes(bytes: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Cut(length) => bytes.resize(*length, 0),
        Change::Write(at, data) => {
            bytes.resize(bytes.len().max(at + data.len()), 0);
            bytes[*at..at + data.len()].copy_from_slice(data);
        }
    }
}

fn run(folder: &Path, search: &str) -> Command {
    let config = folder.parent().expect("a folder").with_extension("toml");
    fs::write(&config, format!("puzzle = \"turnstyle-6\"\n[search]\n{search}\n")).expect("written");
    let mut command = farthest();
    command.arg("run").arg(config).args(["--checkpoint-seconds", "0", "--quiet", "--threads", "1", "--out"]).arg(folder);
    command
}

/// The operations of an undisturbed run in `folder`.
fn recorded(folder: &Path, search: &str) -> Vec<Operation> {
    let (source, library, record) = (folder.join("record.c"), folder.join("record.so"), folder.join("record"));
    fs::write(&source, RECORDER).expect("written");
    succeed(Command::new("cc").args(["-shared", "-fPIC", "-w", "-o"]).args([&library, &source]).arg("-lpthread"));
    let top = folder.join("whole");
    fs::create_dir(&top).expect("created");
    let mut command = run(&top.join("run"), search);
    succeed(command.env("LD_PRELOAD", &library).env("RECORD_ROOT", &top).env("RECORD_FILE", &record));
    let is_scratch = |path: &Path| path.starts_with("run/work");
    let mut operations = read_record(&fs::read(&record).expect("recorded"), &top);
    operations.retain(|operation| match operation {
        Operation::Create(path)
        | Operation::Folder(path)
        | Operation::Cut(path, _)
        | Operation::Write(path, ..)
        | Operation::Sync(path)
        | Operation::Remove(path)
        | Operation::Rename(path, _) => !is_scratch(path),
    });
    operations
}

fn cut_everywhere(search: &str, purpose: u64) {
    let folder = scratch();
    let operations = recorded(folder.path(), search);
    let whole = folder.path().join("whole/run");
    let bytes = result_bytes(&whole);
    let levels = |run: &Path| run.join("levels").is_dir().then(|| contents(&run.join("levels")));
    let count = |wanted: fn(&Operation) -> bool| operations.iter().filter(|operation| wanted(operation)).count();
    let syncs = count(|operation| matches!(operation, Operation::Sync(_)));
    assert!(syncs > 50 && count(|operation| matches!(operation, Operation::Rename(..))) > 15, "the recorder is blind: {operations:?}");
    let mut dice = Dice::new(purpose);
    let mut disk = Disk::new();
    let (mut lost, mut durable) = (0, 0);
    for (number, operation) in operations.iter().enumerate() {
        disk.act(operation);
        // All is lost that can be, or some.
        let kept = dice.below(4);
        let place = folder.path().join("cut");
        fs::create_dir(&place).expect("created");
        disk.leave(&place, &mut dice, kept);
        let path = place.join("run");
        let context = format!("{search}: cut behind operation {number} of {}, {operation:?}, kept {kept} of 4", operations.len());
        let left = names(&path);
        let (code, stdout, stderr) = outcome(&mut run(&path, search));
        assert_eq!(code, 0, "{context}: {left:?}\n{stdout}\n{stderr}");
        assert_eq!(result_bytes(&path), bytes, "{context}");
        assert!(levels(&path) == levels(&whole), "{context}: the archived levels");
        lost += u32::from(!disk.namings.is_empty());
        // A commit that was durable is not found again, unless all was complete.
        let log = fs::read_to_string(path.join("run.log")).unwrap_or_default();
        let from =
            log.lines().rev().find_map(|line| line.split("goes on from the checkpoint of level ").nth(1)?.split(':').next()?.parse().ok());
        if let Some(level) = disk.durable_level()
            && !left.contains("SHA256SUMS")
        {
            assert!(from.is_some_and(|from: u32| from >= level), "{context}: level {level} was durable, {from:?}\n{log}");
            durable += 1;
        }
        fs::remove_dir_all(&place).expect("removable");
    }
    eprintln!(
        "{search}: {} cuts, {lost} with names that were not safe, {durable} behind a durable commit, {syncs} syncs",
        operations.len()
    );
    assert!(lost > 20 && durable > 20, "{lost} cuts with names that were not safe, {durable} behind a durable commit");
}

#[test]
fn a_power_cut_that_loses_what_was_not_synced_loses_no_commit() {
    if test_lacks(Need::Compiler) {
        return;
    }
    cut_everywhere("storage = \"files\"", 200);
}

#[test]
fn a_power_cut_in_compact_storage_loses_no_commit() {
    if test_lacks(Need::Compiler) {
        return;
    }
    cut_everywhere("storage = \"compact\"", 201);
}

#[test]
fn a_power_cut_while_levels_are_archived_loses_no_commit() {
    if test_lacks(Need::Compiler) {
        return;
    }
    cut_everywhere("keep_levels = true", 202);
}
