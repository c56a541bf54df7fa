//! A second thread that runs steps one after another. The start of a thread takes 20 ms under the address sanitizer, a hundred
//! times as long as a step.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{LazyLock, Mutex};

use super::Machine;
use crate::program::Line;

/// A step, which the thread that waits for it keeps alive.
struct Job {
    machine: *mut Machine,
    number: usize,
    line: *const Line,
}

// SAFETY: the thread that sends a job does not touch machine and line until it is done.
unsafe impl Send for Job {}

struct Helper {
    jobs: Sender<Job>,
    done: Receiver<()>,
}

static HELPER: LazyLock<Mutex<Helper>> = LazyLock::new(|| {
    let (jobs, received) = channel::<Job>();
    let (ended, done) = channel();
    std::thread::spawn(move || {
        for job in received {
            // SAFETY: the sender waits for the end of the job.
            unsafe { (*job.machine).step(job.number, &(*job.line).step) };
            if ended.send(()).is_err() {
                break;
            }
        }
    });
    Mutex::new(Helper { jobs, done })
});

/// Runs a step on the second thread, and waits for its end.
pub(super) fn run(machine: &mut Machine, number: usize, line: &Line) {
    let helper = HELPER.lock().expect("steps do not panic");
    helper.jobs.send(Job { machine, number, line }).expect("the thread lives as long as the process");
    helper.done.recv().expect("steps do not panic");
}
