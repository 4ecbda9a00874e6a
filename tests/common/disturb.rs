//! Disturbing a started program from outside: faults, signals and kills, its process tree, and copies of its run folder.

use super::{mpirun, outcome};
use farthest::base::fingerprint::mix64;
use rustix::process::{Pid, Signal, kill_process};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Seconds that anything expected may take before a test gives up; far above what a loaded machine needs.
const PATIENCE: Duration = Duration::from_secs(60);

/// A folder in memory where there is such a file system: its syncs cost nothing, and these tests make thousands.
pub fn scratch() -> TempDir {
    let mut builder = tempfile::Builder::new();
    builder.prefix("farthest-test-");
    builder.tempdir_in("/dev/shm").or_else(|_| builder.tempdir()).expect("a temporary folder")
}

/// The program under mpirun, which keeps its own files in a folder beside the run folder: a killed launcher leaves megabytes, and nobody else removes
/// them.
pub fn mpirun_beside(run: &Path, processes: u32) -> Command {
    let files = run.with_file_name("files-of-mpirun");
    let _ = fs::remove_dir_all(&files);
    fs::create_dir_all(&files).expect("created");
    let mut command = mpirun(processes);
    command.env("TMPDIR", &files).env("OMPI_MCA_btl_vader_backing_directory", &files);
    command
}

/// Makes the program act at the `pass`-th pass of a fault point (`src/base/fault_point.rs`).
pub fn fault<'a>(command: &'a mut Command, point: &str, pass: u64, action: &str) -> &'a mut Command {
    command.env("FARTHEST_FAULT", format!("{point}:{pass}:{action}"))
}

/// Writes a configuration of turnstyle-10, state by state in many small rounds, which takes seconds: time to disturb it.
pub fn slow_config(folder: &Path) -> String {
    let path = folder.join("slow.toml");
    fs::write(&path, "puzzle = \"turnstyle-10\"\n[search]\nexpansion = \"states\"\nround_kib = 4\n").expect("written");
    path.to_str().expect("UTF-8").to_owned()
}

/// Names of the fault points before file operations, as the sources have them: a new one joins the tests by itself.
pub fn file_points() -> BTreeSet<String> {
    points("fault_point::pass(\"")
}

/// Names of the fault points where data can be damaged.
pub fn damage_points() -> BTreeSet<String> {
    points("fault_point::damages(\"")
}

fn points(call: &str) -> BTreeSet<String> {
    fn look_in(folder: &Path, call: &str, names: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).expect("listable").flatten() {
            if entry.path().is_dir() {
                look_in(&entry.path(), call, names);
            } else if let Ok(text) = fs::read_to_string(entry.path()) {
                names.extend(text.split(call).skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned));
            }
        }
    }
    let mut names = BTreeSet::new();
    look_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), call, &mut names);
    assert!(names.len() >= 3, "the fault points have moved: {names:?}");
    names
}

/// Names in a folder; none when it is not there.
pub fn names(folder: &Path) -> BTreeSet<String> {
    let Ok(entries) = fs::read_dir(folder) else { return BTreeSet::new() };
    entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Depths of the manifests in a run folder's checkpoint, ascending.
pub fn generations(run: &Path) -> Vec<u32> {
    names(&run.join("checkpoint")).iter().filter_map(|name| name.strip_prefix("manifest-")?.parse().ok()).collect()
}

/// The generation whose commit is on its way: a generation's folder is there and its manifest is not.
pub fn is_committing(folder: &Path) -> Option<u32> {
    let checkpoint = folder.join("checkpoint");
    let newest = names(&checkpoint).iter().filter_map(|name| name.strip_prefix("gen-")?.parse::<u32>().ok()).max()?;
    (!checkpoint.join(format!("manifest-{newest:06}")).exists()).then_some(newest)
}

/// Copies a folder with all in it.
pub fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("created");
    for entry in fs::read_dir(from).expect("listable") {
        let entry = entry.expect("listable");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).expect("copied");
        }
    }
}

/// Waits until `condition` holds; panics when it does not come true.
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let since = Instant::now();
    while !condition() {
        assert!(since.elapsed() < PATIENCE, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Random numbers from a printed seed; `TEST_SEED` replaces the fixed one.
pub struct Dice {
    seed: u64,
    thrown: u64,
}

impl Dice {
    /// The numbers of this purpose.
    pub fn new(purpose: u64) -> Self {
        let seed = std::env::var("TEST_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(20_261_129);
        eprintln!("TEST_SEED={seed} (purpose {purpose})");
        Self { seed: mix64(seed ^ mix64(purpose)), thrown: 0 }
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.thrown += 1;
        mix64(self.seed.wrapping_add(self.thrown)) % limit
    }

    /// Sleeps less than `milliseconds`.
    pub fn sleep(&mut self, milliseconds: u64) {
        std::thread::sleep(Duration::from_micros(self.below(milliseconds * 1_000)));
    }
}

/// A process, told from later ones of the same number by its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its number.
    pub pid: u32,
    /// What it runs.
    pub name: String,
    parent: u32,
    state: String,
    start: String,
}

impl Member {
    /// The process `pid` as /proc shows it, if it is there.
    fn look(pid: u32) -> Option<Self> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (head, tail) = text.rsplit_once(')')?;
        let name = head.split_once('(')?.1.to_owned();
        let fields: Vec<&str> = tail.split_whitespace().collect();
        let field = |at: usize| fields.get(at).map(|text| (*text).to_owned());
        Some(Self { pid, name, parent: field(1)?.parse().ok()?, state: field(0)?, start: field(19)? })
    }

    /// The process `pid`, which is there.
    pub fn of(pid: u32) -> Self {
        Self::look(pid).expect("a process")
    }

    /// Whether it still runs.
    pub fn is_alive(&self) -> bool {
        // The first thread of a dead process may be gone before the others, which hold its files until they are, too.
        let threads = || names(&Path::new("/proc").join(self.pid.to_string()).join("task")).len();
        Self::look(self.pid).is_some_and(|now| now.start == self.start && (!matches!(now.state.as_str(), "Z" | "X") || threads() > 1))
    }

    /// Sends it a signal; nothing happens when it is gone.
    pub fn signal(&self, signal: Signal) {
        if self.is_alive() {
            let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw).expect("a process number");
            let _ = kill_process(pid, signal);
        }
    }

    /// Stops it in its tracks.
    pub fn freeze(&self) {
        self.signal(Signal::STOP);
        wait_until("the process is stopped", || Self::look(self.pid).is_none_or(|now| matches!(now.state.as_str(), "T" | "Z" | "X")));
    }

    /// Lets it go on.
    pub fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    /// Its number among the MPI processes; 0 without a launcher.
    pub fn process(&self) -> u32 {
        let environment = fs::read(format!("/proc/{}/environ", self.pid)).unwrap_or_default();
        let text = String::from_utf8_lossy(&environment).into_owned();
        text.split('\0').find_map(|line| line.strip_prefix("OMPI_COMM_WORLD_RANK=")?.parse().ok()).unwrap_or(0)
    }
}

