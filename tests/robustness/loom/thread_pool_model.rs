//! Models of the thread pool: a task is run once, by its worker or by the launching thread; no
//! thread sleeps for ever; a task's writes are visible after a barrier and after the join.

use std::ptr;

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use loom::thread;

use crate::idle::{Chain, IdleStack};
use crate::mailbox::Mailbox;
use crate::task_group::TaskGroup;

/// A cell that loom checks for races.
struct Place(UnsafeCell<u32>);

// SAFETY: loom checks for concurrent use of the cell.
unsafe impl Sync for Place {}

impl Place {
    fn new() -> Place {
        Place(UnsafeCell::new(0))
    }

    fn set(&self, value: u32) {
        // SAFETY: loom checks for concurrent accesses.
        self.0.with_mut(|place| unsafe { *place = value });
    }

    fn get(&self) -> u32 {
        // SAFETY: loom checks for concurrent writes.
        self.0.with(|place| unsafe { *place })
    }
}

/// A launch of two tasks, with the cell that each of them writes.
struct Launch {
    group: TaskGroup,
    places: [Place; 2],
}

impl Launch {
    fn new() -> Launch {
        Launch { group: TaskGroup::new(2), places: [Place::new(), Place::new()] }
    }

    /// Runs one task of a launch.
    ///
    /// # Safety
    /// Same requirements as `TaskGroup::end_task`.
    unsafe fn run(this: *const Launch, task: u32) {
        // SAFETY: the caller's promise.
        unsafe {
            (*this).places[task as usize].set(task + 1);
            TaskGroup::end_task(&raw const (*this).group);
        }
    }
}

fn launch_on(mailbox: &Mailbox<Launch>) {
    // Freed on return: loom would detect a worker that still uses it.
    let launch = Launch::new();
    mailbox.put(&launch, 1);
    // SAFETY: the launch lives until it is joined.
    unsafe {
        Launch::run(&launch, 0);
        if let Some(delivery) = mailbox.take() {
            assert_eq!(delivery.launch, ptr::from_ref(&launch));
            Launch::run(delivery.launch, delivery.task);
        }
    }
    launch.group.join().unwrap();
    assert_eq!([launch.places[0].get(), launch.places[1].get()], [1, 2]);
}

#[test]
fn a_task_is_run_once_by_its_worker_or_by_the_launching_thread() {
    loom::model(|| {
        let mailbox = Arc::new(Mailbox::<Launch>::new());
        let last = Arc::new(AtomicUsize::new(0));
        let (theirs, at_last) = (mailbox.clone(), last.clone());
        let worker = thread::spawn(move || {
            // Runs tasks until the last one.
            loop {
                let delivery = theirs.wait(|| (), || ());
                if delivery.task == 9 {
                    at_last.store(1, Ordering::Relaxed);
                    return;
                }
                // SAFETY: the launch lives until it is joined.
                unsafe { Launch::run(delivery.launch, delivery.task) };
            }
        });
        launch_on(&mailbox);
        mailbox.put(ptr::null(), 9);
        worker.join().unwrap();
        assert_eq!(last.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn behind_a_barrier_the_work_of_all_tasks_is_seen() {
    loom::model(|| {
        let launch = Arc::new(Launch::new());
        let meet = |launch: &Launch, task: usize| {
            for round in 1..=2 {
                launch.places[task].set(round);
                assert!(launch.group.barrier().unwrap());
                assert_eq!(launch.places[1 - task].get(), round);
                assert!(launch.group.barrier().unwrap());
            }
        };
        let theirs = launch.clone();
        let worker = thread::spawn(move || meet(&theirs, 1));
        meet(&launch, 0);
        worker.join().unwrap();
    });
}

#[test]
fn a_task_that_ends_frees_those_at_the_barrier() {
    loom::model(|| {
        let group = Arc::new(TaskGroup::new(3));
        let wait_and_end = |group: &TaskGroup| {
            assert!(!group.barrier().unwrap());
            // SAFETY: the group outlives its tasks.
            unsafe { TaskGroup::end_task(group) };
        };
        let theirs = group.clone();
        let worker = thread::spawn(move || wait_and_end(&theirs));
        // SAFETY: as above.
        unsafe { TaskGroup::end_task(&*group) };
        wait_and_end(&group);
        group.join().unwrap();
        worker.join().unwrap();
    });
}

#[test]
fn no_worker_is_in_two_teams() {
    loom::model(|| {
        let next = [const { () }; 3].map(|()| AtomicU32::new(0));
        let stack = Arc::new(IdleStack::<3>::new(AtomicUsize::new(0), next));
        let users = Arc::new([const { () }; 3].map(|()| Place::new()));
        let mut all = Chain::EMPTY;
        (0..3).for_each(|number| stack.append(&mut all, number));
        stack.push(all);
        let reserve = |stack: &IdleStack<3>, users: &[Place; 3], count: usize| {
            let mut team = Chain::EMPTY;
            while team.len() < count {
                let Some(number) = stack.pop() else { break };
                users[number].set(users[number].get() + 1);
                stack.append(&mut team, number);
            }
            stack.push(team);
        };
        let (their_stack, their_users) = (stack.clone(), users.clone());
        let other = thread::spawn(move || reserve(&their_stack, &their_users, 2));
        reserve(&stack, &users, 2);
        other.join().unwrap();
        let mut left: Vec<_> = std::iter::from_fn(|| stack.pop()).collect();
        left.sort_unstable();
        assert_eq!(left, [0, 1, 2]);
        // The second launch may find only one worker.
        assert!((3..=4).contains(&users.iter().map(Place::get).sum::<u32>()));
    });
}

#[test]
fn a_worker_that_was_taken_and_put_back_is_not_mistaken_for_unchanged() {
    loom::model(|| {
        let next = [const { () }; 3].map(|()| AtomicU32::new(0));
        let stack = Arc::new(IdleStack::<3>::new(AtomicUsize::new(0), next));
        let users = Arc::new([const { () }; 3].map(|()| Place::new()));
        let mut all = Chain::EMPTY;
        (0..3).for_each(|number| stack.append(&mut all, number));
        stack.push(all);
        let take = |stack: &IdleStack<3>, users: &[Place; 3]| {
            let number = stack.pop()?;
            users[number].set(users[number].get() + 1);
            Some(number)
        };
        let (their_stack, their_users) = (stack.clone(), users.clone());
        let other = thread::spawn(move || {
            let (first, second) =
                (take(&their_stack, &their_users), take(&their_stack, &their_users));
            // The first number is on top again, with another successor than before.
            let mut chain = Chain::EMPTY;
            first.iter().for_each(|number| their_stack.append(&mut chain, *number));
            their_stack.push(chain);
            second
        });
        let mine = [take(&stack, &users), take(&stack, &users)];
        let second = other.join().unwrap();
        let mut held: Vec<_> = mine.into_iter().chain([second]).flatten().collect();
        held.extend(std::iter::from_fn(|| stack.pop()));
        held.sort_unstable();
        assert_eq!(held, [0, 1, 2]);
    });
}
