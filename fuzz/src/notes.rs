//! The notes that a run takes: one line for each step and for each call of a function of the
//! program.

use std::cell::RefCell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

static WANTED: AtomicBool = AtomicBool::new(false);
static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Starts to take notes. Without it, notes cost nothing.
pub fn want() {
    WANTED.store(true, Ordering::Relaxed);
}

thread_local! {
    /// Notes of a thread that keeps them apart.
    static APART: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Calls `f` and returns the lines that this thread adds meanwhile, which are not added to those of
/// the run.
pub fn collect(f: impl FnOnce()) -> Vec<String> {
    APART.with_borrow_mut(|apart| *apart = Some(Vec::new()));
    f();
    APART.take().unwrap_or_default()
}

/// Adds a line.
pub fn note(line: impl FnOnce() -> String) {
    if APART.with_borrow(Option::is_some) {
        let line = line();
        return APART
            .with_borrow_mut(|apart| apart.iter_mut().for_each(|lines| lines.push(line.clone())));
    }
    if WANTED.load(Ordering::Relaxed) {
        let line = line();
        LINES.lock().expect("no thread panics with the notes").push(line);
    }
}

/// Returns the lines since the last call.
pub fn take() -> Vec<String> {
    std::mem::take(&mut *LINES.lock().expect("no thread panics with the notes"))
}
