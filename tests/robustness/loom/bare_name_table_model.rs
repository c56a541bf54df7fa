//! Models of the name table of bare metal, whose readers may be interrupt handlers: they see either
//! complete entries or none.
//!
//! Threads stand for the handlers, which can do less. Readers are the spawned threads, as in
//! `name_table_model.rs`.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use crate::names::name_table::bare;

/// A value whose accesses loom watches: reading one that is not published in order fails the model.
struct Watched(UnsafeCell<usize>);

// SAFETY: the value is only written before it is published, which loom checks.
unsafe impl Sync for Watched {}

impl Watched {
    fn new(value: usize) -> Watched {
        Watched(UnsafeCell::new(value))
    }

    fn get(&self) -> usize {
        // SAFETY: loom checks that the value is complete.
        self.0.with(|value| unsafe { *value })
    }
}

type Table = bare::Table<Watched>;

fn insert(table: &Table, name: &[u8], value: usize) -> usize {
    table.insert(name, Watched::new(value)).get()
}

fn get(table: &Table, name: &[u8]) -> Option<usize> {
    table.get(name).map(Watched::get)
}

#[test]
fn one_of_two_threads_makes_a_name() {
    loom::model(|| {
        let table = Arc::new(Table::new());
        let theirs = table.clone();
        let thread = thread::spawn(move || insert(&theirs, b"name", 1));
        let mine = insert(&table, b"name", 2);
        assert_eq!(thread.join().unwrap(), mine);
        assert_eq!(get(&table, b"name"), Some(mine));
    });
}

/// The second name hangs on a branch of the first.
#[test]
fn a_reader_sees_whole_entries() {
    loom::model(|| {
        let table = Arc::new(Table::new());
        let theirs = table.clone();
        let reader = thread::spawn(move || {
            let second = get(&theirs, b"second");
            (get(&theirs, b"first"), second)
        });
        insert(&table, b"first", 1);
        insert(&table, b"second", 2);
        let seen = reader.join().unwrap();
        assert!(matches!(seen, (None | Some(1), None) | (Some(1), Some(2))), "{seen:?}");
        assert_eq!((get(&table, b"first"), get(&table, b"second")), (Some(1), Some(2)));
    });
}

#[test]
fn a_walk_sees_a_prefix_of_the_insertions() {
    loom::model(|| {
        let table = Arc::new(Table::new());
        let theirs = table.clone();
        let walker = thread::spawn(move || {
            let mut seen = 0;
            theirs.for_each(|value| {
                assert_eq!(value.get(), seen);
                seen += 1;
            });
        });
        insert(&table, b"a", 0);
        insert(&table, b"b", 1);
        walker.join().unwrap();
    });
}
