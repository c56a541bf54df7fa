//! The command line: commands and options, and the help strings that are generated from them.

use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand};
use clap_complete::Shell;

use crate::call::{Call, FORMS};
use crate::failure::Outcome;
use crate::inspect::Inspect;
use crate::output;
use crate::rpc::Rpc;

const STATUSES: &str = "\
Exit status:
  0  success
  1  a function raised an error, a check found mistakes, or a step failed
  2  wrong arguments
  3  a file cannot be read or written, is malformed, or is for another
     processor
  4  a tool, a library, a Python package or a device is missing
  5  a library ended its process by a signal
  6  a library cannot be loaded

Errors:
  Messages are on standard error. With --json they are JSON, too.

Environment:
  PYTHON   Python of `ferrite model` and `ferrite stubs PACKAGE`, `python3`
           when unset
  FERRITE  clone of Ferrite from which `ferrite model` builds firmware";

/// Looks into libraries of the TVM-FFI ABI, calls their functions and checks them
#[derive(Parser)]
#[command(name = "ferrite", version, after_help = STATUSES, max_term_width = 100)]
pub struct Arguments {
    /// Command; the help if there is none.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Commands of the program.
#[derive(Subcommand)]
pub enum Command {
    Inspect(Inspect),
    Call(Call),
    Bench(Bench),
    Chat(Chat),
    Check(Check),
    Stubs(Stubs),
    List(List),
    /// List the devices that are found
    Devices {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Find the libraries named libtvm_ffi that a process would load, and say whether they fit
    Doctor {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Compile a model (ONNX, PyTorch or TVM) and write a project that runs it, on a board, this
    /// machine or a GPU; or compile a folder with a language model, for `ferrite chat`
    #[command(disable_help_flag = true)]
    Model {
        /// Arguments of the program, which runs in Python: `ferrite model --help` lists them
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    Rpc(Rpc),
    /// Describe this build
    Info,
    /// Write the completions for a shell to standard output
    Completions {
        /// Shell
        shell: Shell,
    },
    /// Write the manual pages, one per command
    Man {
        /// Folder for the pages
        folder: PathBuf,
    },
}

/// Measure a call of a function: time, and instructions
///
/// Loads the library and calls the function many times, in several runs. The cost of the loop
/// itself is subtracted. Instructions are those of the calling thread.
#[derive(Args)]
#[command(after_help = FORMS)]
pub struct Bench {
    #[command(flatten)]
    pub call: Call,
    /// Number of runs
    #[arg(long, default_value = "25", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=100_000))]
    pub runs: usize,
    /// Counter of instructions
    #[arg(long, value_enum, default_value_t = Counter::Auto)]
    pub instructions: Counter,
    /// Call the function that often in this process, and repeat the empty loop that often: what
    /// valgrind runs
    #[arg(long, hide = true, num_args = 2)]
    pub in_process: Option<Vec<u64>>,
}

/// Ways to count instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Counter {
    /// The processor, else valgrind
    Auto,
    /// The processor, by perf_event_open
    Perf,
    /// Valgrind
    Valgrind,
    /// No counter
    None,
}

/// Talk with a language model: text in, text out as it comes
///
/// MODEL is a folder as MLC-LLM writes it: mlc-chat-config.json, tokenizer.json, tensor-cache.json
/// with its shards, and the library model.so. Each line of standard input is a message. Loads the
/// library and runs its code: use only what you trust.
#[derive(Args)]
#[command(after_help = TALK)]
pub struct Chat {
    /// Folder of the model
    pub model: PathBuf,
    /// Answer this message, and end
    #[arg(long, value_name = "TEXT")]
    pub prompt: Option<String>,
    /// System message instead of the model's
    #[arg(long, value_name = "TEXT")]
    pub system: Option<String>,
    /// Device of the model, such as opencl or cuda:1
    #[arg(long, default_value = "cpu")]
    pub device: String,
    /// Library of the model, instead of model-DEVICE.so or model.so in its folder
    #[arg(long, value_name = "FILE")]
    pub library: Option<PathBuf>,
    /// 0 chooses the likeliest token; higher numbers draw less likely ones more often
    #[arg(long, value_name = "T")]
    pub temperature: Option<f32>,
    /// Draw among the likeliest tokens whose probabilities sum up to this
    #[arg(long, value_name = "P")]
    pub top_p: Option<f32>,
    /// Draw among this number of likeliest tokens
    #[arg(long, value_name = "K")]
    pub top_k: Option<usize>,
    /// Numbers above 1 make tokens of the reply less likely to come again
    #[arg(long, value_name = "R")]
    pub repetition_penalty: Option<f32>,
    /// Seed of random numbers: the same seed gives the same text
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Maximum number of tokens of a reply
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<usize>,
    /// String that ends a reply, besides those of the model; may be repeated
    #[arg(long, value_name = "TEXT")]
    pub stop: Vec<String>,
    /// Print speed and memory after the reply to --prompt
    #[arg(long)]
    pub stats: bool,
    /// Print a line of JSON for each reply
    #[arg(long)]
    pub json: bool,
}

/// Commands of a conversation, for the help text.
const TALK: &str = "\
Lines with a meaning:
  /reset  begin anew, with the same system message
  /stats  print speed and memory
  /quit   end
  /help   list these

Examples:
  ferrite chat model
  ferrite chat model --prompt 'Count to five.' --temperature 0 --stats
  echo 'Count to five.' | ferrite chat model --json";

/// Find mistakes against the ABI in a library
///
/// Reads the file, and calls each function: without arguments and, if it has a signature, with
/// arguments of its types and with None. Each function has a child process. Exits with 1 if there
/// are mistakes.
#[derive(Args)]
pub struct Check {
    /// Library
    pub library: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Read the file only
    #[arg(long)]
    pub no_calls: bool,
    /// Check one function in this process: what the command starts
    #[arg(long, hide = true)]
    pub in_process: Option<String>,
}

/// Write typed declarations of a library's functions and classes: for Python, C or Rust
///
/// Loads the library, or imports the Python package, in a child process. Functions without metadata
/// take and return anything.
#[derive(Args)]
#[command(group = clap::ArgGroup::new("language").required(true))]
pub struct Stubs {
    /// Library, or Python package that registers functions and types when it is imported
    #[arg(value_name = "LIBRARY|PACKAGE")]
    pub source: String,
    /// Write a stub for type checkers of Python (.pyi)
    #[arg(long, group = "language")]
    pub python: bool,
    /// Write a header in C89, with a typed function for each
    #[arg(long, group = "language")]
    pub c: bool,
    /// Write a Rust module on ferrite-ffi or ferrite-ffi-sys
    #[arg(long, group = "language")]
    pub rust: bool,
    /// Print functions and classes as JSON
    #[arg(long, group = "language")]
    pub json: bool,
    /// File to write, instead of standard output
    #[arg(long, short)]
    pub output: Option<PathBuf>,
}

/// List global functions and types: those of Ferrite, or those that a library registers
#[derive(Args)]
pub struct List {
    /// Library, which a child process loads
    pub library: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Prints the help text.
pub fn help() -> Outcome<()> {
    output::print(&Arguments::command().render_help().to_string())
}

/// Returns the message of an error in the command line.
pub fn without_prefix(error: &clap::Error) -> String {
    let text = error.render().to_string();
    text.trim_start_matches("error: ").trim_end().into()
}

/// Writes the completions for a shell.
pub fn completions(shell: Shell) -> Outcome<()> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "ferrite", &mut text);
    output::print(&String::from_utf8_lossy(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        Arguments::command().debug_assert();
    }
}
