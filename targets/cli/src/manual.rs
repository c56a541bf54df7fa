//! `ferrite man`: a manual page for each command.
#![forbid(unsafe_code)]

use std::io::Write;
use std::path::Path;

use clap::builder::Resettable;
use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::arguments::Arguments;
use crate::failure::{Failure, Outcome};

/// Writes the manual pages into a folder.
///
/// # Errors
/// [`Kind::Input`](crate::failure::Kind::Input) if they cannot be written.
pub fn write(folder: &Path) -> Outcome<()> {
    let failed =
        |error| Failure::input(format!("cannot write the pages to {}: {error}", folder.display()));
    std::fs::create_dir_all(folder).map_err(failed)?;
    let mut command = Arguments::command().disable_help_subcommand(true);
    command.build();
    for command in with_subcommands(&command) {
        let name = command.get_display_name().unwrap_or_else(|| command.get_name());
        std::fs::write(folder.join(format!("{name}.1")), page(name, command).map_err(failed)?)
            .map_err(failed)?;
    }
    Ok(())
}

/// Returns a command and all commands below it that are not hidden.
fn with_subcommands(command: &Command) -> Vec<&Command> {
    let below = command.get_subcommands().filter(|command| !command.is_hide_set());
    std::iter::once(command).chain(below.flat_map(with_subcommands)).collect()
}

fn page(name: &str, command: &Command) -> std::io::Result<Vec<u8>> {
    let more = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    // Lines of these strings are aligned, which the generator would not keep.
    let plain = command.clone().after_help(Resettable::Reset);
    let source = format!("ferrite {}", env!("CARGO_PKG_VERSION"));
    let mut page = Vec::new();
    Man::new(plain).title(name).source(source).render(&mut page)?;
    for paragraph in more.split("\n\n") {
        let Some((title, lines)) = paragraph.split_once(":\n") else { continue };
        write!(page, ".SH {}\n.nf\n", escaped(&title.to_uppercase()))?;
        lines.lines().try_for_each(|line| {
            writeln!(page, "{}", escaped(line.strip_prefix("  ").unwrap_or(line)))
        })?;
        writeln!(page, ".fi")?;
    }
    Ok(page)
}

/// Escapes text so that roff prints it unchanged.
fn escaped(line: &str) -> String {
    let text =
        line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq").replace('`', "\\(ga");
    if text.starts_with('.') { format!("\\&{text}") } else { text }
}
