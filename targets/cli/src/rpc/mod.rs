//! `ferrite rpc`: devices that TVM reaches over a network, and their clients.

mod bench;
mod call;
mod greeting;
mod limit;
mod list;
mod log;
mod reach;
mod secret;
pub mod serial;
#[cfg(unix)]
pub mod serve;
pub mod tracker;
pub mod tracker_client;
mod transfer;

use clap::{Args, Subcommand};

use crate::failure::Outcome;

/// Serve this machine to TVM over its remote procedure calls, and reach machines that do
#[derive(Args)]
pub struct Rpc {
    /// Command.
    #[command(subcommand)]
    command: Command,
}

/// Commands of `ferrite rpc`.
#[derive(Subcommand)]
enum Command {
    #[cfg(unix)]
    Serve(Box<serve::Serve>),
    #[cfg(unix)]
    #[command(hide = true)]
    Session(serve::Session),
    Call(call::Call),
    Bench(bench::Bench),
    List(list::List),
    Serial(Box<serial::Serial>),
    Tracker(tracker::Tracker),
}

/// Runs the command.
pub fn run(options: &Rpc) -> Outcome<()> {
    match &options.command {
        #[cfg(unix)]
        Command::Serve(options) => serve::run(options),
        #[cfg(unix)]
        Command::Session(options) => serve::run_session(options),
        Command::Call(options) => call::run(options),
        Command::Bench(options) => bench::run(options),
        Command::List(options) => list::run(options),
        Command::Serial(options) => serial::run(options),
        Command::Tracker(options) => tracker::run(options),
    }
}
