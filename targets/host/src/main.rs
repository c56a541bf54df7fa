//! The command line: the quick start, and facts about this build.
#![forbid(unsafe_code)]

mod quickstart;

use std::process::ExitCode;

const HELP: &str = "\
Ferrite: the TVM-FFI C ABI in no_std Rust.

Usage: ferrite [COMMAND]

Commands:
  quickstart  Build libtvm_ffi, compile a C program and two compiled networks against it, and run them (default)
  info        Say what this build is
  help        Print this text

Environment:
  CC          The C compiler to use, `cc` when unset
  CARGO       The cargo to use, `cargo` when unset
";

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let command = args.next();
    if let Some(extra) = args.next() {
        return fail(&format!("unexpected argument `{extra}`\n\n{HELP}"), 2);
    }
    match command.as_deref().unwrap_or("quickstart") {
        "quickstart" => run_quickstart(),
        "info" => print(&info()),
        "help" | "--help" | "-h" => print(HELP),
        "--version" | "-V" => print(concat!("ferrite ", env!("CARGO_PKG_VERSION"), "\n")),
        other => fail(&format!("no command `{other}`\n\n{HELP}"), 2),
    }
}

fn run_quickstart() -> ExitCode {
    match quickstart::run() {
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
