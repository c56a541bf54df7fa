//! Comparison of all implementations with a model of two plain numbers, for every operation on
//! every count near 0, near half of the range and near its end.

use super::{Release, masked, split32};
use crate::platform::sync::is_single_threaded;
use core::cell::UnsafeCell;
use std::format;
use std::vec::Vec;

#[cfg(target_has_atomic = "64")]
use super::atomic64;

/// A count word aligned to 8 as in objects, which 32-bit x86 does not guarantee for a `u64`.
#[repr(align(8))]
struct Word(UnsafeCell<u64>);

/// Counts of one half: near 0, near half of the range, near its end.
fn near_limits() -> Vec<u32> {
    let half = 1 << 31;
    let parts = [0..=4, half - 3..=half + 2, u32::MAX - 4..=u32::MAX];
    parts.into_iter().flatten().collect()
}

/// Result of an operation on a strong and a weak count.
type Outcome = (Option<Release>, Option<bool>, Option<u32>, u32, u32);

/// An operation: its name, its result by the model, or `None` if it may not be called with these
/// counts, and its implementation.
type Operation<C> = (&'static str, fn(u32, u32) -> Option<Outcome>, fn(&C) -> Outcome);

fn released(strong: u32, weak: u32) -> Option<Outcome> {
    let outcome = match (strong, weak) {
        (0, _) | (_, 0) => return None,
        (1, 1) => Release::Both,
        (1, _) => Release::StrongOnly,
        _ => Release::Alive,
    };
    Some((Some(outcome), None, None, strong - 1, weak))
}

macro_rules! test_limits {
    ($name:ident, $counts:ty) => {
        #[test]
        fn $name() {
            let operations: &[Operation<$counts>] = &[
                (
                    "retain",
                    |strong, weak| Some((None, None, None, strong.checked_add(1)?, weak)),
                    |counts| {
                        counts.retain();
                        (None, None, None, counts.strong_count(), counts.weak_count())
                    },
                ),
                (
                    "try_release_shared",
                    // What it does in a process with one thread, `tests/single_threaded.rs` checks.
                    |strong, weak| {
                        (strong > 0 && !is_single_threaded()).then_some((
                            None,
                            Some(false),
                            None,
                            strong,
                            weak,
                        ))
                    },
                    |counts| {
                        let has_released = counts.try_release_shared();
                        (None, Some(has_released), None, counts.strong_count(), counts.weak_count())
                    },
                ),
                ("release", released, |counts| {
                    (Some(counts.release()), None, None, counts.strong_count(), counts.weak_count())
                }),
                ("release_contended", released, |counts| {
                    let outcome = counts.release_contended(false);
                    (Some(outcome), None, None, counts.strong_count(), counts.weak_count())
                }),
                ("release_contended, one thread", released, |counts| {
                    let outcome = counts.release_contended(true);
                    (Some(outcome), None, None, counts.strong_count(), counts.weak_count())
                }),
                ("release_relaxed", released_relaxed, |counts| {
                    let left = counts.release_relaxed(0);
                    (None, None, Some(left), counts.strong_count(), counts.weak_count())
                }),
                (
                    "release_relaxed, weak",
                    |strong, weak| {
                        Some((None, None, Some(weak.checked_sub(1)?), strong, weak.checked_sub(1)?))
                    },
                    |counts| {
                        let left = counts.release_relaxed(1);
                        (None, None, Some(left), counts.strong_count(), counts.weak_count())
                    },
                ),
                (
                    "retain_weak",
                    |strong, weak| Some((None, None, None, strong, weak.checked_add(1)?)),
                    |counts| {
                        counts.retain_weak();
                        (None, None, None, counts.strong_count(), counts.weak_count())
                    },
                ),
                (
                    "release_weak",
                    // Strong references hold a weak one, which is not the caller's.
                    |strong, weak| match weak.checked_sub(1)? {
                        0 if strong > 0 => None,
                        left => Some((None, Some(left == 0), None, strong, left)),
                    },
                    |counts| {
                        let is_over = counts.release_weak();
                        (None, Some(is_over), None, counts.strong_count(), counts.weak_count())
                    },
                ),
                (
                    "try_upgrade",
                    |strong, weak| match strong {
                        0 => Some((None, Some(false), None, 0, weak)),
                        _ => Some((None, Some(true), None, strong.checked_add(1)?, weak)),
                    },
                    |counts| {
                        let is_alive = counts.try_upgrade();
                        (None, Some(is_alive), None, counts.strong_count(), counts.weak_count())
                    },
                ),
                (
                    "is_unique",
                    |strong, weak| Some((None, Some((strong, weak) == (1, 1)), None, strong, weak)),
                    |counts| {
                        let is_unique = counts.is_unique();
                        (None, Some(is_unique), None, counts.strong_count(), counts.weak_count())
                    },
                ),
            ];
            let mut tried = 0;
            for strong in near_limits() {
                for weak in near_limits() {
                    for (name, model, operate) in operations {
                        let Some(expected) = model(strong, weak) else { continue };
                        let Word(word) =
                            &Word(UnsafeCell::new(u64::from(weak) << 32 | u64::from(strong)));
                        // SAFETY: the word is 8 bytes, aligned, and only used here.
                        let found = operate(unsafe { &*word.get().cast::<$counts>() });
                        assert_eq!(
                            found,
                            expected,
                            "{}",
                            format!("{name} of {strong:#x}, {weak:#x}")
                        );
                        tried += 1;
                    }
                }
            }
            assert!(tried > 2_000, "{tried}");
        }
    };
}

fn released_relaxed(strong: u32, weak: u32) -> Option<Outcome> {
    let left = strong.checked_sub(1)?;
    Some((None, None, Some(left), left, weak))
}

#[cfg(target_has_atomic = "64")]
test_limits!(one_atomic_word_is_exact_at_its_limits, atomic64::Counts);
test_limits!(two_atomic_halves_are_exact_at_their_limits, split32::Counts);
test_limits!(masked_halves_are_exact_at_their_limits, masked::Counts);
