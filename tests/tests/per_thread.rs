//! State of each thread, however the library gets into a process: linked, as an archive, and opened, also
//! where no room is left for thread-local variables beside the threads' own.
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

/// A program that opens the library that its argument names.
fn opener(name: &str) -> Outcome<PathBuf> {
    program(name)?.args(["-ldl"]).link()
}

#[test]
fn in_a_linked_library() -> Outcome<()> {
    run(&mut Command::new(program("linked")?.args(["-DLINKED", "-ldl"]).link_shared(Library::get()?)?))
}

/// The library's code in the program itself, which may lie anywhere or at the addresses that it was linked for.
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

/// glibc has 512 bytes for such variables of opened libraries, unless it is told otherwise.
#[test]
fn in_an_opened_library_without_room() -> Outcome<()> {
    let mut command = Command::new(opener("without-room")?);
    run(command.arg(Library::get()?.shared()).env("GLIBC_TUNABLES", "glibc.rtld.optional_static_tls=0"))
}
