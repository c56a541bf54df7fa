//! `ferrite rpc`: devices that TVM reaches over a network, and their clients.

pub mod serve;

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
    Serve(serve::Serve),
}

/// Runs the command.
pub fn run(options: &Rpc) -> Outcome<()> {
    match &options.command {
        Command::Serve(options) => serve::run(options),
    }
}
