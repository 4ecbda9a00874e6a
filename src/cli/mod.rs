//! Layer 10: one subcommand a file. The only layer that prints.

pub mod arguments;
pub mod certify;
pub mod command_line;
pub mod export;
pub mod monitor;
pub mod opening;
pub mod plan;
pub mod prepared;
pub mod puzzles;
pub mod recheck;
pub mod run;
pub mod session;
pub mod shell_files;
pub mod solve;
pub mod solve_board;
pub mod spot_solve;
pub mod table;

pub use command_line::{Arguments, Command};

use crate::base::Result;

/// Does what the command line says; returns the exit code.
///
/// # Errors
/// Any failure, to be printed once by `main`.
pub fn dispatch(arguments: Arguments) -> Result<i32> {
    if !arguments.command.searches() {
        session::end_with_the_reader()?;
    }
    match arguments.command {
        Command::Run(run) => run::run(&run),
        Command::Resume(resume) => run::resume(&resume),
        Command::Recheck(recheck) => recheck::recheck(&recheck),
        Command::Plan(plan) => plan::plan(&plan).map(|()| 0),
        Command::Table(table) => table::table(&table).map(|()| 0),
        Command::Export(export) => export::export(&export).map(|()| 0),
        Command::Solve(solve) => solve::solve_command(&solve),
        Command::SpotSolve(spot) => spot_solve::spot_solve(&spot).map(|()| 0),
        Command::Certify(certify) => certify::certify(&certify).map(|()| 0),
        Command::SolveBoard(board) => solve_board::solve_board(&board),
        Command::BoardClaims => solve_board::board_claims().map(|()| 0),
        Command::Puzzles => puzzles::puzzles().map(|()| 0),
        Command::Completions(arguments) => shell_files::completions(&arguments).map(|()| 0),
        Command::Man(arguments) => shell_files::man(&arguments).map(|()| 0),
        Command::Status(arguments) => monitor::status::status(&arguments),
        Command::Watch(watch) => monitor::watch::watch(&watch),
    }
}
