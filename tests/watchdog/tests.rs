//! Tests of the watchdogs: hanging processes end, slow ones do not.

use super::watchdog::watchdog;
use ferrite_tests::{Cc, Outcome, program, root, scratch};
use std::os::unix::process::ExitStatusExt;

const SIGALRM: i32 = 14;

/// Runs `hang.c`, whose watchdog looks often, in one of its ways. Returns the signal that ended it.
fn ended_by(way: &str) -> Outcome<Option<i32>> {
    let executable = Cc::program(scratch("watchdog")?.join(way)).strict();
    let executable = executable.args(["-DWATCHDOG_TICKS=6", "-DWATCHDOG_BUSY=1.0"]);
    let executable = executable.source(root().join("tests/watchdog/hang.c")).link()?;
    Ok(program(&executable).arg(way).status()?.signal())
}

#[test]
fn a_program_that_waits_for_ever_ends() -> Outcome<()> {
    assert_eq!(ended_by("wait")?, Some(SIGALRM));
    Ok(())
}

#[test]
fn a_program_that_spins_for_ever_ends() -> Outcome<()> {
    assert_eq!(ended_by("spin")?, Some(SIGALRM));
    Ok(())
}

/// The program gets a few milliseconds of each second, for longer than another may wait.
#[test]
fn a_slow_program_goes_on() -> Outcome<()> {
    assert_eq!(ended_by("crawl")?, None);
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