/// A program started under its time limit, that a test looks at while it runs. What it prints goes to files, so that a process
/// left behind cannot keep the test waiting. Killed when dropped.
pub struct Job {
    child: Child,
    output: TempDir,
}

impl Job {
    /// Starts it.
    pub fn start(command: &mut Command) -> Self {
        let output = scratch();
        let file = |name: &str| File::create(output.path().join(name)).expect("created");
        let child = command.stdin(Stdio::null()).stdout(file("stdout")).stderr(file("stderr")).spawn().expect("started");
        Self { child, output }
    }

    /// Whether it has not ended.
    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("a child").is_none()
    }

    /// Waits until its run in `folder` has committed the level.
    pub fn wait_for_level(&mut self, folder: &Path, depth: u32) {
        wait_until("the level is committed", || generations(folder).last().is_some_and(|&newest| newest >= depth) || !self.is_running());
        assert!(self.is_running(), "the run ended before level {depth} was seen");
    }

    /// All its living processes: `timeout`, the launcher, the program.
    pub fn members(&self) -> Vec<Member> {
        let all: Vec<Member> = names(Path::new("/proc")).iter().filter_map(|name| Member::look(name.parse().ok()?)).collect();
        let mut found: Vec<Member> = all.iter().filter(|member| member.pid == self.child.id()).cloned().collect();
        let mut next = 0;
        while next < found.len() {
            let parent = found[next].pid;
            found.extend(all.iter().filter(|member| member.parent == parent).cloned());
            next += 1;
        }
        found
    }

    /// Its living processes that run the program, by their number among the MPI processes.
    pub fn programs(&self) -> Vec<Member> {
        let mut found: Vec<Member> = self.members().into_iter().filter(|member| member.name == "farthest").collect();
        found.sort_by_key(Member::process);
        found
    }

    /// Its only process that runs the program, once it is there.
    pub fn program(&self) -> Member {
        wait_until("the program runs", || !self.programs().is_empty());
        self.programs().swap_remove(0)
    }

    /// Its launcher, once it is there.
    pub fn launcher(&self) -> Member {
        let look = || self.members().into_iter().find(|member| member.name == "mpirun");
        wait_until("the launcher runs", || look().is_some());
        look().expect("just seen")
    }

    /// Kills every process of the job, as a power cut would.
    pub fn kill_all(&mut self) {
        let members = self.members();
        members.iter().for_each(|member| member.signal(Signal::KILL));
        let _ = self.child.wait();
        wait_until("all killed processes are gone", || members.iter().all(|member| !member.is_alive()));
    }

    /// Waits for its end; returns exit code, standard output and standard error.
    pub fn finish(mut self) -> (i32, String, String) {
        let status = self.child.wait().expect("a child");
        let text = |name: &str| String::from_utf8_lossy(&fs::read(self.output.path().join(name)).expect("readable")).into_owned();
        (status.code().unwrap_or(-1), text("stdout"), text("stderr"))
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|status| status.is_none()) {
            self.kill_all();
        }
    }
}

/// Runs to the end and demands `code`; returns standard error.
pub fn fail_with(code: i32, command: &mut Command) -> String {
    let (found, stdout, stderr) = outcome(command);
    assert_eq!(found, code, "{command:?}\n{stdout}\n{stderr}");
    stderr
}

/// The only line of `stderr`: errors are told once, whatever the number of processes.
pub fn only_line(stderr: &str) -> &str {
    let lines: Vec<&str> = stderr.lines().collect();
    assert_eq!(lines.len(), 1, "one line expected: {stderr}");
    lines[0]
}

/// SHA-256 of a file in hexadecimal digits.
pub fn sha256(path: &Path) -> String {
    Sha256::digest(fs::read(path).expect("readable")).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Makes the checksums of a run folder right again.
pub fn sum_again(run: &Path) {
    let sums = fs::read_to_string(run.join("SHA256SUMS")).expect("text");
    let line = |line: &str| format!("{}  {}\n", sha256(&run.join(&line[66..])), &line[66..]);
    fs::write(run.join("SHA256SUMS"), sums.lines().map(line).collect::<String>()).expect("written");
}
