//! Names to values, read without a lock: what the type table and the global function table are made of.
//!
//! Entries are never moved, changed or freed, so a reader needs no protection. A hash leads to them: through an index on hosts,
//! where tables are large, and through the entries themselves on boards, where code is.
//!
//! ```text
//! table.places ~~hash~~> entry        entry
//!                          ^            ^
//! table.first -------------+ --next-----+       (in the order of insertion)
//! ```

#[cfg_attr(not(target_os = "none"), path = "name_table/index.rs")]
#[cfg_attr(target_os = "none", path = "name_table/branches.rs")]
mod places;
#[cfg(any(target_os = "none", test))]
#[path = "name_table/trie.rs"]
mod trie;

use core::alloc::Layout;
use core::cell::Cell;
use core::ptr::{self, NonNull};
use core::slice;

use crate::error::{Result, out_of_memory};
use crate::memory;
use crate::sync::atomic::{AtomicPtr, Ordering};
use crate::sync::{Lock, const_new};

use places::{Links, Places, Room};

/// A table of named values that only grows.
///
/// Ownership: owns its entries; they live as long as the table, that is for ever in a static. Threads: [`get`] and
/// [`for_each`] take no lock and may run anywhere, in interrupt handlers too; insertion takes the table's lock.
/// Allocation: insertion only.
///
/// [`get`]: NameTable::get
/// [`for_each`]: NameTable::for_each
pub struct NameTable<V> {
    places: Places<V>,
    first: AtomicPtr<Entry<V>>,
    /// The entry that was inserted last; held by whoever inserts.
    last: Lock<Last<V>>,
}

/// One name and its value.
pub struct Entry<V> {
    hash: usize,
    #[cfg_attr(not(target_os = "none"), expect(dead_code, reason = "an index needs nothing of entries"))]
    links: Links<V>,
    next: AtomicPtr<Entry<V>>,
    name: *const u8,
    name_len: usize,
    /// What the name stands for.
    pub value: V,
}

