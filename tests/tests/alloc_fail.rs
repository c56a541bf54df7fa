//! Tests every C symbol with the n-th allocation failing, for every n (see `tests/robustness/alloc_fail`).
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![allow(missing_docs, reason = "each test's name says it")]

use ferrite_tests::{Cc, Library, Outcome, output_of, root, scratch};
use std::process::Command;

fn run(what: &str, how: &str) -> Outcome<()> {
    let folder = scratch(&format!("alloc_fail/{what}-{how}"))?;
    let kernels = Cc::shared(folder.join("kernels.so")).strict();
    let kernels = kernels.source(root().join("tests/conformance/c/kernels.c")).link()?;
    let program = Cc::program(folder.join("alloc_fail")).strict();
    let program = program.source(root().join("tests/robustness/alloc_fail/alloc_fail.c"));
    let program = program.link_shared(Library::get()?)?;
    let mut command = Command::new(program);
    command.args([what, how]).env("CHECK_KERNELS", kernels);
    print!("{}", output_of(&mut command)?);
    Ok(())
}

#[test]
fn one_object() -> Outcome<()> {
    run("objects", "once")
}

#[test]
fn all_objects_from_one_on() -> Outcome<()> {
    run("objects", "onwards")
}

#[test]
fn one_block() -> Outcome<()> {
    run("malloc", "once")
}

#[test]
fn all_blocks_from_one_on() -> Outcome<()> {
    run("malloc", "onwards")
}
