//! `ferrite rpc`: devices that TVM reaches over a network, and their clients.

mod list;
pub mod serve;
pub mod tracker;
#[allow(dead_code, reason = "servers register and clients ask with the rest of it")]
pub mod tracker_client;

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
    Serve(Box<serve::Serve>),
    List(list::List),
    Tracker(tracker::Tracker),
}

/// Runs the command.
pub fn run(options: &Rpc) -> Outcome<()> {
    match &options.command {
        Command::Serve(options) => serve::run(options),
        Command::List(options) => list::run(options),
        Command::Tracker(options) => tracker::run(options),
    }
}
