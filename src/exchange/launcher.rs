//! How the job was started, and how it ends when a process fails: launcher guard and panic hook.

use crate::base::error::{EXIT_IO, EXIT_PANIC};
use crate::base::say::say;
use crate::base::{Error, Result, last_words};
use std::time::Duration;

/// Variables with the number of processes that a launcher set, in the order of trust.
/// `SLURM_NTASKS` is not among them: it is set in batch shells, too.
const SIZE_VARIABLES: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"];

/// Variables that show a launcher which does not say the number of processes.
const LAUNCHER_VARIABLES: [&str; 3] = ["PMIX_RANK", "PMI_RANK", "PMI_FD"];

/// What the environment says about the launcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launcher {
    /// The variable and its number of processes, when a launcher says it.
    pub promised: Option<(&'static str, u32)>,
    /// Whether there is a launcher at all.
    pub present: bool,
}

impl Launcher {
    /// Reads the environment through `variable`.
    #[must_use]
    pub fn detect(variable: impl Fn(&str) -> Option<String>) -> Self {
        let promised =
            SIZE_VARIABLES.into_iter().find_map(|name| variable(name).and_then(|text| text.trim().parse().ok()).map(|size| (name, size)));
        let present = promised.is_some() || LAUNCHER_VARIABLES.into_iter().any(|name| variable(name).is_some());
        Self { promised, present }
    }

    /// Reads the environment of this process.
    #[must_use]
    pub fn of_environment() -> Self {
        Self::detect(|name| std::env::var(name).ok())
    }

    /// Checks that the job has as many processes as its launcher promised.
    ///
    /// # Errors
    /// `Config` when a launcher promised several processes and the transport found one: each copy
    /// would search the whole space.
    pub fn check(&self, processes: u32, transport: &str) -> Result<()> {
        match self.promised {
            Some((name, promised)) if promised > 1 && processes == 1 => Err(Error::config(format!(
                "wrong launcher: {name} promises {promised} processes, but this program found only itself ({transport}). \
                 Start it with the launcher of the MPI library it was built with (OpenMPI: mpirun; MPICH: mpiexec.hydra; Slurm: srun --mpi=pmix), \
                 and use a build with the cargo feature \"mpi\""
            ))),
            _ => Ok(()),
        }
    }
}

/// Makes every panic, on any thread, end the whole job with exit code 101 after one line on
/// standard error. Call it first thing in `main`.
pub fn install_panic_hook() {
    std::panic::set_hook(Box::new(|info| {
        let message = info
            .payload()
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| info.payload().downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "panic".into());
        let place = info.location().map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
        let name = last_words::process_name();
        // The macros that print panic when they cannot: a full disk behind standard output is no
        // fault of this program.
        if let Some(reason) = message.strip_prefix("failed printing to stdout: ") {
            say(&format!("farthest: cannot write to standard output: {reason}"));
            end_job(EXIT_IO);
        }
        say(&format!(
            "{name}: internal error{place}: {message}; please report it; the last checkpoint is intact, resume with farthest resume"
        ));
        end_job(EXIT_PANIC);
    }));
}

/// Says a line on standard error and ends all processes of the job at once with `code`.
pub fn end_with(code: i32, line: &str) -> ! {
    say(line);
    end_job(code)
}

/// Ends all processes of the job at once with `code`, without finalizing anything.
pub fn end_job(code: i32) -> ! {
    // MPI_Abort has been seen to hang: leave anyway. Where no thread can be started it has to do.
    let _ = std::thread::Builder::new().spawn(move || {
        std::thread::sleep(Duration::from_secs(10));
        std::process::exit(code);
    });
    #[cfg(feature = "mpi")]
    super::mpi::abort(code);
    std::process::exit(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &'static [(&str, &str)]) -> Launcher {
        Launcher::detect(|name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn several_promised_but_one_found_is_refused() {
        let launcher = environment(&[("OMPI_COMM_WORLD_SIZE", "4"), ("PMI_SIZE", "1")]);
        let error = launcher.check(1, "one process").expect_err("four silent copies");
        assert_eq!(error.exit_code(), 78);
        assert!(error.to_string().contains("OMPI_COMM_WORLD_SIZE promises 4"), "{error}");
        assert!(launcher.check(4, "MPI").is_ok());
    }

    #[test]
    fn no_launcher_and_a_batch_shell_are_fine() {
        assert_eq!(environment(&[]), Launcher { promised: None, present: false });
        let batch_shell = environment(&[("SLURM_NTASKS", "8")]);
        assert!(!batch_shell.present && batch_shell.check(1, "one process").is_ok());
        assert!(environment(&[("SLURM_STEP_NUM_TASKS", "8")]).check(1, "MPI").is_err());
        assert!(environment(&[("PMIX_RANK", "0")]).present);
    }
}
