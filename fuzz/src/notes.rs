//! The notes that a run takes: one line for each step and for each call of a function of the program.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

static WANTED: AtomicBool = AtomicBool::new(false);
static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Starts to take notes. Without it, notes cost nothing.
pub fn want() {
    WANTED.store(true, Ordering::Relaxed);
}

/// Adds a line.
pub fn note(line: impl FnOnce() -> String) {
    if WANTED.load(Ordering::Relaxed) {
        let line = line();
        LINES.lock().expect("no thread panics with the notes").push(line);
    }
}

/// Returns the lines since the last call.
pub fn take() -> Vec<String> {
    std::mem::take(&mut *LINES.lock().expect("no thread panics with the notes"))
}
