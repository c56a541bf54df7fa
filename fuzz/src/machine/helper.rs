//! Threads that run steps. The start of a thread takes 20 ms under the address sanitizer, a hundred
//! times as long as a step, so that most programs share a few threads that live on.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{LazyLock, Mutex};
use std::thread::JoinHandle;

use crate::program::MAX_THREADS;

/// Work of a thread that lives on.
type Job = Box<dyn FnOnce() + Send>;

/// A thread that does a job.
pub(super) enum Running<T> {
    /// It lives on.
    Kept(Receiver<T>),
    /// It ends with the job.
    New(JoinHandle<T>),
}

impl<T> Running<T> {
    /// Waits for the end of the job.
    pub(super) fn join(self) -> T {
        match self {
            Self::Kept(done) => done.recv().expect("steps do not panic"),
            Self::New(thread) => thread.join().expect("steps do not panic"),
        }
    }
}

struct Kept {
    jobs: Sender<Job>,
}

impl Kept {
    fn start() -> Self {
        let (jobs, received) = channel::<Job>();
        std::thread::spawn(move || {
            received.into_iter().for_each(|job| job());
        });
        Self { jobs }
    }
}

/// The threads that live on. The first one does the single steps on another thread.
static KEPT: LazyLock<Mutex<Vec<Kept>>> =
    LazyLock::new(|| Mutex::new((0..=MAX_THREADS).map(|_| Kept::start()).collect()));

/// Starts a job on a thread that lives on, by its number, or on a new one.
pub(super) fn start<T: Send + 'static>(
    number: usize,
    keeps: bool,
    job: impl FnOnce() -> T + Send + 'static,
) -> Running<T> {
    if !keeps {
        return Running::New(std::thread::spawn(job));
    }
    let (sender, done) = channel();
    let kept = KEPT.lock().expect("no thread panics with the list");
    let work = Box::new(move || {
        // Nobody waits for it after a panic.
        let _ = sender.send(job());
    });
    kept[number].jobs.send(work).expect("the threads live as long as the process");
    Running::Kept(done)
}
