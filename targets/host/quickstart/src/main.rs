//! The quick start, which `cargo run --release` runs in the root of the repository: builds the
//! library, compiles the C examples against it and runs them. With `gpu`, it classifies the digits
//! on every device.
//!
//! Runs `cargo` and `cc` as a user would, so that the same commands work in other projects. If a
//! command fails, it is printed.
#![forbid(unsafe_code)]

mod cargo;
mod cc;
mod gpu;
mod kinds;
mod layout;
mod step;

use cc::Compiler;
use layout::Layout;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use step::{Outcome, step};

const STEPS: u32 = 4;

const USAGE: &str = "\
usage: cargo run --release [-- gpu [KIND...]]
The command `ferrite` is another program: cargo run --release -p ferrite-ffi-cli -- ARGUMENTS";

/// Exit status for wrong arguments.
const WRONG_USAGE: u8 = 2;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.split_first() {
        None => run(),
        Some((first, kinds)) if first == "gpu" => gpu::run(kinds),
        Some((first, _)) if matches!(first.as_str(), "-h" | "--help" | "help") => {
            println!("{USAGE}");
            Ok(())
        }
        Some((first, _)) => {
            eprintln!("error: the quick start has no argument `{first}`\n{USAGE}");
            return ExitCode::from(WRONG_USAGE);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Runs all steps of the quick start.
fn run() -> Outcome<()> {
    println!(
        "The quick start takes about a minute the first time, and seconds when it is run again."
    );
    let layout = Layout::find()?;
    let cc = Compiler::find(&layout)?;
    step(1, STEPS, "building libtvm_ffi");
    cargo::build_library(&layout, "backend")?;
    step(2, STEPS, "compiling kernel libraries and two networks");
    let libraries = build_libraries(&layout, &cc)?;
    step(3, STEPS, "compiling the C program");
    let program = build_program(&layout, &cc)?;
    step(4, STEPS, "running it\n");
    run_program(&program, &libraries, &cc)?;
    print!("{}", next_commands(&libraries[0]));
    Ok(())
}

/// Returns the commands to suggest next, each with its purpose.
fn next_commands(kernels: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let kernels = kernels.strip_prefix(&here).unwrap_or(kernels).display();
    format!(
        "\nGo on with:
  cargo run --release -- gpu
      classifies the digits on each of your GPUs (about two minutes)
  cargo run --release -p ferrite-ffi-cli -- call {kernels} dot '[1,2]' '[3,4]'
      builds the command ferrite, which calls the kernel in C: 11 (about two minutes)\n"
    )
}

/// Builds the libraries that are the C program's arguments: C kernels, both networks, and the Rust
/// kernels if present.
fn build_libraries(layout: &Layout, cc: &Compiler) -> Outcome<Vec<PathBuf>> {
    let mut libraries = vec![
        cc.library("kernels", &[layout.quickstart("kernels.c")], cc::OWN, &[])?,
        cc.library("cnn_f32", &[layout.model("cnn_f32")], cc::GENERATED, &[])?,
        cc.library("mlp_f32", &[layout.model("mlp_f32")], cc::GENERATED, &[])?,
    ];
    libraries.extend(cargo::build_rust_kernels(layout)?);
    Ok(libraries)
}

fn build_program(layout: &Layout, cc: &Compiler) -> Outcome<PathBuf> {
    let sources =
        ["main.c", "digits.c", "signature.c", "ferrite_util.c"].map(|name| layout.quickstart(name));
    cc.program("quickstart", &sources)
}

fn run_program(program: &PathBuf, libraries: &[PathBuf], cc: &Compiler) -> Outcome<()> {
    let mut command = Command::new(program);
    command.args(libraries);
    cc.prefer_library(&mut command);
    let status =
        command.status().map_err(|error| format!("cannot run {}: {error}", program.display()))?;
    if status.success() { Ok(()) } else { Err(format!("the C program ended with {status}")) }
}
