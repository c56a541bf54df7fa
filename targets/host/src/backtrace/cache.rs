//! Cache of unwinding rules and backtrace lines, by code address.
//!
//! Each thread has its own cache, so that threads that raise errors do not contend, and no lock can
//! be held when the process forks.

use core::ops::Range;

use ferrite_core::platform::memory::Buffer;

use super::limit::DEFAULT_LIMIT;
use super::stack::Rule;

/// Number of slots of the hash table: a power of two. At most three quarters are used.
const SLOTS: usize = 1024;

/// Number of bytes of text at which the cache is full.
const TEXT_BYTES: usize = 512 << 10;

const _: () = assert!(
    MOST_USED > DEFAULT_LIMIT,
    "the longest backtrace is cached, unless a user wants longer ones"
);

/// Number of used slots at which the cache is full.
const MOST_USED: usize = SLOTS / 4 * 3;

/// One line of a backtrace, without text if the frame is not shown.
#[derive(Clone)]
pub(super) struct Line {
    /// Whether the frame is a language boundary, at which backtraces end unless they cross
    /// boundaries.
    pub boundary: bool,
    /// Range of the line in `Cache::text`; empty if the frame is not shown.
    pub text: Range<usize>,
}

#[derive(Clone, Copy)]
struct Slot {
    /// Return address; zero in a free slot.
    pc: usize,
    #[cfg_attr(
        not(all(target_os = "linux", target_arch = "x86_64")),
        expect(dead_code, reason = "the system's unwinder keeps its own rules")
    )]
    rule: Option<Rule>,
    lines: Option<(usize, usize)>,
}

const FREE: Slot = Slot { pc: 0, rule: None, lines: None };

/// Hash table with open addressing that maps return addresses to unwinding rules and backtrace
/// lines.
pub(super) struct Cache {
    generation: Option<[u64; 2]>,
    slots: Buffer<Slot>,
    used: usize,
    lines: Buffer<Line>,
    text: Buffer<u8>,
}

impl Cache {
    pub(super) const fn new() -> Cache {
        Cache {
            generation: None,
            slots: Buffer::new(),
            used: 0,
            lines: Buffer::new(),
            text: Buffer::new(),
        }
    }

    /// Clears the cache if it is full or the set of loaded modules has changed since `generation`.
    pub(super) fn refresh(&mut self, generation: Option<[u64; 2]>) {
        if generation.is_none() || self.generation != generation || self.is_full() {
            self.slots.iter_mut().for_each(|slot| *slot = FREE);
            self.used = 0;
            self.lines.clear();
            self.text.clear();
            self.generation = generation;
        }
    }

    fn is_full(&self) -> bool {
        self.used > MOST_USED || self.text.len() > TEXT_BYTES
    }

    /// Returns the unwinding rule for an address. On a cache miss, computes it with `find`.
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    pub(super) fn rule(&mut self, pc: usize, find: impl FnOnce() -> Rule) -> Rule {
        if let Some(Slot { rule: Some(rule), .. }) = self.slot(pc) {
            return *rule;
        }
        let rule = find();
        if let Some(slot) = self.slot_to_fill(pc) {
            slot.rule = Some(rule);
        }
        rule
    }

    /// Returns the lines for an address, as indices for [`Cache::line`]. On a cache miss, computes
    /// them with `find`.
    ///
    /// The range is empty when out of memory.
    pub(super) fn lines(&mut self, pc: usize, find: impl FnOnce(&mut Cache)) -> Range<usize> {
        if let Some(Slot { lines: Some((first, last)), .. }) = self.slot(pc) {
            return *first..*last;
        }
        let first = self.lines.len();
        find(self);
        let last = self.lines.len();
        if let Some(slot) = self.slot_to_fill(pc) {
            slot.lines = Some((first, last));
        }
        first..last
    }

    /// Returns the line at an index: whether it is a language boundary, and its text. Returns
    /// `None` if the index is out of range.
    pub(super) fn line(&self, at: usize) -> Option<(bool, &[u8])> {
        let line = self.lines.get(at)?;
        Some((line.boundary, self.text.get(line.text.clone())?))
    }

