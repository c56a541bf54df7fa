//! Comb sort, for size-optimised builds: about 60 bytes of code instead of 3,000 for the standard
//! library's sort. Rare inputs take quadratic time.
#![forbid(unsafe_code)]

use core::cell::Cell;

/// Sorts a slice in place, by exchanging elements at a distance that shrinks to 1. Does not
/// allocate.
pub fn sort<T: Ord + Copy>(values: &mut [T]) {
    let values = Cell::from_mut(values).as_slice_of_cells();
    let mut distance = values.len();
    let mut is_sorted = false;
    while !is_sorted {
        // Shrink factor and termination are those of Lacey and Box.
        distance = (distance * 10 / 13).max(1);
        is_sorted = distance == 1;
        let ahead = values.get(distance..).unwrap_or_default();
        for (value, other) in values.iter().zip(ahead) {
            if value.get() > other.get() {
                value.set(other.replace(value.get()));
                is_sorted = false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_sorted_whatever_their_order() {
        for len in 0..40u64 {
            for factor in [1, 7, 13, 29] {
                let mut values: std::vec::Vec<_> =
                    (0..len).map(|at| (at * factor % 31, at % 3)).collect();
                let mut expected = values.clone();
                expected.sort_unstable();
                sort(&mut values);
                assert_eq!(values, expected);
            }
        }
    }
}
