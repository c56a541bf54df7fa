//! Tests every C symbol and every global function with the n-th allocation failing, for every n
//! (see `tests/robustness/alloc_fail`).
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![allow(missing_docs, reason = "each test's name says it")]

use ferrite_tests::{Cc, Library, Outcome, output_of, root, scratch};
use std::process::Command;

/// Runs a program of `tests/robustness/alloc_fail`.
fn run(program: &str, arguments: &[&str]) -> Outcome<()> {
    let folder = scratch(&format!("alloc_fail/{program}-{}", arguments.join("-")))?;
    let kernels = Cc::shared(folder.join("kernels.so")).strict();
    let kernels = kernels.source(root().join("tests/conformance/c/kernels.c")).link()?;
    let executable = Cc::program(folder.join(program)).strict().args(["-pthread"]);
    let executable =
        executable.source(root().join(format!("tests/robustness/alloc_fail/{program}.c")));
    let mut command = Command::new(executable.link_shared(Library::get()?)?);
    command.args(arguments).env("CHECK_KERNELS", kernels);
    print!("{}", output_of(&mut command)?);
    Ok(())
}

macro_rules! programs {
    ($($program:ident),*) => {$(
        mod $program {
            use super::{Outcome, run};

            #[test]
            fn one_object() -> Outcome<()> {
                run(stringify!($program), &["objects", "once"])
            }

            #[test]
            fn all_objects_from_one_on() -> Outcome<()> {
                run(stringify!($program), &["objects", "onwards"])
            }

            #[test]
            fn one_block() -> Outcome<()> {
                run(stringify!($program), &["malloc", "once"])
            }

            #[test]
            fn all_blocks_from_one_on() -> Outcome<()> {
                run(stringify!($program), &["malloc", "onwards"])
            }
        }
    )*};
}

programs!(symbols, functions);

/// Runs threads that raise their first errors without memory: their destructors are registered
/// without allocating.
#[test]
fn first_error_of_a_thread() -> Outcome<()> {
    run("first_error", &["0"])
}

/// A first error when glibc has to allocate for a key of the library.
#[test]
fn first_error_of_a_thread_with_many_keys() -> Outcome<()> {
    run("first_error", &["100"])
}

/// Symbols that are not called while an allocation fails, with the reason.
const EXCEPTIONS: &[(&str, &str)] =
    &[("TVMFFISetCustomAllocator", "installs the allocator that fails")];

/// Checks that the rounds call every C symbol. (That they call every global function, `functions.c`
/// checks.)
#[test]
fn every_symbol_is_called() -> Outcome<()> {
    let mut text = String::new();
    for file in ["mutate.h", "scenario.h", "steps.h", "values.h"] {
        text.push_str(&std::fs::read_to_string(
            root().join("tests/robustness/alloc_fail").join(file),
        )?);
    }
    let symbols = std::fs::read_to_string(root().join("tests/conformance/exports/symbols.txt"))?;
    let is_called = |symbol: &str| text.contains(&format!("{symbol}("));
    let excepted = |symbol: &str| EXCEPTIONS.iter().any(|(name, _)| *name == symbol);
    let wrong: Vec<&str> =
        symbols.lines().filter(|symbol| is_called(symbol) == excepted(symbol)).collect();
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(format!("not called, or called after all: {wrong:?}").into())
    }
}
