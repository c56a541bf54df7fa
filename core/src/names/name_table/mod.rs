//! A map from names to values with lock-free reads, used by the type table and the global function
//! table.
//!
//! Entries are never moved, changed or freed, so readers need no protection. Names are looked up by
//! hash: on hosts, where tables are large, through an index; on bare metal, where code size counts,
//! through the entries themselves.
//!
//! ```text
//! names.places ~~hash~~> entry        entry
//!                          ^            ^
//! names.first -------------+ --next-----+       (in the order of insertion)
//! ```

mod lookup;
mod names;
#[cfg(any(target_os = "none", test))]
mod trie;

use core::marker::PhantomData;
use core::ptr::NonNull;

use crate::error::Result;
use crate::platform::sync::{Lock, const_new};

use names::{Name, Names};

/// A map from names to values, to which entries can be added but not removed.
///
/// Ownership: owns its entries, which live as long as the table; forever, if it is a static.
/// Threads: [`get`] and [`for_each`] take no lock and may run anywhere, also in interrupt handlers;
/// insertion takes the table's lock. Allocation: insertion only.
///
/// [`get`]: NameTable::get
/// [`for_each`]: NameTable::for_each
pub struct NameTable<V> {
    /// Names of the table, each at the start of an `Entry<V>`.
    names: Names,
    values: PhantomData<V>,
}

/// A name and its value.
#[repr(C)]
pub struct Entry<V> {
    name: Name,
    /// The value stored under the name.
    pub value: V,
}

// SAFETY: `names` refers to entries, whose values readers share (`Sync`) and the last owner drops
// (`Send`).
unsafe impl<V: Send + Sync> Send for NameTable<V> {}
// SAFETY: as above.
unsafe impl<V: Send + Sync> Sync for NameTable<V> {}

impl<V> Entry<V> {
    /// Size of an entry in bytes, without the characters of its name, which follow it.
    const BYTES: usize = {
        assert!(align_of::<V>() <= align_of::<Name>());
        size_of::<Self>()
    };

    /// Returns the entry that contains `name`.
    ///
    /// # Safety
    /// The name must belong to a complete entry of this type that lives for `'a`.
    #[inline(always)]
    unsafe fn of<'a>(name: NonNull<Name>) -> &'a Self {
        // SAFETY: the caller's promise; a name is the first field of its entry.
        unsafe { name.cast().as_ref() }
    }

    /// Returns the address of the value that is stored with a name.
    ///
    /// # Safety
    /// The name must be in a block for an entry of this type.
    unsafe fn value_of(name: NonNull<Name>) -> *mut V {
        // SAFETY: the caller's promise.
        unsafe { &raw mut (*name.cast::<Self>().as_ptr()).value }
    }

    /// Borrows the name.
    pub fn name(&self) -> &[u8] {
        self.name.text()
    }

    /// Returns the address of the name as a NUL-terminated C string.
    pub fn name_ptr(&self) -> *const u8 {
        self.name.text_ptr()
    }
}

impl<V> NameTable<V> {
    const_new! {
        /// Creates an empty table. It owns no memory, and all its bytes are zero.
        pub fn new() -> Self {
            Self { names: Names::new(), values: PhantomData }
        }
    }

    /// Returns the insertion lock, which is held across forks.
    pub const fn lock(&self) -> &Lock<impl Send + 'static> {
        self.names.lock()
    }

    /// Counts the entries in linear time.
    pub fn len(&self) -> usize {
        let mut len = 0;
        self.for_each(|_| {
            len += 1;
            true
        });
        len
    }

    /// Returns `true` if the table is empty.
    pub fn is_empty(&self) -> bool {
        self.names.first().is_none()
    }

    /// Looks up the entry of a name. Returns `None` if there is none.
    #[inline]
    pub fn get(&self, name: &[u8]) -> Option<&Entry<V>> {
        // SAFETY: names of this table belong to such entries, which were complete when they were
        // published.
        Some(unsafe { Entry::of(self.names.find(name)?) })
    }

    /// Looks up the entry of a name. If there is none, inserts one with the value that `make`
    /// returns.
    ///
    /// The table's lock is held while `make` runs, so `make` must neither insert into this table
    /// nor run user callbacks.
    ///
    /// # Errors
    /// MemoryError that states the size of the entry. The table is unchanged, and `make` is not
    /// called.
    pub fn get_or_insert(&self, name: &[u8], make: impl FnOnce() -> V) -> Result<&Entry<V>> {
        // An unused `make` is dropped after the lock is released, since its destructor may run user
        // callbacks.
        let mut make = Some(make);
        let name = self.names.find_or_insert(name, Entry::<V>::BYTES, &mut |name| {
            if let Some(make) = make.take() {
                // SAFETY: the block is not shared yet, and has space for an entry.
                unsafe { Entry::<V>::value_of(name).write(make()) };
            }
        })?;
        // SAFETY: the entry belongs to this table and is complete.
        Ok(unsafe { Entry::of(name) })
    }

    /// Calls `visit` for each entry in insertion order, until it returns `false`.
    ///
    /// No lock is held; entries inserted meanwhile may be visited.
    pub fn for_each<'a>(&'a self, mut visit: impl FnMut(&'a Entry<V>) -> bool) {
        // SAFETY: as `get`.
        self.names.for_each(|name| visit(unsafe { Entry::of(name) }));
    }
}

