//! The program `farthest`: command line in, exit code out.

use clap::Parser;
use farthest::base::last_words::{self, Allocator};
use farthest::cli::{self, session};
use farthest::exchange::launcher;
use std::process::exit;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

fn main() {
    launcher::install_panic_hook();
    let arguments = cli::Arguments::try_parse().unwrap_or_else(|error| {
        // Under a launcher every process comes here; one message is enough.
        exit(if session::is_silent_copy() { error.exit_code() } else { session::print_usage_error(&error) })
    });
    match last_words::listen_for_bus_errors().and_then(|()| cli::dispatch(arguments)) {
        Ok(code) => exit(code),
        Err(error) => {
            if !session::is_silent_copy() {
                session::print_error(&error);
            }
            exit(error.exit_code())
        }
    }
}
