//! Names to values, read without a lock: what the type table and the global function table are made of.
//!
//! Entries are never moved, changed or freed, so a reader needs no protection: it loads the newest index, then the
//! entry. The index is open addressing over pointers to entries; when it fills up, a twice as large one replaces it,
//! and the old one stays for readers that still look at it. All old ones together are smaller than the newest.
//!
//! ```text
//! table.index ----> [ slot | slot | slot | slot ] --before--> [ slot | slot ]
//!                      |             |
//! table.first ----> entry --next--> entry       (in the order of insertion)
//! ```

use core::alloc::Layout;
use core::ptr::{self, NonNull};
use core::slice;

use crate::config::{NAME_LOAD_EIGHTHS, NAME_SLOTS};
use crate::error::{Result, out_of_memory};
use crate::memory;
use crate::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use crate::sync::{Mutex, const_new};

/// A table of named values that only grows.
///
/// Ownership: owns its entries; they live as long as the table, that is for ever in a static. Threads: [`get`] and
/// [`for_each`] take no lock and may run anywhere, in interrupt handlers too; insertion takes the table's lock.
/// Allocation: insertion only.
///
/// [`get`]: NameTable::get
/// [`for_each`]: NameTable::for_each
pub struct NameTable<V> {
    index: AtomicPtr<Index<V>>,
    first: AtomicPtr<Entry<V>>,
    len: AtomicUsize,
    /// The entry that was inserted last; held by whoever inserts.
    last: Mutex<Last<V>>,
}

/// One name and its value.
pub struct Entry<V> {
    hash: usize,
    next: AtomicPtr<Entry<V>>,
    name: *const u8,
    name_len: usize,
    /// What the name stands for.
    pub value: V,
}

/// A pointer to an entry, which the lock may carry from thread to thread.
struct Last<V>(*mut Entry<V>);

// SAFETY: entries go from thread to thread whenever a value may.
unsafe impl<V: Send> Send for Last<V> {}
// SAFETY: of the fields, `name` points into the entry's own block, which is never written again; `next` is atomic.
unsafe impl<V: Send> Send for Entry<V> {}
// SAFETY: as above.
unsafe impl<V: Sync> Sync for Entry<V> {}
// SAFETY: the pointers lead to entries, which readers share (`Sync`) and the last owner drops (`Send`), and to
// indexes, whose slots are atomic.
unsafe impl<V: Send + Sync> Send for NameTable<V> {}
// SAFETY: as above.
unsafe impl<V: Send + Sync> Sync for NameTable<V> {}

