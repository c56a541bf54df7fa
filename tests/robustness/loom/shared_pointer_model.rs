//! Models of the global function table's slots: a reader retains only live functions, and a
//! replaced function is released once.

use std::ptr::{self, NonNull};

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use crate::shared_pointer::SharedPointer;

/// A function with a reference count of its own. The model detects a retain after its destruction.
struct Function {
    references: AtomicUsize,
    /// Written by the creator and by the destructor, read by users. Loom checks that they are
    /// ordered.
    content: UnsafeCell<bool>,
}

impl Function {
    /// Allocates a function that is not created yet.
    fn allocate() -> *mut Function {
        Box::into_raw(Box::new(Function {
            references: AtomicUsize::new(0),
            content: UnsafeCell::new(false),
        }))
    }

    fn create(&self) {
        self.references.store(1, Ordering::Relaxed);
        self.write(true);
    }

    fn retain(&self) {
        self.read();
        assert_ne!(self.references.fetch_add(1, Ordering::Relaxed), 0, "retained after its end");
    }

    /// Releases a reference. The memory stays allocated until the end of the model, so that
    /// assertions detect late accesses.
    fn release(&self) {
        match self.references.fetch_sub(1, Ordering::AcqRel) {
            0 => panic!("released twice"),
            1 => self.write(false),
            _ => {}
        }
    }

    fn read(&self) {
        // SAFETY: loom checks for concurrent writes.
        assert!(self.content.with(|content| unsafe { *content }), "read before or after its life");
    }

    fn write(&self, is_alive: bool) {
        // SAFETY: loom checks for concurrent accesses.
        self.content.with_mut(|content| unsafe { *content = is_alive });
    }
}

/// A slot with its first function, and the one that replaces it.
struct Table {
    slot: SharedPointer<Function>,
    first: *mut Function,
    second: *mut Function,
}

// SAFETY: the functions live as long as the table; loom checks the accesses to their content.
unsafe impl Send for Table {}
// SAFETY: as above.
unsafe impl Sync for Table {}

impl Table {
    fn new() -> Arc<Table> {
        let (first, second) = (Function::allocate(), Function::allocate());
        let table = Table { slot: SharedPointer::new(first), first, second };
        table.first().create();
        Arc::new(table)
    }

    fn first(&self) -> &Function {
        // SAFETY: functions live as long as the table.
        unsafe { &*self.first }
    }

    fn second(&self) -> &Function {
        // SAFETY: as above.
        unsafe { &*self.second }
    }

    fn read(&self) {
        // SAFETY: functions live as long as the table.
        let seen = self.slot.load(|function| unsafe { function.as_ref().retain() });
        let seen = seen.map(NonNull::as_ptr).unwrap();
        assert!(seen == self.first || seen == self.second);
        // SAFETY: as above.
        let seen = unsafe { &*seen };
        seen.read();
        seen.release();
    }

    /// Creates the second function and puts it in the slot. Returns the previous pointer.
    fn exchange(&self) -> *mut Function {
        self.second().create();
        self.slot.exchange(self.second)
    }

    /// Replaces the first function; returns `true` if it could be released immediately.
    fn replace(&self) -> bool {
        assert_eq!(self.exchange(), self.first);
        let quiet = self.slot.is_quiescent();
        if quiet {
            self.first().release();
        }
        quiet
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        for function in [self.first, self.second] {
            // SAFETY: the table created both and is their last user.
            drop(unsafe { Box::from_raw(function) });
        }
    }
}

#[test]
fn readers_retain_what_is_alive() {
    loom::model(|| {
        let table = Table::new();
        let reader = |table: &Arc<Table>| {
            let table = table.clone();
            thread::spawn(move || table.read())
        };
        let readers = [reader(&table), reader(&table)];
        let released = table.replace();
        for reader in readers {
            reader.join().unwrap();
        }
        // Without readers, nothing keeps the old function alive.
        assert!(table.slot.is_quiescent());
        assert_eq!(table.first().references.load(Ordering::Acquire), usize::from(!released));
    });
}

/// The reader leaves no trace in the target: only the count of readers orders its end after them.
#[test]
fn a_target_stays_alive_until_its_reader_returns() {
    loom::model(|| {
        let table = Table::new();
        let reader = {
            let table = table.clone();
            thread::spawn(move || {
                // SAFETY: functions live as long as the table.
                table.slot.load(|function| unsafe { function.as_ref().read() });
            })
        };
        table.replace();
        reader.join().unwrap();
    });
}

#[test]
fn each_of_two_writers_owns_what_it_took() {
    loom::model(|| {
        let table = Table::new();
        let writer = {
            let table = table.clone();
            thread::spawn(move || table.exchange() as usize)
        };
        let taken = table.slot.exchange(ptr::null_mut());
        // SAFETY: functions live as long as the table.
        unsafe { (*taken).release() };
        let taken_there = writer.join().unwrap() as *mut Function;
        if taken == table.first {
            assert!(taken_there.is_null() && table.slot.is_set());
        } else {
            assert_eq!((taken, taken_there), (table.second, table.first));
            assert!(!table.slot.is_set());
        }
    });
}

#[test]
fn a_third_thread_may_release_what_another_replaced() {
    loom::model(|| {
        let table = Table::new();
        let retired = Arc::new(loom::sync::Mutex::new(None));
        let reader = {
            let table = table.clone();
            thread::spawn(move || table.read())
        };
        let writer = {
            let (table, retired) = (table.clone(), retired.clone());
            thread::spawn(move || {
                let mut retired = retired.lock().unwrap();
                *retired = Some(table.exchange() as usize);
            })
        };
        if retired.lock().unwrap().is_some() && table.slot.is_quiescent() {
            table.first().release();
        }
        reader.join().unwrap();
        writer.join().unwrap();
    });
}
