//! Sorting in place in a hundred bytes of code, where `core`'s takes three thousand.
#![forbid(unsafe_code)]

use core::cell::Cell;

/// Sorts values of which equal ones are the same.
pub fn sort<T: Ord + Copy>(values: &mut [T]) {
    for root in (0..values.len() / 2).rev() {
        sink(values, root);
    }
    let mut unsorted = values;
    while let Some(last) = unsorted.len().checked_sub(1) {
        exchange(unsorted, 0, last);
        let Some(rest) = unsorted.get_mut(..last) else { break };
        sink(rest, 0);
        unsorted = rest;
    }
}

/// Moves a value of a heap down until no child is larger.
fn sink<T: Ord + Copy>(heap: &mut [T], mut at: usize) {
    while let Some([left, rest @ ..]) = heap.get(2 * at + 1..) {
        let is_right_larger = rest.first().is_some_and(|right| right > left);
        let child = 2 * at + 1 + usize::from(is_right_larger);
        if heap.get(child) <= heap.get(at) {
            break;
        }
        exchange(heap, at, child);
        at = child;
    }
}

/// Exchanges two values; `swap` of slices brings a panic with a message.
fn exchange<T: Copy>(values: &mut [T], one: usize, other: usize) {
    let values = Cell::from_mut(values).as_slice_of_cells();
    if let (Some(one), Some(other)) = (values.get(one), values.get(other)) {
        one.set(other.replace(one.get()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_sorted_whatever_their_order() {
        for len in 0..40u64 {
            for factor in [1, 7, 13, 29] {
                let mut values: std::vec::Vec<_> = (0..len).map(|at| (at * factor % 31, at % 3)).collect();
                let mut expected = values.clone();
                expected.sort_unstable();
                sort(&mut values);
                assert_eq!(values, expected);
            }
        }
    }
}