/// What a hash leads to when its name is to be inserted.
enum Place<'a, V> {
    /// The entry of the name.
    Taken(&'a Entry<V>),
    /// Room for it.
    Free(Room<'a, V>),
}

/// A pointer to an entry, which the lock may carry from thread to thread.
struct Last<V>(Cell<*mut Entry<V>>);

// SAFETY: entries go from thread to thread whenever a value may.
unsafe impl<V: Send> Send for Last<V> {}
// SAFETY: of the fields, `name` points into the entry's own block, which is never written again; `next` is atomic.
unsafe impl<V: Send> Send for Entry<V> {}
// SAFETY: as above.
unsafe impl<V: Sync> Sync for Entry<V> {}
// SAFETY: the pointers lead to entries, which readers share (`Sync`) and the last owner drops (`Send`), and to
// places, which are atomic.
unsafe impl<V: Send + Sync> Send for NameTable<V> {}
// SAFETY: as above.
unsafe impl<V: Send + Sync> Sync for NameTable<V> {}

impl<V> Entry<V> {
    /// Whether this is the entry of a name.
    #[inline]
    fn is_of(&self, name: &[u8], hash: usize) -> bool {
        self.hash == hash && is_same(self.name(), name)
    }

    /// The name.
    pub fn name(&self) -> &[u8] {
        // SAFETY: `fill` copied `name_len` bytes there, and they live and stay as long as the entry.
        unsafe { slice::from_raw_parts(self.name, self.name_len) }
    }

    /// The name for C: its address, where a NUL follows the last byte.
    pub fn name_ptr(&self) -> *const u8 {
        self.name
    }
}

impl<V> NameTable<V> {
    const_new! {
        /// An empty table, which owns no memory and is all zero bytes.
        pub fn new() -> Self {
            Self {
                places: Places::new(),
                first: AtomicPtr::new(ptr::null_mut()),
                last: Lock::new(Last(Cell::new(ptr::null_mut()))),
            }
        }
    }

    /// Number of entries, which are counted.
    pub fn len(&self) -> usize {
        let mut len = 0;
        self.for_each(|_| {
            len += 1;
            true
        });
        len
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.first.load(Ordering::Relaxed).is_null()
    }

    /// The entry of a name.
    #[inline]
    pub fn get(&self, name: &[u8]) -> Option<&Entry<V>> {
        self.places.find(name)
    }

    /// The entry of a name, made by `make` when there is none; and whether it was made.
    ///
    /// The table's lock is held while `make` runs: it must not insert into this table, nor run code of a user.
    ///
    /// # Errors
    /// `MemoryError` with the bytes of the entry, before which `make` is not run; the table is unchanged then.
    pub fn get_or_insert(&self, name: &[u8], make: impl FnOnce() -> V) -> Result<(&Entry<V>, bool)> {
        // The error is made, and an unused `make` dropped, when the lock is let go: both may run code of a user's allocator.
        let found = {
            let last = self.last.lock();
            match self.places.place(self, name) {
                Some(Place::Taken(entry)) => Some((entry, false)),
                Some(Place::Free(room)) => match Entry::<V>::allocate(name.len()) {
                    // SAFETY: the block is new, and for such a name.
                    Some(block) => unsafe {
                        let entry = Entry::fill(block, room.hash(), name, make());
                        Some((self.append(&last, room, entry), true))
                    },
                    None => None,
                },
                None => None,
            }
        };
        found.ok_or_else(|| out_of_memory(Entry::<V>::bytes(name.len())))
    }

    /// Calls `visit` for each entry in the order of insertion, until it gives false.
    ///
    /// No lock is held; entries that are inserted meanwhile may be visited.
    pub fn for_each<'a>(&'a self, mut visit: impl FnMut(&'a Entry<V>) -> bool) {
        let mut at = self.first.load(Ordering::Acquire);
        // SAFETY: every pointer was published after its entry was complete, and entries live as long as the table.
        while let Some(entry) = unsafe { at.as_ref() } {
            if !visit(entry) {
                return;
            }
            at = entry.next.load(Ordering::Acquire);
        }
    }

    /// Puts a new entry where there is room for it, and behind the last one.
    ///
    /// # Safety
    /// The entry is complete, and the table's from here on.
    unsafe fn append(&self, last: &Last<V>, room: Room<'_, V>, entry: NonNull<Entry<V>>) -> &Entry<V> {
        // SAFETY: the entry lives as long as the table; who has `last` holds the lock, so nobody else inserts. `last` is null or
        // an entry of this table.
        unsafe {
            room.put(entry);
            let link = last.0.get().as_ref().map_or(&self.first, |last| &last.next);
            link.store(entry.as_ptr(), Ordering::Release);
            last.0.set(entry.as_ptr());
            entry.as_ref()
        }
    }
}

impl<V> Default for NameTable<V> {
    fn default() -> Self {
        Self::new()
    }
}

/// For tables that are not static, as in tests.
impl<V> Drop for NameTable<V> {
    fn drop(&mut self) {
        let mut entry = self.first.load(Ordering::Relaxed);
        while let Some(gone) = NonNull::new(entry) {
            // SAFETY: the table goes away, so nobody looks at its entries any more; each is in the list once.
            entry = unsafe { Entry::free(gone) };
        }
    }
}

impl<V> Entry<V> {
    /// A block for an entry with a name of that length.
    fn allocate(name_len: usize) -> Option<NonNull<u8>> {
        memory::allocate(Layout::from_size_align(Self::bytes(name_len), align_of::<Self>()).ok()?)
    }

    /// Makes an entry in a block, with the name and a NUL behind it.
    ///
    /// # Safety
    /// The block came from [`allocate`](Self::allocate), for a name of that length, and nobody uses it.
    unsafe fn fill(block: NonNull<u8>, hash: usize, name: &[u8], value: V) -> NonNull<Self> {
        let entry = block.cast::<Self>();
        // SAFETY: the block has room for an entry, the name and a NUL, and is nobody else's yet.
        unsafe {
            let text = entry.add(1).cast::<u8>();
            text.copy_from_nonoverlapping(NonNull::from(name).cast(), name.len());
            text.add(name.len()).write(0);
            let next = AtomicPtr::new(ptr::null_mut());
            let links = Links::new();
            entry.write(Self { hash, links, next, name: text.as_ptr(), name_len: name.len(), value });
        }
        entry
    }

    /// Bytes of a block: the entry, the name and a NUL.
    fn bytes(name_len: usize) -> usize {
        // No text has more than half of all addresses.
        size_of::<Self>() + name_len + 1
    }

    /// The layout of a block that was allocated.
    fn layout(name_len: usize) -> Layout {
        // SAFETY: the allocation made sure of it.
        unsafe { Layout::from_size_align_unchecked(Self::bytes(name_len), align_of::<Self>()) }
    }

    /// Drops and frees an entry; gives the next one.
    ///
    /// # Safety
    /// The entry came from `fill` and nobody uses it any more.
    unsafe fn free(entry: NonNull<Self>) -> *mut Self {
        // SAFETY: the caller's promise.
        unsafe {
            let next = entry.as_ref().next.load(Ordering::Relaxed);
            let layout = Self::layout(entry.as_ref().name_len);
            entry.drop_in_place();
            memory::release(entry.cast(), layout);
            next
        }
    }
}

/// Whether two names of the same hash are the same, one machine word at a time: calling the C library for a few bytes takes
/// longer.
///
/// Bytes behind the last full word need no look: with the same words before them, [`hash`] gives another value for each.
#[inline]
fn is_same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let (mut rest, mut other_rest) = (one, other);
    while let (Some((word, after)), Some((other_word, other_after))) =
        (rest.split_first_chunk::<{ size_of::<usize>() }>(), other_rest.split_first_chunk())
    {
        if word != other_word {
            return false;
        }
        (rest, other_rest) = (after, other_after);
    }
    true
}

