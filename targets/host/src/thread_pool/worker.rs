//! Worker threads of the pool: creation, reservation in teams, and the loop that runs tasks.
//! Workers are identified by number.

use core::alloc::Layout;
use core::ffi::c_void;
use core::mem;
use core::ptr::{self, NonNull};
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, AtomicUsize, Ordering};

use ferrite_core::platform::memory;

use super::idle::{Chain, IdleStack};
use super::launch::Launch;
use super::mailbox::Mailbox;
use super::settings::MAX_TASKS;
use super::{affinity, caller, detached, process, system};

/// A worker thread. Its memory is never freed, and it runs until the process ends. The alignment
/// avoids false sharing with other workers.
#[repr(align(128))]
pub(super) struct Worker {
    mailbox: Mailbox<Launch>,
    number: usize,
    /// Identity of the process that the thread belongs to.
    process: u32,
    /// Thread identifier of the system; zero until the thread runs.
    thread: AtomicI32,
    /// Processor on which the thread last ran, or [`UNKNOWN`].
    processor: AtomicI32,
}

/// Value of [`Worker::processor`] while the thread sleeps.
const UNKNOWN: i32 = -1;

/// Maximum number of workers. The launching thread runs a task, too.
const MAX_WORKERS: usize = MAX_TASKS - 1;

/// Workers with a running thread, by number.
static WORKERS: [AtomicPtr<Worker>; MAX_WORKERS] =
    [const { AtomicPtr::new(ptr::null_mut()) }; MAX_WORKERS];

/// Numbers of idle workers, and of workers without a thread because none could be created.
static IDLE: IdleStack<MAX_WORKERS> =
    IdleStack::new(AtomicUsize::new(0), [const { AtomicU32::new(0) }; MAX_WORKERS]);

/// Number of worker numbers that have been assigned.
static NUMBERED: AtomicUsize = AtomicUsize::new(0);

/// Workers reserved for one launch.
pub(super) struct Team {
    numbers: Chain,
    process: u32,
}

impl Team {
    /// Reserves `count` workers, or as many as possible; creates new ones if too few are idle.
    pub(super) fn reserve(count: usize) -> Team {
        let mut team = Team { numbers: Chain::EMPTY, process: process::current() };
        let mut threadless = Chain::EMPTY;
        let mut can_spawn = true;
        while team.len() < count {
            let Some(number) = IDLE.pop().or_else(|| new_number().filter(|_| can_spawn)) else {
                break;
            };
            can_spawn = can_spawn && (has_thread(number) || Worker::spawn(number));
            let chain = if has_thread(number) { &mut team.numbers } else { &mut threadless };
            IDLE.append(chain, number);
        }
        IDLE.push(threadless);
        team
    }

    /// Returns the number of workers.
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Returns the workers, in the order in which they were reserved.
    pub(super) fn workers(&self) -> impl Iterator<Item = &'static Worker> {
        IDLE.numbers(&self.numbers).filter_map(worker)
    }
}

impl Drop for Team {
    /// Returns the workers to the pool. All of them must be idle.
    fn drop(&mut self) {
        // A child process does not have its parent's threads.
        if self.process == process::current() {
            IDLE.push(mem::replace(&mut self.numbers, Chain::EMPTY));
        }
    }
}

/// Assigns a new worker number. Returns `None` if all numbers are in use.
fn new_number() -> Option<usize> {
    let next = |count| (count < MAX_WORKERS).then_some(count + 1);
    NUMBERED.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).ok()
}

fn worker(number: usize) -> Option<&'static Worker> {
    // SAFETY: the pointers are null or point to workers that are never freed.
    unsafe { WORKERS.get(number)?.load(Ordering::Acquire).as_ref() }
}

fn has_thread(number: usize) -> bool {
    worker(number).is_some()
}

/// Returns the numbers and threads of all running workers.
pub(super) fn threads() -> impl Iterator<Item = (usize, system::Thread)> {
    let running =
        (0..MAX_WORKERS).filter_map(worker).map(|worker| (worker.number, worker.thread()));
    running.filter(|(_, thread)| *thread != 0)
}

/// Empties the pool in a child process, since the workers are threads of the parent.
pub(super) fn forget() {
    IDLE.clear();
    WORKERS.iter().for_each(|worker| worker.store(ptr::null_mut(), Ordering::Relaxed));
    NUMBERED.store(0, Ordering::Relaxed);
}

impl Worker {
    /// Creates a worker and its thread. Returns `false` if memory or threads are exhausted.
    fn spawn(number: usize) -> bool {
        let layout = Layout::new::<Worker>();
        let Some(worker) = memory::allocate(layout).map(NonNull::cast::<Worker>) else {
            return false;
        };
        // SAFETY: the block is new and has the layout of a worker; it is never freed once its
        // thread runs.
        let has_thread = unsafe {
            worker.write(Worker {
                mailbox: Mailbox::new(),
                number,
                process: process::current(),
                thread: AtomicI32::new(0),
                processor: AtomicI32::new(UNKNOWN),
            });
            detached::start::<Worker>(worker.as_ptr().cast())
        };
        if has_thread {
            WORKERS[number].store(worker.as_ptr(), Ordering::Release);
        } else {
            // SAFETY: without a thread, no other code knows the worker. It needs no destructor.
            unsafe { memory::release(worker.cast(), layout) };
        }
        has_thread
    }

    /// Returns the mailbox through which the reserved worker receives tasks.
    pub(super) fn mailbox(&self) -> &Mailbox<Launch> {
        &self.mailbox
    }

    /// Returns the identifier of the thread; zero until it runs.
    pub(super) fn thread(&self) -> system::Thread {
        self.thread.load(Ordering::Relaxed)
    }

    /// Returns `true` if the thread may be on this processor: it last ran there, or has not run
    /// since it went to sleep.
    pub(super) fn may_be_on(&self, processor: i32) -> bool {
        [processor, UNKNOWN].contains(&self.processor.load(Ordering::Relaxed))
    }

    fn note_processor(&self) {
        let processor = system::this_processor();
        if self.processor.load(Ordering::Relaxed) != processor {
            self.processor.store(processor, Ordering::Relaxed);
        }
    }

    /// Receives and runs tasks, as long as the process is the one in which the worker was created.
    fn serve(&self) {
        self.thread.store(system::this_thread(), Ordering::Relaxed);
        affinity::bind_worker(self.number);
        caller::enter_task();
        while process::current() == self.process {
            let forget_processor = || self.processor.store(UNKNOWN, Ordering::Relaxed);
            let delivery = self.mailbox.wait(|| self.note_processor(), forget_processor);
            // SAFETY: the thread that puts a task in keeps the launch alive until its last task,
            // hence this one, has ended.
            unsafe { Launch::run_on_worker(delivery) };
        }
    }
}

impl detached::Body for Worker {
    unsafe fn run(worker: *mut c_void) {
        system::name_thread(c"ferrite-worker");
        // SAFETY: `Worker::spawn` passes a worker that is never freed once this thread runs.
        unsafe { &*worker.cast::<Worker>() }.serve();
    }
}
