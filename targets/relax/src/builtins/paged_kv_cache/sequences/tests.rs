//! Tests of sequences, with copies of pages that only count or fail.

use super::*;
use core::cell::RefCell;
use std::vec::Vec;

const PAGE: i32 = 4;

/// Creates sequence 1 with a number of tokens, in a cache of four pages.
fn sequences(length: i32) -> Sequences {
    let mut sequences = Sequences::new(1, 4, PAGE).unwrap();
    let entry = sequences.add(1).unwrap();
    let (sequence, pool) = sequences.at_mut(entry);
    sequence.fill(pool, PAGE, length).unwrap();
    sequences
}

fn fails(_from: i32, _to: i32, _slots: i32) -> Result<()> {
    ferrite_core::plain_bail!(RUNTIME_ERROR, "the kernel failed")
}

fn pages(sequences: &Sequences, id: i64) -> &[i32] {
    sequences.get(id).unwrap().pages.as_slice()
}

#[test]
fn a_fork_shares_full_pages_and_copies_the_used_part_of_another() {
    let mut sequences = sequences(10);
    let copies = RefCell::new(Vec::new());
    let copy = |from, to, slots| {
        copies.borrow_mut().push((from, to, slots));
        Ok(())
    };
    sequences.fork(1, 2, 6, &copy).unwrap();
    assert_eq!((pages(&sequences, 1), pages(&sequences, 2)), (&[0, 1, 2][..], &[0, 3][..]));
    assert_eq!(copies.take(), [(1, 3, 2)]);
    assert_eq!((sequences.total_length(), sequences.pool.available()), (16, 0));
    sequences.remove(1).unwrap();
    assert_eq!(sequences.pool.available(), 2);
    sequences.remove(2).unwrap();
    assert!(sequences.pool.is_unused());
}

#[test]
fn a_fork_whose_copy_fails_changes_nothing() {
    let mut sequences = sequences(6);
    assert!(sequences.fork(1, 2, -1, &fails).is_err());
    assert_eq!((sequences.len(), sequences.pool.available()), (1, 2));
    assert!(sequences.get(2).is_err());
    sequences.fork(1, 2, 4, &fails).unwrap();
    assert_eq!(pages(&sequences, 2), [0]);
}

#[test]
fn a_shared_page_that_is_left_in_part_is_copied() {
    let mut sequences = sequences(8);
    sequences.fork(1, 2, -1, &fails).unwrap();
    assert!(sequences.shorten(2, 1, &fails).is_err());
    assert_eq!(pages(&sequences, 2), [0, 1]);
    sequences.shorten(2, 1, &|_, _, _| Ok(())).unwrap();
    assert_eq!((pages(&sequences, 1), pages(&sequences, 2)), (&[0, 1][..], &[0, 2][..]));
    sequences.shorten(2, 3, &fails).unwrap();
    assert_eq!((pages(&sequences, 2), sequences.pool.available()), (&[0][..], 2));
    // The page of a sequence alone is not copied.
    sequences.shorten(1, 2, &fails).unwrap();
    assert_eq!(sequences.get(1).unwrap().length, 6);
}

#[test]
fn a_fork_without_a_free_page_is_refused() {
    let mut sequences = sequences(14);
    let error = sequences.fork(1, 2, -1, &fails).unwrap_err();
    let text = "Check failed: (!free_page_ids_.empty()) is false: The KV cache is full. No page can be allocated.";
    assert_eq!(error.message_bytes(), text.as_bytes());
    assert_eq!((sequences.len(), sequences.pool.available()), (1, 0));
}

#[test]
fn ids_of_removed_sequences_can_be_used_again() {
    let mut sequences = Sequences::new(1, 1, PAGE).unwrap();
    let ids = [i64::MIN, -1, 0, 1, i64::MAX];
    for _ in 0..3 {
        for id in (0..300).chain(ids.map(|id| id ^ 1 << 40)) {
            sequences.add(id).unwrap();
            assert!(sequences.add(id).is_err());
        }
        assert_eq!(sequences.len(), 305);
        for id in (0..300).rev().chain(ids.map(|id| id ^ 1 << 40)) {
            sequences.remove(id).unwrap();
            assert!(sequences.remove(id).is_err());
        }
    }
    assert_eq!((sequences.len(), sequences.entries.len()), (0, 305));
}
