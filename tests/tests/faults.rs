//! Tests what goes wrong outside the library: signals at every instruction, small stacks, exits
//! while threads call, two copies in one process, files that cannot be loaded, resources that the
//! system refuses (see `tests/robustness`).
//!
//! `EXITS` is the number of processes that exit while threads call, 20 by default. `./ci.sh faults`
//! runs 400.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![allow(missing_docs, reason = "each test's name says it")]

use ferrite_tests::{Cc, Library, Outcome, output_of, root, scratch};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds a program of `tests/robustness` and returns the command that runs it, with a kernel
/// library of its own.
fn program(
    source: &str,
    folder: &Path,
    link: impl FnOnce(Cc) -> Outcome<PathBuf>,
) -> Outcome<Command> {
    let kernels = Cc::shared(folder.join("kernels.so")).strict();
    let kernels = kernels.source(root().join("tests/conformance/c/kernels.c")).link()?;
    let cc = Cc::program(folder.join("program")).strict().args(["-pthread"]);
    let mut command = Command::new(link(cc.source(root().join("tests/robustness").join(source)))?);
    command.env("CHECK_KERNELS", kernels).env("CHECK_SCRATCH", folder);
    Ok(command)
}

fn run(source: &str, arguments: &[&str]) -> Outcome<()> {
    let folder = scratch(&format!("faults/{}", source.replace('/', "-")))?;
    let library = Library::get()?;
    let mut command = program(source, &folder, |cc| cc.link_shared(library))?;
    print!("{}", output_of(command.args(arguments))?);
    Ok(())
}

/// The trap flag, which makes a signal of each instruction, is one of x86-64.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_signal_at_every_instruction() -> Outcome<()> {
    run("signals/single_step.c", &[])
}

#[test]
fn stacks_of_16_kib_and_coroutines() -> Outcome<()> {
    run("stacks/small_stacks.c", &[])
}

#[test]
fn exits_while_threads_call() -> Outcome<()> {
    run("exits/exits.c", &[&std::env::var("EXITS").unwrap_or("20".into())])
}

#[test]
fn files_that_cannot_be_loaded() -> Outcome<()> {
    run("bad_files/bad_files.c", &[])
}

#[test]
fn resources_that_the_system_refuses() -> Outcome<()> {
    run("resources/resources.c", &[])
}

/// The program handles system calls of x86-64.
#[cfg(target_arch = "x86_64")]
#[test]
fn mappings_that_the_system_refuses() -> Outcome<()> {
    run("resources/mappings.c", &[])
}

/// The program opens the library twice, and is linked with neither.
#[test]
fn two_copies_in_one_process() -> Outcome<()> {
    let folder = scratch("faults/two_copies")?;
    let library = Library::get()?.shared();
    let copy = folder.join("libcopy_of_tvm_ffi.so");
    std::fs::copy(&library, &copy)?;
    let mut command = program("copies/two_copies.c", &folder, |cc| cc.args(["-ldl"]).link())?;
    print!("{}", output_of(command.arg(&library).arg(&copy))?);
    Ok(())
}
