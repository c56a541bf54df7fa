//! The threads of the pool, and the list of those that wait for work.

use core::alloc::Layout;
use core::ffi::c_void;
use core::ptr;
use std::process;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use ferrite_core::memory;
use ferrite_core::sync::Mutex;

use super::launch::Launch;
use super::waiter::Waiter;
use super::{MAX_TASKS, detached, in_task, system};

/// A thread of the pool. Never freed: its thread runs until the process ends.
pub(super) struct Worker {
    /// What to run next; null while the thread has nothing to do.
    launch: AtomicPtr<Launch>,
    task: AtomicUsize,
    /// Where the thread waits for something to do.
    idle: Waiter,
    /// Where the thread that launches waits, if this worker is the first of its team. Here it outlives the launch, whose last
    /// task wakes who may be gone already.
    launcher: Waiter,
    /// The next worker in the list that this one is in.
    next: AtomicPtr<Worker>,
}

/// Workers reserved for one launch: a list linked through the workers.
pub(super) struct Team {
    head: *mut Worker,
    len: usize,
}

pub(crate) struct Pool {
    /// Workers that wait for work.
    idle: *mut Worker,
    /// Workers that exist, idle or not.
    total: usize,
    /// The process that they are threads of.
    process: u32,
}

// SAFETY: the list consists of static workers, and is only used under the mutex.
unsafe impl Send for Pool {}

pub(crate) static POOL: Mutex<Pool> = Mutex::new(Pool { idle: ptr::null_mut(), total: 0, process: 0 });

impl Team {
    const EMPTY: Team = Team { head: ptr::null_mut(), len: 0 };

    /// How many workers there are.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The workers.
    pub(super) fn iter(&self) -> impl Iterator<Item = &'static Worker> {
        let mut next = self.head;
        std::iter::from_fn(move || {
            // SAFETY: lists hold static workers, and end with null.
            let worker = unsafe { next.as_ref() }?;
            next = worker.next.load(Ordering::Relaxed);
            Some(worker)
        })
    }

    fn push(&mut self, worker: &'static Worker) {
        worker.next.store(self.head, Ordering::Relaxed);
        self.head = ptr::from_ref(worker).cast_mut();
        self.len += 1;
    }
}

impl Pool {
    /// Forgets the workers of a parent process: a forked child has its memory, but none of its threads.
    fn forget_parent(&mut self) {
        let process = process::id();
        if self.process != process {
            *self = Pool { idle: ptr::null_mut(), total: 0, process };
        }
    }
}

/// Reserves `count` workers, or as many as there can be; new ones are made when too few are idle.
pub(super) fn reserve(count: usize) -> Team {
    let mut team = Team::EMPTY;
    let mut pool = POOL.lock();
    pool.forget_parent();
    while team.len < count {
        // SAFETY: lists hold static workers, and end with null.
        let Some(worker) = (unsafe { pool.idle.as_ref() }) else { break };
        pool.idle = worker.next.load(Ordering::Relaxed);
        team.push(worker);
    }
    let missing = (count - team.len).min(MAX_TASKS.saturating_sub(pool.total));
    pool.total += missing;
    drop(pool);
    // Threads are made without the lock: others may launch meanwhile.
    let made = (0..missing).map_while(|_| Worker::spawn()).map(|worker| team.push(worker)).count();
    if made < missing {
        POOL.lock().total -= missing - made;
    }
    team
}

/// Puts workers that have nothing to do back into the list.
pub(super) fn hand_back(team: Team) {
    let Some(last) = team.iter().last() else { return };
    let mut pool = POOL.lock();
    last.next.store(pool.idle, Ordering::Relaxed);
    pool.idle = team.head;
}

impl Worker {
    /// Makes a worker with its thread; None when there is no memory or no thread for it.
    fn spawn() -> Option<&'static Worker> {
        let layout = Layout::new::<Worker>();
        let worker = memory::allocate(layout)?.cast::<Worker>();
        // SAFETY: the block is new and has the layout of a worker, which is never freed once its thread runs.
        let has_thread = unsafe {
            worker.write(Worker::new());
            detached::start(serve, worker.as_ptr().cast())
        };
        // SAFETY: the worker stays, or, without a thread, is known here only.
        unsafe {
            if has_thread {
                return Some(worker.as_ref());
            }
            worker.drop_in_place();
            memory::release(worker.cast(), layout);
        }
        None
    }

    fn new() -> Worker {
        Worker {
            launch: AtomicPtr::new(ptr::null_mut()),
            task: AtomicUsize::new(0),
            idle: Waiter::new(),
            launcher: Waiter::new(),
            next: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Where the launching thread can wait while this worker is reserved.
    pub(super) fn launcher(&self) -> &Waiter {
        &self.launcher
    }

    /// Makes the worker run a task.
    ///
    /// # Safety
    /// The worker must be reserved and have nothing to do; `launch` must live until its last task is done.
    pub(super) unsafe fn start(&self, launch: &Launch, task: usize) {
        self.task.store(task, Ordering::Relaxed);
        self.launch.store(ptr::from_ref(launch).cast_mut(), Ordering::Release);
        self.idle.wake();
    }

    /// The thread: runs task after task, for ever.
    fn serve(&self) -> ! {
        loop {
            let launch = self.next_launch();
            let task = self.task.load(Ordering::Relaxed);
            // SAFETY: `start`'s caller keeps the launch alive until its last task, hence this one, is done.
            in_task(|| unsafe { Launch::run(launch, task) });
        }
    }

    /// Waits for work and takes it, so that the worker is free again when its task is done.
    fn next_launch(&self) -> *mut Launch {
        self.idle.wait_until(|| !self.launch.load(Ordering::Relaxed).is_null());
        self.launch.swap(ptr::null_mut(), Ordering::Acquire)
    }
}

extern "C" fn serve(worker: *mut c_void) -> *mut c_void {
    system::name_thread(c"ferrite-worker");
    // SAFETY: `Worker::spawn` passes a worker that is never freed once this thread runs.
    unsafe { &*worker.cast::<Worker>() }.serve()
}
