//! Models of the global function table's slots: a reader retains only live functions, and a replaced function is released once.

use std::ptr::NonNull;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use crate::shared_pointer::SharedPointer;

/// A function with a reference count of its own. The model detects a retain after its destruction.
struct Function {
    references: AtomicUsize,
}

impl Function {
    fn new() -> *mut Function {
        Box::into_raw(Box::new(Function { references: AtomicUsize::new(1) }))
    }

    fn retain(&self) {
        assert_ne!(self.references.fetch_add(1, Ordering::Relaxed), 0, "retained after its end");
    }

    /// Releases a reference. The memory stays allocated until the end of the model, so that assertions detect late accesses.
    fn release(&self) {
        assert_ne!(self.references.fetch_sub(1, Ordering::AcqRel), 0, "released twice");
    }
}

struct Table {
    slot: SharedPointer<Function>,
    first: *mut Function,
    second: *mut Function,
}

// SAFETY: the functions live as long as the table and are made of atomics.
unsafe impl Send for Table {}
// SAFETY: as above.
unsafe impl Sync for Table {}

impl Table {
    fn new() -> Arc<Table> {
        let (first, second) = (Function::new(), Function::new());
        Arc::new(Table { slot: SharedPointer::new(first), first, second })
    }

    fn read(&self) {
        // SAFETY: functions live as long as the table.
        let seen = self.slot.load(|function| unsafe { function.as_ref().retain() });
        let seen = seen.map(NonNull::as_ptr).unwrap();
        assert!(seen == self.first || seen == self.second);
        // SAFETY: as above.
        unsafe { (*seen).release() };
    }

    /// Replaces the first function; returns `true` if it could be released immediately.
    fn replace(&self) -> bool {
        assert_eq!(self.slot.exchange(self.second), self.first);
        let quiet = self.slot.is_quiescent();
        if quiet {
            // SAFETY: functions live as long as the table.
            unsafe { (*self.first).release() };
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
        // SAFETY: functions live as long as the table.
        let left = unsafe { (*table.first).references.load(Ordering::Acquire) };
        assert_eq!(left, usize::from(!released));
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
                *retired = Some(table.slot.exchange(table.second) as usize);
            })
        };
        if retired.lock().unwrap().is_some() && table.slot.is_quiescent() {
            // SAFETY: functions live as long as the table.
            unsafe { (*table.first).release() };
        }
        reader.join().unwrap();
        writer.join().unwrap();
    });
}
