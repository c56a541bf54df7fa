//! The `ferrite` command: runs the quick start, and prints information about this build.
#![forbid(unsafe_code)]

mod model;
mod quickstart;

use std::process::ExitCode;

const HELP: &str = "\
Ferrite: the TVM-FFI C ABI in no_std Rust.

Usage: ferrite [COMMAND] [ARGUMENT...]

Commands:
  quickstart  Build libtvm_ffi, compile a C program and two compiled networks against it, and run them (default)
  gpu         Classify digits on every GPU that is found; with arguments, only on these kinds: opencl, vulkan, cuda,
              rocm, webgpu, metal
  model       Compile a model (ONNX, PyTorch or TVM) and write a project that runs it, on a board, this machine or a GPU;
              `ferrite model --help` has the arguments
  info        Say what this build is
  help        Print this text

Environment:
  CC          The C compiler to use, `cc` when unset
  CARGO       The cargo to use, `cargo` when unset
  PYTHON      The Python of `ferrite model`, `python3` when unset
";

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let command = args.next();
    let arguments: Vec<String> = args.collect();
    match (command.as_deref().unwrap_or("quickstart"), arguments.first()) {
        ("gpu", _) => ended(quickstart::gpu::run(&arguments)),
        ("model", _) => ended(model::run(&arguments)),
        (_, Some(extra)) => fail(&format!("unexpected argument `{extra}`\n\n{HELP}"), 2),
        (command, None) => run(command),
    }
}

fn run(command: &str) -> ExitCode {
    match command {
        "quickstart" => ended(quickstart::run()),
        "info" => print(&info()),
        "help" | "--help" | "-h" => print(HELP),
        "--version" | "-V" => print(concat!("ferrite ", env!("CARGO_PKG_VERSION"), "\n")),
        other => fail(&format!("no command `{other}`\n\n{HELP}"), 2),
    }
}

fn ended(outcome: quickstart::Outcome<()>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => fail(&message, 1),
    }
}

fn print(text: &str) -> ExitCode {
    print!("{text}");
    ExitCode::SUCCESS
}

fn fail(message: &str, status: u8) -> ExitCode {
    eprintln!("error: {}", message.trim_end());
    ExitCode::from(status)
}

fn info() -> String {
    let backtraces = if cfg!(feature = "backtrace") { "yes" } else { "no" };
    format!(
        "ferrite {}\nsystem       {}-{}\nbacktraces   {backtraces}\n",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::ARCH,
        std::env::consts::OS,
    )
}