impl<V> Entry<V> {
    /// The name.
    pub fn name(&self) -> &[u8] {
        // SAFETY: `insert` copied `name_len` bytes there, and they live and stay as long as the entry.
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
                index: AtomicPtr::new(ptr::null_mut()),
                first: AtomicPtr::new(ptr::null_mut()),
                len: AtomicUsize::new(0),
                last: Mutex::new(Last(ptr::null_mut())),
            }
        }
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.len.load(Ordering::Acquire)
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entry of a name.
    #[inline]
    pub fn get(&self, name: &[u8]) -> Option<&Entry<V>> {
        self.find(name, hash(name))
    }

    /// The entry of a name, made by `make` when there is none; and whether it was made.
    ///
    /// The table's lock is held while `make` runs: it must not insert into this table, nor run code of a user.
    ///
    /// # Errors
    /// What `make` gives, and `MemoryError`, before which `make` is not run; both leave the table unchanged.
    pub fn get_or_insert(&self, name: &[u8], make: impl FnOnce() -> Result<V>) -> Result<(&Entry<V>, bool)> {
        let hash = hash(name);
        if let Some(entry) = self.find(name, hash) {
            return Ok((entry, false));
        }
        let mut last = self.last.lock();
        // Another thread may have inserted it before the lock was taken.
        if let Some(entry) = self.find(name, hash) {
            return Ok((entry, false));
        }
        let index = self.index_with_room()?;
        let entry = Entry::allocate(hash, name, make)?;
        // SAFETY: the index and the entry are live; the lock makes this thread the only one that inserts.
        unsafe { index.as_ref().put(entry) };
        self.append(&mut last, entry);
        // SAFETY: the entry lives as long as the table.
        Ok((unsafe { entry.as_ref() }, true))
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

    #[inline]
    fn find(&self, name: &[u8], hash: usize) -> Option<&Entry<V>> {
        // SAFETY: the pointer was published after its index was complete, and indexes live as long as the table.
        unsafe { self.index.load(Ordering::Acquire).as_ref() }?.find(name, hash)
    }

    /// The newest index, grown if the next entry would fill it too much. The caller holds the lock.
    fn index_with_room(&self) -> Result<NonNull<Index<V>>> {
        let newest = self.index.load(Ordering::Relaxed);
        // SAFETY: as `find`.
        let slots = unsafe { newest.as_ref() }.map_or(0, Index::slots);
        if (self.len() + 1).saturating_mul(8) <= slots.saturating_mul(NAME_LOAD_EIGHTHS)
            && let Some(newest) = NonNull::new(newest)
        {
            return Ok(newest);
        }
        let grown = Index::allocate(slots.saturating_mul(2).max(NAME_SLOTS), newest)?;
        // SAFETY: the new index is nobody else's yet.
        self.for_each(|entry| unsafe {
            grown.as_ref().put(NonNull::from(entry));
            true
        });
        self.index.store(grown.as_ptr(), Ordering::Release);
        Ok(grown)
    }

    fn append(&self, last: &mut Last<V>, entry: NonNull<Entry<V>>) {
        // SAFETY: `last` is null or an entry of this table.
        let link = unsafe { last.0.as_ref() }.map_or(&self.first, |last| &last.next);
        link.store(entry.as_ptr(), Ordering::Release);
        self.len.store(self.len.load(Ordering::Relaxed) + 1, Ordering::Release);
        last.0 = entry.as_ptr();
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
        let mut index = self.index.load(Ordering::Relaxed);
        while let Some(gone) = NonNull::new(index) {
            // SAFETY: as above, for the chain of indexes.
            index = unsafe { Index::free(gone) };
        }
    }
}

impl<V> Entry<V> {
    /// Makes the block of an entry, with the name and a NUL behind it, and only then the value.
    fn allocate(hash: usize, name: &[u8], make: impl FnOnce() -> Result<V>) -> Result<NonNull<Self>> {
        let layout = Self::layout(name.len())?;
        let block = memory::allocate(layout).ok_or_else(|| out_of_memory(layout.size()))?;
        let value = make().inspect_err(|_| {
            // SAFETY: the block was allocated above with this layout and holds nothing yet.
            unsafe { memory::release(block, layout) }
        })?;
        let entry = block.cast::<Self>();
        // SAFETY: the block has room for an entry, the name and a NUL, and is nobody else's yet.
        unsafe {
            let text = entry.add(1).cast::<u8>();
            text.copy_from_nonoverlapping(NonNull::from(name).cast(), name.len());
            text.add(name.len()).write(0);
            let next = AtomicPtr::new(ptr::null_mut());
            entry.write(Self { hash, next, name: text.as_ptr(), name_len: name.len(), value });
        }
        Ok(entry)
    }

    fn layout(name_len: usize) -> Result<Layout> {
        let bytes = size_of::<Self>().checked_add(name_len).and_then(|bytes| bytes.checked_add(1));
        bytes
            .and_then(|bytes| Layout::from_size_align(bytes, align_of::<Self>()).ok())
            .ok_or_else(|| out_of_memory(name_len))
    }

    /// Drops and frees an entry; gives the next one.
    ///
    /// # Safety
    /// The entry came from `allocate` and nobody uses it any more.
    unsafe fn free(entry: NonNull<Self>) -> *mut Self {
        // SAFETY: the caller's promise.
        unsafe {
            let next = entry.as_ref().next.load(Ordering::Relaxed);
            let layout = Self::layout(entry.as_ref().name_len);
            entry.drop_in_place();
            if let Ok(layout) = layout {
                memory::release(entry.cast(), layout);
            }
            next
        }
    }
}