impl<V> Default for NameTable<V> {
    fn default() -> Self {
        Self::new()
    }
}

/// Frees all entries. Static tables are never dropped, tables of tests are.
impl<V> Drop for NameTable<V> {
    fn drop(&mut self) {
        let mut name = self.names.first();
        while let Some(gone) = name {
            // SAFETY: the table is dropped, so its entries have no other users; each is in the list
            // once.
            name = unsafe {
                Entry::<V>::value_of(gone).drop_in_place();
                Name::free(gone, Entry::<V>::BYTES)
            };
        }
    }
}

#[cfg(all(test, not(loom)))]
#[expect(clippy::unwrap_used, reason = "tests, which the lint does not recognise behind `all`")]
mod tests {
    extern crate std;
    use super::names::{hash, mix};
    use super::*;
    use std::format;
    use std::rc::Rc;
    use std::vec::Vec;

    fn insert<V>(table: &NameTable<V>, name: &str, value: V) -> bool {
        let mut made = false;
        let make = || {
            made = true;
            value
        };
        table.get_or_insert(name.as_bytes(), make).ok().unwrap();
        made
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
        assert!(table.is_empty());
        for (at, name) in names.iter().enumerate() {
            assert!(table.get(name.as_bytes()).is_none());
            assert!(insert(&table, name, at));
            assert!(!insert(&table, name, 0));
        }
        for (at, name) in names.iter().enumerate() {
            let entry = table.get(name.as_bytes()).unwrap();
            assert_eq!((entry.name(), entry.value), (name.as_bytes(), at));
        }
        assert_eq!((table.len(), table.is_empty()), (count, false));
        assert!(table.get(b"").is_none());
        assert!(insert(&table, "", 0));
        assert_eq!(table.get(b"").map(Entry::name), Some(&b""[..]));
    }

    #[test]
    fn names_that_differ_in_their_last_bytes_are_told_apart() {
        let table = NameTable::new();
        let count = if cfg!(miri) { 60 } else { 1_000 };
        let names: Vec<_> = (0..count).map(|at| format!("function{at:03}")).collect();
        for (at, name) in names.iter().enumerate() {
            assert!(insert(&table, name, at));
        }
        for (at, name) in names.iter().enumerate() {
            assert_eq!(table.get(name.as_bytes()).unwrap().value, at);
        }
    }

    #[test]
    fn names_with_equal_hashes_are_told_apart() {
        const HALF: u32 = usize::BITS / 2;
        let text = |words: [usize; 2]| words.map(usize::to_le_bytes).concat();
        let len = 2 * size_of::<usize>();
        let (one, other) = (*b"of one, ", *b"another,");
        let [one, other] = [one, other].map(|name| u64::from_le_bytes(name) as usize);
        // The second word undoes the difference that the first one makes to the hash.
        let difference = mix(len, one).rotate_left(HALF) ^ mix(len, other).rotate_left(HALF);
        let names = [text([one, 0]), text([other, difference])];
        assert_eq!(hash(&names[0]), hash(&names[1]));
        let table = NameTable::new();
        for (at, name) in names.iter().enumerate() {
            assert_eq!(table.get_or_insert(name, || at).ok().unwrap().value, at);
        }
        assert!(names.iter().enumerate().all(|(at, name)| table.get(name).unwrap().value == at));
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
                .map(|_| {
                    scope.spawn(|| {
                        names.iter().filter(|name| insert(&table, name, name.len())).count()
                    })
                })
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
            // A random function would leave about 787 of every 1,000 in distinct slots.
            assert!(used.len() > slots / 2 * 65 / 100, "{}: {}", pattern(1), used.len());
        }
    }
}
