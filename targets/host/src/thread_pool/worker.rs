//! The threads of the pool, by number.

use core::alloc::Layout;
use core::ffi::c_void;
use core::ptr::{self, NonNull};
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, AtomicUsize, Ordering};

use ferrite_core::memory;

use super::idle::{Chain, IdleStack};
use super::launch::Launch;
use super::mailbox::Mailbox;
use super::{MAX_TASKS, affinity, caller, detached, process, system};

/// A worker thread. It runs until the process ends, as long as its memory stays; cache lines of its own keep what others do with
/// their workers away from it.
#[repr(align(128))]
pub(super) struct Worker {
    mailbox: Mailbox<Launch>,
    number: usize,
    /// The process that the thread is in.
    process: u32,
    /// The thread as the system knows it; zero before it runs.
    thread: AtomicI32,
    /// The processor where the thread was last seen, or [`UNKNOWN`].
    processor: AtomicI32,
}

/// Where a thread is that sleeps.
const UNKNOWN: i32 = -1;

/// The most workers. The launching thread runs a task, too.
const MAX_WORKERS: usize = MAX_TASKS - 1;

/// The workers that have a thread, by number.
static WORKERS: [AtomicPtr<Worker>; MAX_WORKERS] = [const { AtomicPtr::new(ptr::null_mut()) }; MAX_WORKERS];

/// The numbers of workers that have nothing to do, and those that have no thread because none could be made.
static IDLE: IdleStack<MAX_WORKERS> =
    IdleStack::new(AtomicUsize::new(0), [const { AtomicU32::new(0) }; MAX_WORKERS]);

/// How many numbers have been given.
static NUMBERED: AtomicUsize = AtomicUsize::new(0);

/// Workers that are reserved for one launch.
pub(super) struct Team {
    numbers: Chain,
    process: u32,
}

impl Team {
    /// Reserves `count` workers, or as many as there can be; new ones are made when too few are idle.
    pub(super) fn reserve(count: usize) -> Team {
        let mut team = Team { numbers: Chain::EMPTY, process: process::current() };
        let mut threadless = Chain::EMPTY;
        let mut can_spawn = true;
        while team.len() < count {
            let Some(number) = IDLE.pop().or_else(|| new_number().filter(|_| can_spawn)) else { break };
            can_spawn = can_spawn && (has_thread(number) || Worker::spawn(number));
            let chain = if has_thread(number) { &mut team.numbers } else { &mut threadless };
            IDLE.append(chain, number);
        }
        IDLE.push(threadless);
        team
    }

    /// How many workers there are.
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// The workers, always in the order in which they were reserved.
    pub(super) fn workers(&self) -> impl Iterator<Item = &'static Worker> {
        IDLE.numbers(&self.numbers).filter_map(worker)
    }

    /// Lets others use the workers, which have nothing to do.
    pub(super) fn release(self) {
        // A child process does not have its parent's threads.
        if self.process == process::current() {
            IDLE.push(self.numbers);
        }
    }
}

/// A number that no worker has had.
fn new_number() -> Option<usize> {
    let next = |count| (count < MAX_WORKERS).then_some(count + 1);
    NUMBERED.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).ok()
}

fn worker(number: usize) -> Option<&'static Worker> {
    // SAFETY: the pointers are null or lead to workers that are never freed.
    unsafe { WORKERS.get(number)?.load(Ordering::Acquire).as_ref() }
}

fn has_thread(number: usize) -> bool {
    worker(number).is_some()
}

/// The numbers and threads of all workers that run.
pub(super) fn threads() -> impl Iterator<Item = (usize, system::Thread)> {
    let running = (0..MAX_WORKERS).filter_map(worker).map(|worker| (worker.number, worker.thread()));
    running.filter(|(_, thread)| *thread != 0)
}

/// Forgets all workers: they are threads of the parent process.
pub(super) fn forget() {
    IDLE.clear();
    WORKERS.iter().for_each(|worker| worker.store(ptr::null_mut(), Ordering::Relaxed));
    NUMBERED.store(0, Ordering::Relaxed);
}

impl Worker {
    /// Makes a worker with its thread; `false` when there is no memory or no thread for it.
    fn spawn(number: usize) -> bool {
        let layout = Layout::new::<Worker>();
        let Some(worker) = memory::allocate(layout).map(NonNull::cast::<Worker>) else { return false };
        // SAFETY: the block is new and has the layout of a worker, which is never freed once its thread runs.
        let has_thread = unsafe {
            worker.write(Worker {
                mailbox: Mailbox::new(),
                number,
                process: process::current(),
                thread: AtomicI32::new(0),
                processor: AtomicI32::new(UNKNOWN),
            });
            detached::start(serve, worker.as_ptr().cast())
        };
        if has_thread {
            WORKERS[number].store(worker.as_ptr(), Ordering::Release);
        } else {
            // SAFETY: without a thread, the worker is known here only. It needs no destruction.
            unsafe { memory::release(worker.cast(), layout) };
        }
        has_thread
    }

    /// Where the worker gets its tasks while it is reserved.
    pub(super) fn mailbox(&self) -> &Mailbox<Launch> {
        &self.mailbox
    }

    /// The thread; zero before it runs.
    pub(super) fn thread(&self) -> system::Thread {
        self.thread.load(Ordering::Relaxed)
    }

    /// Whether the thread may be on this processor: it was last seen there, or has not run since it slept.
    pub(super) fn may_be_on(&self, processor: i32) -> bool {
        [processor, UNKNOWN].contains(&self.processor.load(Ordering::Relaxed))
    }

    fn note_processor(&self) {
        let processor = system::this_processor();
        if self.processor.load(Ordering::Relaxed) != processor {
            self.processor.store(processor, Ordering::Relaxed);
        }
    }

    /// Runs task after task, as long as the process is the one that it was started in.
    fn serve(&self) {
        self.thread.store(system::this_thread(), Ordering::Relaxed);
        affinity::bind_worker(self.number);
        caller::enter_task();
        while process::current() == self.process {
            let forget_processor = || self.processor.store(UNKNOWN, Ordering::Relaxed);
            let delivery = self.mailbox.wait(|| self.note_processor(), forget_processor);
            // SAFETY: whoever puts a task in keeps the launch alive until its last task, hence this one, has ended.
            unsafe { Launch::run_on_worker(delivery) };
        }
    }
}

extern "C" fn serve(worker: *mut c_void) -> *mut c_void {
    system::name_thread(c"ferrite-worker");
    // SAFETY: `Worker::spawn` passes a worker that is never freed once this thread runs.
    unsafe { &*worker.cast::<Worker>() }.serve();
    ptr::null_mut()
}