    /// Adds a line with the text that `write` passes to its sink.
    pub(super) fn add_line(&mut self, boundary: bool, write: impl FnOnce(&mut dyn FnMut(&[u8]))) {
        let start = self.text.len();
        let mut fits = true;
        write(&mut |piece| fits = fits && self.text.try_extend_from_slice(piece).is_ok());
        if !fits {
            // A truncated line would mislead.
            self.text.truncate(start);
        }
        let _ = self.lines.try_push(Line { boundary, text: start..self.text.len() });
    }

    fn slot(&mut self, pc: usize) -> Option<&mut Slot> {
        let at = self.position(pc)?;
        self.slots.get_mut(at).filter(|slot| slot.pc == pc)
    }

    /// Returns the slot of an address, or claims a free slot for it. Returns `None` if the cache is
    /// full or when out of memory.
    fn slot_to_fill(&mut self, pc: usize) -> Option<&mut Slot> {
        if self.slots.is_empty() {
            self.slots.try_resize(SLOTS, FREE).ok()?;
        }
        if self.is_full() {
            return self.slot(pc);
        }
        let at = self.position(pc)?;
        let slot = self.slots.get_mut(at)?;
        self.used += usize::from(slot.pc == 0);
        slot.pc = pc;
        Some(slot)
    }

    /// Finds the slot of an address, or the free slot in which it would be stored, by linear
    /// probing.
    fn position(&self, pc: usize) -> Option<usize> {
        let start = pc.wrapping_mul(0x9e37_79b9) >> 8;
        (0..SLOTS)
            .map(|step| start.wrapping_add(step) % SLOTS)
            .find(|at| self.slots.get(*at).is_some_and(|slot| slot.pc == pc || slot.pc == 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(cache: &Cache, lines: Range<usize>) -> std::vec::Vec<(bool, &[u8])> {
        lines.filter_map(|at| cache.line(at)).collect()
    }

    #[test]
    fn lines_are_computed_once() {
        let mut cache = Cache::new();
        cache.refresh(Some([1, 0]));
        for round in 0..2 {
            let mut asked = false;
            let lines = cache.lines(40, |cache| {
                asked = true;
                cache.add_line(false, |sink| sink(b"one\n"));
                cache.add_line(true, |_| ());
            });
            assert_eq!(asked, round == 0);
            assert_eq!(show(&cache, lines), [(false, &b"one\n"[..]), (true, b"")]);
        }
    }

    #[test]
    fn loading_a_module_clears_the_cache() {
        let mut cache = Cache::new();
        for generation in [Some([1, 0]), Some([1, 1]), None, None] {
            cache.refresh(generation);
            let mut asked = false;
            cache.lines(40, |_| asked = true);
            assert!(asked);
        }
    }

    #[test]
    fn a_long_backtrace_with_long_lines_is_cached() {
        let mut cache = Cache::new();
        for round in 0..2 {
            cache.refresh(Some([1, 0]));
            let mut asked = 0;
            for pc in 1..=DEFAULT_LIMIT {
                cache.lines(pc, |cache| {
                    asked += 1;
                    cache.add_line(false, |sink| sink(&[b'-'; 800]));
                });
            }
            assert_eq!(asked, if round == 0 { DEFAULT_LIMIT } else { 0 });
        }
    }

    #[test]
    fn more_addresses_than_slots_are_not_cached() {
        let mut cache = Cache::new();
        cache.refresh(Some([1, 0]));
        for pc in 1..=2 * SLOTS {
            let lines =
                cache.lines(pc, |cache| cache.add_line(false, |sink| sink(&pc.to_ne_bytes())));
            assert_eq!(show(&cache, lines), [(false, &pc.to_ne_bytes()[..])]);
        }
        assert!(cache.is_full());
        cache.refresh(Some([1, 0]));
        assert_eq!(cache.used, 0);
    }
}
