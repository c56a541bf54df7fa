//! Tests per-thread state for each way of loading the library: linked dynamically, linked as an
//! archive, and opened at run time, also when the static thread-local storage is exhausted.
#![cfg(target_os = "linux")]
#![allow(missing_docs, reason = "each test's name says it")]

use ferrite_tests::{Cc, Library, Outcome, output_of, root, scratch};
use std::path::PathBuf;
use std::process::Command;

fn program(name: &str) -> Outcome<Cc> {
    let cc = Cc::program(scratch("per_thread")?.join(name)).strict().args(["-pthread"]);
    Ok(cc.source(root().join("tests/robustness/per_thread/streams.c")))
}

fn run(command: &mut Command) -> Outcome<()> {
    print!("{}", output_of(command)?);
    Ok(())
}

/// Builds a program that opens the library named by its argument.
fn opener(name: &str) -> Outcome<PathBuf> {
    program(name)?.args(["-ldl"]).link()
}

#[test]
fn in_a_linked_library() -> Outcome<()> {
    run(&mut Command::new(
        program("linked")?.args(["-DLINKED", "-ldl"]).link_shared(Library::get()?)?,
    ))
}

/// Links the library's code into the program, as position-independent code and at fixed addresses.
#[test]
fn in_the_program() -> Outcome<()> {
    for kind in ["-pie", "-no-pie"] {
        let program = program(&format!("archive{kind}"))?.args(["-DLINKED", kind]);
        run(&mut Command::new(program.link_static(Library::get()?)?))?;
    }
    Ok(())
}

#[test]
fn in_an_opened_library() -> Outcome<()> {
    run(Command::new(opener("opened")?).arg(Library::get()?.shared()))
}

/// Exhausts the static thread-local storage first: by default, glibc reserves 512 bytes of it for
/// libraries opened at run time.
#[test]
fn in_an_opened_library_without_room() -> Outcome<()> {
    let mut command = Command::new(opener("without-room")?);
    run(command
        .arg(Library::get()?.shared())
        .env("GLIBC_TUNABLES", "glibc.rtld.optional_static_tls=0"))
}
