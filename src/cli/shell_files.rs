//! `farthest completions` and `farthest man`: files for shells and manuals, made from the command
//! line itself.

use super::arguments::{CompletionsArguments, ManArguments};
use super::command_line::Arguments;
use super::session;
use crate::base::shown::shown_path;
use crate::base::{Error, Result, atomic_file};
use clap::CommandFactory;

/// Prints the completions for a shell.
///
/// # Errors
/// `Io` when they cannot be written.
pub fn completions(arguments: &CompletionsArguments) -> Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "farthest", &mut text);
    session::print_whole(&String::from_utf8_lossy(&text))
}

/// Writes a page for the program and one for each of its commands.
///
/// # Errors
/// `Io` when one cannot be written.
pub fn man(arguments: &ManArguments) -> Result<()> {
    let folder = &arguments.folder;
    std::fs::create_dir_all(folder).map_err(|source| Error::io("create folder", folder, source))?;
    let mut program = Arguments::command();
    program.build();
    let mut pages = vec![("farthest".to_owned(), program.clone())];
    for command in program.get_subcommands().filter(|command| command.get_name() != "help") {
        pages.push((format!("farthest-{}", command.get_name()), command.clone()));
    }
    let count = pages.len();
    for (name, command) in pages {
        let path = folder.join(format!("{name}.1"));
        let mut page = Vec::new();
        let written = clap_mangen::Man::new(command.display_name(name)).render(&mut page);
        written.map_err(|source| Error::io("write", &path, source))?;
        atomic_file::write(&path, &page)?;
    }
    let first = session::shell_word(&folder.join("farthest.1"));
    session::print_whole(&format!("{count} pages in {}; read one with: man {first}\n", shown_path(folder)))
}
