//! Fuzzes programs of calls of the C symbols: each call succeeds, or fails with an error raised,
//! and a program leaves nothing behind.
#![no_main]

use std::sync::LazyLock;

use ferrite_fuzz::{Library, Machine, Program};
use libfuzzer_sys::fuzz_target;

static LIBRARY: LazyLock<Library> = LazyLock::new(Library::linked);

fuzz_target!(|bytes: &[u8]| {
    let program = Program::decode(bytes);
    let mut machine = Machine::new(&LIBRARY);
    // The end of a thread is tried too, but rarely: a new thread takes as long as a hundred steps.
    machine.keep_thread(!bytes.len().is_multiple_of(16));
    machine.run(&program, |_| {});
    let broken = machine.finish();
    assert!(broken.is_empty(), "{broken:#?}\n{program:#?}");
});
