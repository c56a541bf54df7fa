//! Sorting in place, as fast as `core` can.
#![forbid(unsafe_code)]

/// Sorts values of which equal ones are the same.
pub fn sort<T: Ord + Copy>(values: &mut [T]) {
    values.sort_unstable();
}
