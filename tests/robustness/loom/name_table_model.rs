//! Models of the name table: one entry per name, and readers see either complete entries or none.
//!
//! Readers are the spawned threads: loom runs the writer first, and then returns to every store
//! before which a reader's load could have come.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use crate::names::name_table::NameTable;

/// A value whose accesses loom watches: reading one that is not published in order fails the model.
struct Watched(UnsafeCell<usize>);

// SAFETY: the value is only written before it is published, which loom checks.
unsafe impl Sync for Watched {}

impl Watched {
    fn get(&self) -> usize {
        // SAFETY: loom checks that the value is complete.
        self.0.with(|value| unsafe { *value })
    }
}

type Table = Arc<NameTable<Watched>>;

fn table() -> Table {
    Arc::new(NameTable::new())
}

fn insert(table: &Table, name: &[u8], value: usize) -> bool {
    let mut made = false;
    let make = || {
        made = true;
        Watched(UnsafeCell::new(value))
    };
    let entry = table.get_or_insert(name, make).unwrap();
    assert!(entry.value.get() == value || !made);
    made
}

fn get(table: &Table, name: &[u8]) -> Option<usize> {
    table.get(name).map(|entry| {
        assert_eq!(entry.name(), name);
        entry.value.get()
    })
}

#[test]
fn one_of_two_threads_makes_a_name() {
    loom::model(|| {
        let table = table();
        let theirs = table.clone();
        let thread = thread::spawn(move || insert(&theirs, b"name", 1));
        let made = insert(&table, b"name", 2);
        assert_ne!(thread.join().unwrap(), made);
        assert_eq!(get(&table, b"name"), Some(if made { 2 } else { 1 }));
        assert_eq!(table.len(), 1);
    });
}

#[test]
fn a_reader_sees_whole_entries() {
    loom::model(|| {
        let table = table();
        let theirs = table.clone();
        let reader = thread::spawn(move || get(&theirs, b"first"));
        insert(&table, b"first", 1);
        assert!(matches!(reader.join().unwrap(), None | Some(1)));
    });
}

#[test]
fn a_reader_misses_nothing_while_the_index_grows() {
    loom::model(|| {
        let table = table();
        insert(&table, b"first", 1);
        let theirs = table.clone();
        let reader = thread::spawn(move || {
            let third = get(&theirs, b"third");
            let second = get(&theirs, b"second");
            assert_eq!(get(&theirs, b"first"), Some(1));
            (second, third)
        });
        insert(&table, b"second", 2);
        insert(&table, b"third", 3);
        let seen = reader.join().unwrap();
        assert!(matches!(seen, (None | Some(2), None) | (Some(2), Some(3))), "{seen:?}");
        assert_eq!(
            (get(&table, b"first"), get(&table, b"third"), table.len()),
            (Some(1), Some(3), 3)
        );
    });
}

#[test]
fn a_walk_sees_a_prefix_of_the_insertions() {
    loom::model(|| {
        let table = table();
        let theirs = table.clone();
        let walker = thread::spawn(move || {
            let mut seen = 0;
            theirs.for_each(|entry| {
                assert_eq!(entry.value.get(), seen);
                seen += 1;
                true
            });
        });
        insert(&table, b"a", 0);
        insert(&table, b"b", 1);
        walker.join().unwrap();
    });
}

#[test]
fn two_threads_insert_different_names() {
    loom::model(|| {
        let table = table();
        let theirs = table.clone();
        let thread = thread::spawn(move || insert(&theirs, b"a", 1));
        assert!(insert(&table, b"b", 2));
        assert!(thread.join().unwrap());
        let mut sum = 0;
        table.for_each(|entry| {
            sum += entry.value.get();
            true
        });
        assert_eq!((sum, table.len()), (3, 2));
    });
}
