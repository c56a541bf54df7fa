//! The `ferrite` command: looks into libraries of the TVM-FFI ABI, calls their functions and checks
//! them.
#![deny(unsafe_code)]

mod arguments;
mod bench;
mod call;
mod chat;
mod check;
mod child;
mod demangled;
mod devices;
mod doctor;
mod failure;
mod inspect;
mod interrupt;
mod library;
#[allow(unsafe_code, reason = "addresses of other libraries come from the dynamic linker")]
mod linker;
mod list;
mod loading;
mod manual;
mod model;
mod output;
#[allow(unsafe_code, reason = "the type table has names of C")]
mod registered;
mod rpc;
mod signature;
mod stubs;
mod symbols;
mod visible;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command};
use failure::{Failure, Outcome};

fn main() -> ExitCode {
    let is_json =
        std::env::args_os().skip(1).take_while(|word| word != "--").any(|word| word == "--json");
    let outcome = match Arguments::try_parse() {
        Ok(arguments) => run(arguments),
        Err(error) if is_json && error.use_stderr() => {
            Err(Failure::usage(arguments::without_prefix(&error)))
        }
        Err(error) => error.exit(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // A closed pipe changes nothing about the status.
            let mut stderr = std::io::stderr();
            let _ = match is_json {
                true => writeln!(stderr, "{}", failure.json()),
                false => writeln!(stderr, "error: {}", visible::visible(&failure.to_string())),
            };
            ExitCode::from(failure.status())
        }
    }
}

fn run(arguments: Arguments) -> Outcome<()> {
    let Some(command) = arguments.command else { return arguments::help() };
    match command {
        Command::Inspect(options) => inspect::run(&options),
        Command::Call(options) => call::run(&options),
        Command::Bench(options) => bench::run(&options),
        Command::Chat(options) => chat::run(&options),
        Command::Check(options) => check::run(&options),
        Command::Stubs(options) => stubs::run(&options),
        Command::List(options) => list::run(&options),
        Command::Devices { json } => devices::run(json),
        Command::Doctor { json } => doctor::run(json),
        Command::Model { arguments } => model::run(&arguments),
        Command::Rpc(options) => rpc::run(&options),
        Command::Info => output::print(&info()),
        Command::Completions { shell } => arguments::completions(shell),
        Command::Man { folder } => manual::write(&folder),
    }
}

fn info() -> String {
    format!(
        "ferrite {}\nsystem       {}-{}\nbacktraces   yes\n",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::ARCH,
        std::env::consts::OS,
    )
}