/// Hashes a name one machine word at a time. The top byte of a product depends on every bit, and the index looks at
/// the low bits: the bytes are reversed at last. Each step can be undone, which [`is_same`] relies on.
///
/// Not for names chosen by an attacker to collide: who registers names runs code in this process.
#[inline]
fn hash(name: &[u8]) -> usize {
    let (mut hash, mut rest) = (name.len(), name);
    while let Some((word, after)) = rest.split_first_chunk() {
        hash = mix(hash, usize::from_le_bytes(*word));
        rest = after;
    }
    if !rest.is_empty() {
        hash = mix(hash, last_word(name, rest));
    }
    hash.swap_bytes()
}

/// The last bytes of a name as one word: the last full word, which overlaps the one before, if the name has one and words are
/// long.
#[inline]
fn last_word(name: &[u8], rest: &[u8]) -> usize {
    let start = name.len().checked_sub(size_of::<usize>()).filter(|_| size_of::<usize>() > 4);
    match start.and_then(|start| name.get(start..)?.first_chunk()) {
        Some(word) => usize::from_le_bytes(*word),
        None => rest.iter().fold(0, |word, byte| word << 8 | usize::from(*byte)),
    }
}

#[inline]
fn mix(hash: usize, word: usize) -> usize {
    // The 64-bit golden ratio, or its low half, which is odd as well.
    (hash.rotate_left(usize::BITS / 2) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as usize)
}

#[cfg(all(test, not(loom)))]
#[expect(clippy::unwrap_used, reason = "tests, which the lint does not recognise behind `all`")]
mod tests {
    extern crate std;
    use super::*;
    use std::format;
    use std::rc::Rc;
    use std::vec::Vec;

    fn insert<V>(table: &NameTable<V>, name: &str, value: V) -> bool {
        table.get_or_insert(name.as_bytes(), || value).ok().unwrap().1
    }

