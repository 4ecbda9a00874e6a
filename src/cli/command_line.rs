//! The command line: the subcommands, each with its arguments.

use super::arguments::{
    CertifyArguments, ExportArguments, PlanArguments, RecheckArguments, ResumeArguments, RunArguments, SolveArguments, StatusArguments,
    TableArguments, WatchArguments,
};
use super::monitor::status;
use super::solve_board::SolveBoardArguments;
use super::spot_solve::SpotSolveArguments;
use clap::{Parser, Subcommand};

/// Printed below the help.
const EXIT_CODES: &str = "Exit codes: 0 complete; 75 stopped and resumable; 1 a check failed; 2 usage; 65 bad data; 70 broken invariant; \
73 cannot create, or the folder is in use; 74 input/output; 77 permission; 78 configuration, launcher or machine; 101 panic; 141 whoever read the output is gone (commands that search go on).";

/// Searches the whole state space of permutation puzzles, on one machine or many.
#[derive(Debug, Parser)]
#[command(name = "farthest", version, about, after_help = EXIT_CODES, max_term_width = 110)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Search a puzzle's whole state space: starts, or goes on where an earlier run stopped
    Run(RunArguments),
    /// Go on with the run of a folder, on any number of processes and threads
    Resume(ResumeArguments),
    /// Repeat a complete run in another way, and compare every level
    Recheck(RecheckArguments),
    /// Show what a run would need: states, memory, disk, bytes exchanged, time
    Plan(PlanArguments),
    /// Merge the runs below a folder into one God's-number table
    Table(TableArguments),
    /// Write a puzzle or a complete run for another program to check
    Export(ExportArguments),
    /// Find a shortest word from a state to the solved one, or say why there is none
    Solve(SolveArguments),
    /// Solve the sampled states of a complete run from both ends, and compare with their depths
    SpotSolve(SpotSolveArguments),
    /// Write certificates, which farthest-verify checks
    Certify(CertifyArguments),
    /// Say whether a number rotation board of any size can be solved, and how
    SolveBoard(SolveBoardArguments),
    /// Check the published claims about number rotation boards anew, and print them as a document
    BoardClaims,
    /// List the puzzles that ship with the program
    Puzzles,
    /// Say in one look what the run of a folder is doing, from another terminal
    #[command(after_help = status::EXIT_CODES)]
    Status(StatusArguments),
    /// Draw the progress of a run from another terminal
    Watch(WatchArguments),
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
