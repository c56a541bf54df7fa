//! First-fit free list of a memory block. Adjacent free ranges are merged when a range is freed.
#![forbid(unsafe_code)]

use core::ops::Range;

use ferrite_core::platform::memory::Buffer;

/// A memory block divided into ranges.
pub(super) struct Spans {
    /// Free ranges, sorted and never adjacent.
    free: Buffer<Range<u64>>,
    bytes: u64,
    /// Number of used ranges.
    used: usize,
}

impl Spans {
    /// Creates a block with `bytes` free bytes. Returns `None` if the list cannot be allocated.
    pub(super) fn new(bytes: u64) -> Option<Spans> {
        let mut free = Buffer::new();
        free.reserve_silently(1).ok()?;
        free.try_push(0..bytes).ok()?;
        Some(Spans { free, bytes, used: 0 })
    }

    /// Returns `true` if no range is in use.
    pub(super) fn is_unused(&self) -> bool {
        self.used == 0
    }

    /// Allocates a range whose start is a multiple of `alignment`. Returns `None` if no free range
    /// is large enough, or if the list cannot grow.
    pub(super) fn allocate(&mut self, bytes: u64, alignment: u64) -> Option<u64> {
        // There is at most one more free range than used ranges. Reserving for that here lets every
        // later release succeed.
        let most = self.used + 3;
        self.free.reserve_silently(most.saturating_sub(self.free.len())).ok()?;
        let fits = |part: &Range<u64>| {
            let start = part.start.checked_next_multiple_of(alignment)?;
            (start.checked_add(bytes)? <= part.end).then_some(start)
        };
        let (index, start) =
            self.free.iter().enumerate().find_map(|(index, part)| Some((index, fits(part)?)))?;
        let part = self.free[index].clone();
        let (before, after) = (part.start..start, start + bytes..part.end);
        match (before.is_empty(), after.is_empty()) {
            (true, true) => drop(self.free.remove(index)),
            (true, false) => self.free.as_mut_slice()[index] = after,
            (false, true) => self.free.as_mut_slice()[index] = before,
            (false, false) => {
                self.free.as_mut_slice()[index] = before;
                self.insert(index + 1, after);
            }
        }
        self.used += 1;
        Some(start)
    }

    /// Frees a range.
    pub(super) fn release(&mut self, start: u64, bytes: u64) {
        self.used -= 1;
        let end = start + bytes;
        debug_assert!(end <= self.bytes);
        let index = self.free.iter().position(|part| part.start > start).unwrap_or(self.free.len());
        let joins_before = index > 0 && self.free[index - 1].end == start;
        let joins_after = index < self.free.len() && self.free[index].start == end;
        let free = self.free.as_mut_slice();
        match (joins_before, joins_after) {
            (true, true) => {
                free[index - 1].end = free[index].end;
                self.free.remove(index);
            }
            (true, false) => free[index - 1].end = end,
            (false, true) => free[index].start = start,
            (false, false) => self.insert(index, start..end),
        }
    }

    /// Inserts a free range. [`allocate`](Self::allocate) has reserved the capacity.
    fn insert(&mut self, index: usize, part: Range<u64>) {
        if self.free.try_push(part).is_ok() {
            self.free.as_mut_slice()[index..].rotate_right(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_aligned_and_do_not_overlap() {
        let mut spans = Spans::new(1000).unwrap();
        assert_eq!(spans.allocate(10, 1), Some(0));
        assert_eq!(spans.allocate(10, 64), Some(64));
        assert_eq!(spans.allocate(20, 1), Some(10), "the gap is used");
        assert_eq!(spans.allocate(900, 16), Some(80));
        assert_eq!(spans.allocate(35, 1), None);
        assert_eq!(spans.allocate(u64::MAX, 64), None);
        assert_eq!(spans.allocate(34, 1), Some(30));
    }

    #[test]
    fn freed_neighbours_are_joined() {
        // In any order of freeing, the whole block becomes free again.
        let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        for order in orders {
            let mut spans = Spans::new(300).unwrap();
            let parts = [(); 3].map(|()| spans.allocate(100, 4).unwrap());
            assert_eq!(parts, [0, 100, 200]);
            assert!(spans.allocate(1, 1).is_none() && !spans.is_unused());
            for each in order {
                spans.release(parts[each], 100);
            }
            assert!(spans.is_unused());
            assert_eq!((spans.free.len(), spans.free[0].clone()), (1, 0..300));
        }
    }

    #[test]
    fn freeing_needs_no_memory() {
        let mut spans = Spans::new(1 << 20).unwrap();
        let parts: std::vec::Vec<_> = (0..1000).map(|_| spans.allocate(64, 64).unwrap()).collect();
        let capacity = spans.free.capacity();
        // Freeing every second range gives the maximum number of free ranges.
        for pass in 0..2 {
            parts.iter().skip(pass).step_by(2).for_each(|part| spans.release(*part, 64));
        }
        assert_eq!(spans.free.capacity(), capacity);
        assert_eq!((spans.free.len(), spans.free[0].clone()), (1, 0..1 << 20));
    }
}