    #[test]
    fn the_hash_tells_last_words_apart() {
        for len in 1..=3 * size_of::<usize>() {
            let name = std::vec![b'n'; len];
            let last_word = (len - 1) / size_of::<usize>() * size_of::<usize>();
            for at in last_word..len {
                for bit in 0..8 {
                    let mut other = name.clone();
                    other[at] ^= 1 << bit;
                    assert_ne!(hash(&other), hash(&name), "length {len}, byte {at}, bit {bit}");
                }
            }
        }
    }

    #[test]
    fn names_of_all_lengths_are_found_again() {
        let table = NameTable::new();
        let count = if cfg!(miri) { 60 } else { 2_000 };
        let names: Vec<_> = (0..count).map(|at| format!("{}.{at}", "x".repeat(at % 40))).collect();
        for (at, name) in names.iter().enumerate() {
            assert!(table.get(name.as_bytes()).is_none());
            assert!(insert(&table, name, at));
            assert!(!insert(&table, name, 0));
        }
        for (at, name) in names.iter().enumerate() {
            let entry = table.get(name.as_bytes()).unwrap();
            assert_eq!((entry.name(), entry.value), (name.as_bytes(), at));
        }
        assert_eq!(table.len(), count);
        assert!(table.get(b"").is_none());
        assert!(insert(&table, "", 0));
        assert_eq!(table.get(b"").map(Entry::name), Some(&b""[..]));
    }

    #[test]
    fn entries_are_visited_in_the_order_of_insertion() {
        let table = NameTable::new();
        (0..50).for_each(|at| assert!(insert(&table, &format!("n{}", at * 7 % 50), at)));
        let mut seen = Vec::new();
        table.for_each(|entry| {
            seen.push(entry.value);
            entry.value < 39
        });
        assert!(seen.iter().copied().eq(0..40));
    }

    #[test]
    fn a_name_is_followed_by_a_nul() {
        let table = NameTable::new();
        insert(&table, "ffi.Object", ());
        let entry = table.get(b"ffi.Object").unwrap();
        // SAFETY: the table promises a NUL behind the name.
        let text = unsafe { core::ffi::CStr::from_ptr(entry.name_ptr().cast()) };
        assert_eq!(text.to_bytes(), b"ffi.Object");
    }

    #[test]
    fn values_are_dropped_with_the_table() {
        let witness = Rc::new(());
        let table = NameTable::new();
        (0..20).for_each(|at| assert!(insert(&table, &format!("{at}"), witness.clone())));
        drop(table);
        assert_eq!(Rc::strong_count(&witness), 1);
    }

    #[test]
    fn threads_agree_on_every_entry() {
        let table = NameTable::new();
        let count = if cfg!(miri) { 12 } else { 1_000 };
        let names: Vec<_> = (0..count).map(|at| format!("name {at}")).collect();
        let made: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| names.iter().filter(|name| insert(&table, name, name.len())).count()))
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!((made, table.len()), (count, count));
        assert!(names.iter().all(|name| table.get(name.as_bytes()).unwrap().value == name.len()));
    }

    #[test]
    fn similar_names_spread_over_the_index() {
        let slots = if cfg!(miri) { 1 << 7 } else { 1 << 12 };
        let patterns: [fn(usize) -> std::string::String; 4] = [
            |at| format!("testing.function_{at}"),
            |at| format!("{at}"),
            |at| format!("{at:07}.a_common_end_of_names"),
            |at| format!("ffi.{}{}", char::from(b'a' + (at % 26) as u8), at / 26),
        ];
        for pattern in patterns {
            let hashes = (0..slots / 2).map(|at| hash(pattern(at).as_bytes()) % slots);
            let used: std::collections::BTreeSet<_> = hashes.collect();
            // Random places would leave about 787 of every 1,000 apart.
            assert!(used.len() > slots / 2 * 65 / 100, "{}: {}", pattern(1), used.len());
        }
    }
}
