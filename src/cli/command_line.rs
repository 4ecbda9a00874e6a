//! The command line: the subcommands, each with its arguments.

use super::arguments::{
    CertifyArguments, CompletionsArguments, ExportArguments, ManArguments, PlanArguments, RecheckArguments, ResumeArguments, RunArguments,
    SolveArguments, StatusArguments, TableArguments, WatchArguments,
};
use super::monitor::status;
use super::solve_board::SolveBoardArguments;
use super::spot_solve::SpotSolveArguments;
use clap::{Parser, Subcommand};

/// Printed below the help.
const EXAMPLES_AND_EXIT_CODES: &str = "\
Examples:
  farthest plan turnstyle-12    What a search would need
  farthest run turnstyle-8      Search it; the results are in runs/turnstyle-8/step
  farthest table runs           One table of all runs below runs/
  farthest solve turnstyle-12 4321567890AB

Exit codes:
    0  complete
    1  a check failed, or there is no solution
    2  wrong usage
   65  bad data
   70  broken invariant
   73  cannot create a folder, or it is in use
   74  input or output failed
   75  stopped; can be resumed
   77  no permission
   78  configuration, launcher or machine does not fit
  101  panic: a bug
  141  the reader of the output has gone (run, resume and recheck go on without it)";

/// Searches the whole state space of permutation puzzles, on one machine or many.
#[derive(Debug, Parser)]
#[command(name = "farthest", version, about, after_help = EXAMPLES_AND_EXIT_CODES, max_term_width = 110)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Search a puzzle's whole state space, or go on where an earlier run stopped
    Run(RunArguments),
    /// Go on with the run in a folder, on any number of processes and threads
    Resume(ResumeArguments),
    /// Repeat a complete run in another way, compare every level, and record the outcome
    Recheck(RecheckArguments),
    /// Show what a run would need, without starting it: memory, disk, bytes exchanged, time
    Plan(PlanArguments),
    /// Print one table of all complete runs below some folders: states, God's numbers, evidence
    Table(TableArguments),
    /// Write a puzzle or a complete run in a form that another program can check
    Export(ExportArguments),
    /// Find a shortest word from a state to the solved one, or say why there is none
    Solve(SolveArguments),
    /// Check sampled states of a complete run: find shortest words for them, and compare their
    /// depths
    SpotSolve(SpotSolveArguments),
    /// Write a certificate, which farthest-verify can check
    Certify(CertifyArguments),
    /// Say whether a number rotation board of any size can be solved, and how
    SolveBoard(SolveBoardArguments),
    /// Compute the published claims about number rotation boards anew, and print them as Markdown
    BoardClaims,
    /// List the puzzles that ship with the program
    Puzzles,
    /// Say what the run in a folder is doing, once; works from another terminal or machine
    #[command(after_help = status::EXIT_CODES)]
    Status(StatusArguments),
    /// Show the progress of the run in a folder, until it ends; works from another terminal
    Watch(WatchArguments),
    /// Print completions for a shell: the file that completes commands, flags and their values
    Completions(CompletionsArguments),
    /// Write manual pages, one for each command, to a folder
    Man(ManArguments),
}

impl Command {
    /// Whether it searches a whole space: a command that goes on when nobody reads what it prints,
    /// and that a signal stops with a checkpoint.
    #[must_use]
    pub fn searches(&self) -> bool {
        matches!(self, Self::Run(_) | Self::Resume(_) | Self::Recheck(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