/// Slots that hold entries where their hashes point to; the array follows the header in the same block.
struct Index<V> {
    /// Number of slots, a power of two, less one.
    mask: usize,
    /// The first slot.
    slots: *const AtomicPtr<Entry<V>>,
    /// The smaller index that this one replaced, or null.
    before: *mut Index<V>,
}

impl<V> Index<V> {
    fn slots(&self) -> usize {
        self.mask + 1
    }

    fn slot(&self, at: usize) -> &AtomicPtr<Entry<V>> {
        // SAFETY: the mask keeps the position within the array, which lives as long as the index.
        unsafe { &*self.slots.add(at & self.mask) }
    }

    #[inline]
    fn find(&self, name: &[u8], hash: usize) -> Option<&Entry<V>> {
        let mut at = hash;
        loop {
            // SAFETY: a slot is null or was published after its entry was complete; entries live as long as the
            // table that has this index. An index is never full, so the loop ends.
            let entry = unsafe { self.slot(at).load(Ordering::Acquire).as_ref() }?;
            if entry.hash == hash && is_same(entry.name(), name) {
                return Some(entry);
            }
            at = at.wrapping_add(1);
        }
    }

    /// Publishes an entry in the first free slot from its hash on.
    ///
    /// # Safety
    /// The entry is complete and lives as long as the table; the caller is the only one that writes to this index,
    /// which has a free slot.
    unsafe fn put(&self, entry: NonNull<Entry<V>>) {
        // SAFETY: the caller's promise.
        let mut at = unsafe { entry.as_ref() }.hash;
        while !self.slot(at).load(Ordering::Relaxed).is_null() {
            at = at.wrapping_add(1);
        }
        self.slot(at).store(entry.as_ptr(), Ordering::Release);
    }

    fn allocate(slots: usize, before: *mut Self) -> Result<NonNull<Self>> {
        let (layout, offset) = Self::layout(slots)?;
        let block = memory::allocate(layout).ok_or_else(|| out_of_memory(layout.size()))?;
        // SAFETY: the layout puts the array at `offset` of the block, which is nobody else's yet.
        unsafe {
            let array = block.add(offset).cast::<AtomicPtr<Entry<V>>>();
            (0..slots).for_each(|at| array.add(at).write(AtomicPtr::new(ptr::null_mut())));
            let index = block.cast::<Self>();
            index.write(Self { mask: slots - 1, slots: array.as_ptr(), before });
            Ok(index)
        }
    }

    /// The block of an index, and where its array starts.
    fn layout(slots: usize) -> Result<(Layout, usize)> {
        Layout::array::<AtomicPtr<Entry<V>>>(slots)
            .and_then(|array| Layout::new::<Self>().extend(array))
            .map_err(|_| out_of_memory(slots))
    }

    /// Frees an index; gives the one that it replaced.
    ///
    /// # Safety
    /// The index came from `allocate` and nobody uses it any more.
    unsafe fn free(index: NonNull<Self>) -> *mut Self {
        // SAFETY: the caller's promise; each slot is dropped once.
        unsafe {
            let Self { mask, slots, before } = index.read();
            ptr::slice_from_raw_parts_mut(slots.cast_mut(), mask + 1).drop_in_place();
            if let Ok((layout, _)) = Self::layout(mask + 1) {
                memory::release(index.cast(), layout);
            }
            before
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

/// The last bytes of a name as one word: the last full word, which overlaps the one before, if the name has one.
#[inline]
fn last_word(name: &[u8], rest: &[u8]) -> usize {
    let start = name.len().checked_sub(size_of::<usize>());
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
        table.get_or_insert(name.as_bytes(), || Ok(value)).ok().unwrap().1
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
    fn a_value_that_cannot_be_made_leaves_no_entry() {
        let table: NameTable<u8> = NameTable::new();
        assert!(table.get_or_insert(b"name", || Err(out_of_memory(1))).is_err());
        assert_eq!((table.len(), table.get(b"name").is_none()), (0, true));
        assert!(insert(&table, "name", 1));
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
