//! Tests of the watchdogs: hanging processes end, slow ones do not.

use super::watchdog::watchdog;
use ferrite_tests::{Cc, Outcome, program, root, scratch};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

const SIGALRM: i32 = 14;

/// Runs `hang.c`, whose watchdog looks often, in one of its ways.
fn status_of(way: &str) -> Outcome<ExitStatus> {
    let executable = Cc::program(scratch("watchdog")?.join(way)).strict();
    let executable = executable.args(["-DWATCHDOG_TICKS=6", "-DWATCHDOG_BUSY=1.0"]);
    let executable = executable.source(root().join("tests/watchdog/hang.c")).link()?;
    Ok(program(&executable).arg(way).status()?)
}

#[test]
fn a_program_that_waits_for_ever_ends() -> Outcome<()> {
    assert_eq!(status_of("wait")?.signal(), Some(SIGALRM));
    Ok(())
}

#[test]
fn a_program_that_spins_for_ever_ends() -> Outcome<()> {
    assert_eq!(status_of("spin")?.signal(), Some(SIGALRM));
    Ok(())
}

/// The program gets a few milliseconds of each second, for longer than another may wait.
#[test]
fn a_slow_program_goes_on() -> Outcome<()> {
    assert!(status_of("crawl")?.success());
    Ok(())
}

/// The parent gets no time while its child lives, which is longer than a process may wait.
#[test]
fn a_parent_of_a_slow_child_goes_on() -> Outcome<()> {
    assert!(status_of("parent")?.success());
    Ok(())
}

#[test]
fn a_child_in_rust_that_waits_for_ever_ends() {
    unsafe extern "C" {
        fn fork() -> i32;
        fn pause() -> i32;
        fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
        fn _exit(status: i32) -> !;
    }
    let mut status = 0;
    // SAFETY: the child waits for signals, the last of which ends it.
    unsafe {
        let child = fork();
        if child == 0 {
            watchdog(1);
            for _ in 0..100 {
                pause();
            }
            _exit(0);
        }
        assert_eq!(waitpid(child, &mut status, 0), child);
    }
    assert_eq!(status & 0x7f, SIGALRM, "wait status {status:#x}");
}
