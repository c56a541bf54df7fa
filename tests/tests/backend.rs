//! Tests the runtime functions that code compiled by TVM calls, from C: plain, under sanitizers,
//! and under valgrind.
#![allow(missing_docs, reason = "each test's name says it")]

use ferrite_tests::{Cc, Library, Outcome, output_of, root, scratch};
use std::path::PathBuf;
use std::process::Command;

fn program(name: &str, prepare: impl FnOnce(Cc) -> Cc) -> Outcome<PathBuf> {
    program_of("backend", name, prepare)
}

fn program_of(source: &str, name: &str, prepare: impl FnOnce(Cc) -> Cc) -> Outcome<PathBuf> {
    let cc = Cc::program(scratch("backend")?.join(name)).strict().args(["-pthread"]);
    prepare(cc.source(root().join(format!("tests/programs/backend/{source}.c"))))
        .link_shared(Library::get()?)
}

fn run_overlap(program: PathBuf) -> Outcome<()> {
    let list = root().join("tests/conformance/exports/backend-symbols.txt");
    run(Command::new(program).env("CHECK_SYMBOLS", list))
}

fn run(command: &mut Command) -> Outcome<()> {
    // malloc returns null for sizes that fit no memory.
    print!(
        "{}",
        output_of(command.env("ASAN_OPTIONS", "detect_leaks=1:allocator_may_return_null=1"))?
    );
    Ok(())
}

#[test]
fn plain() -> Outcome<()> {
    run(&mut Command::new(program("plain", |cc| cc)?))
}

#[test]
fn results_and_arguments_overlap() -> Outcome<()> {
    run_overlap(program_of("overlap", "overlap", |cc| cc)?)
}

#[test]
#[cfg(target_os = "linux")]
fn workers_are_bound_as_the_environment_says() -> Outcome<()> {
    let program = program_of("settings", "settings", |cc| cc)?;
    run(Command::new(&program).arg("free").env_remove("TVM_BIND_THREADS"))?;
    run(Command::new(&program).arg("free").env("TVM_BIND_THREADS", "0"))?;
    run(Command::new(&program).arg("bound").env("TVM_BIND_THREADS", "1"))
}

#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn without_memory() -> Outcome<()> {
    let cc = Cc::program(scratch("backend")?.join("no_memory"))
        .strict()
        .args(["-pthread", "-Wno-unused-function"]);
    let program =
        cc.source(root().join("tests/programs/backend/no_memory.c")).link_shared(Library::get()?)?;
    run(Command::new(&program).arg("4"))?;
    // Without a number of tasks, the environment or the number of processors decides.
    run(Command::new(&program).arg("0").env("TVM_NUM_THREADS", "3"))?;
    let is_single_threaded = std::thread::available_parallelism()?.get() == 1;
    run(Command::new(&program)
        .arg("0")
        .args(is_single_threaded.then_some("alone"))
        .env_remove("TVM_NUM_THREADS")
        .env_remove("OMP_NUM_THREADS"))
}

#[test]
#[ignore = "needs the sanitizers' libraries: ./ci.sh sanitizers"]
fn sanitized() -> Outcome<()> {
    run(&mut Command::new(program("sanitized", Cc::sanitized)?))?;
    run_overlap(program_of("overlap", "overlap-sanitized", Cc::sanitized)?)
}

#[test]
#[ignore = "needs valgrind: ./ci.sh valgrind"]
fn valgrind() -> Outcome<()> {
    let program = program("valgrind", |cc| cc)?;
    // Memory of idle workers, which wait for ever, is not a leak.
    run(ferrite_tests::valgrind("definite")?.arg(program))
}
