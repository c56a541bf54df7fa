//! The places of entries on hosts: an index with open addressing over pointers to them.
//!
//! When it fills up, a twice as large one replaces it, and the old one stays for readers that still look at it. All old ones
//! together are smaller than the newest.
//!
//! ```text
//! index ----> [ slot | slot | slot | slot ] --before--> [ slot | slot ]
//!                 |             |
//!               entry         entry
//! ```

use core::alloc::Layout;
use core::marker::PhantomData;
use core::ptr::{self, NonNull};

use super::{Entry, NameTable, Place, hash, mix};
use crate::config::{NAME_LOAD_EIGHTHS, NAME_SLOTS};
use crate::error::{Result, out_of_memory};
use crate::memory;
use crate::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use crate::sync::const_new;

/// Where the entries of a table are.
pub(super) struct Places<V> {
    index: AtomicPtr<Index<V>>,
    /// Slots of the newest index that are taken; for whoever inserts.
    taken: AtomicUsize,
}

/// What an entry has of places: nothing.
pub(super) struct Links<V>(PhantomData<V>);

impl<V> Links<V> {
    pub(super) fn new() -> Self {
        Links(PhantomData)
    }
}

/// An index with a free slot, and the hash of the name that it is for.
pub(super) struct Room<'a, V> {
    places: &'a Places<V>,
    index: NonNull<Index<V>>,
    hash: usize,
}

impl<V> Places<V> {
    const_new! {
        /// No places.
        pub(super) fn new() -> Self {
            Self { index: AtomicPtr::new(ptr::null_mut()), taken: AtomicUsize::new(0) }
        }
    }

    #[inline]
    pub(super) fn find(&self, name: &[u8]) -> Option<&Entry<V>> {
        self.find_hashed(name, hash(name))
    }

    #[inline]
    fn find_hashed(&self, name: &[u8], hash: usize) -> Option<&Entry<V>> {
        // SAFETY: the pointer was published after its index was complete, and indexes live as long as the table.
        unsafe { self.index.load(Ordering::Acquire).as_ref() }?.find(name, hash)
    }

    /// The entry of a name, or room for it. The caller holds the table's lock.
    pub(super) fn place(&self, table: &NameTable<V>, name: &[u8]) -> Result<Place<'_, V>> {
        let hash = hash(name);
        match self.find_hashed(name, hash) {
            Some(entry) => Ok(Place::Taken(entry)),
            None => Ok(Place::Free(Room { places: self, index: self.index_with_room(table)?, hash })),
        }
    }

    /// The newest index, grown if the next entry would fill it too much. The caller holds the lock.
    fn index_with_room(&self, table: &NameTable<V>) -> Result<NonNull<Index<V>>> {
        let newest = self.index.load(Ordering::Relaxed);
        // SAFETY: as `find_hashed`.
        let slots = unsafe { newest.as_ref() }.map_or(0, Index::slots);
        let wanted = self.taken.load(Ordering::Relaxed) + 1;
        if wanted.saturating_mul(8) <= slots.saturating_mul(NAME_LOAD_EIGHTHS)
            && let Some(newest) = NonNull::new(newest)
        {
            return Ok(newest);
        }
        let grown = Index::allocate(slots.saturating_mul(2).max(NAME_SLOTS), newest)?;
        // SAFETY: the new index is nobody else's yet.
        table.for_each(|entry| unsafe {
            grown.as_ref().put(NonNull::from(entry));
            true
        });
        self.index.store(grown.as_ptr(), Ordering::Release);
        Ok(grown)
    }
}

impl<V> Room<'_, V> {
    /// The hash of the name.
    pub(super) fn hash(&self) -> usize {
        self.hash
    }

    /// Publishes an entry.
    ///
    /// # Safety
    /// The entry is complete and lives as long as the table, whose lock the caller holds.
    pub(super) unsafe fn put(self, entry: NonNull<Entry<V>>) {
        // SAFETY: the caller's promise; the index is live and has a free slot.
        unsafe { self.index.as_ref().put(entry) };
        self.places.taken.store(self.places.taken.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }
}

/// For tables that are not static, as in tests.
impl<V> Drop for Places<V> {
    fn drop(&mut self) {
        let mut index = self.index.load(Ordering::Relaxed);
        while let Some(gone) = NonNull::new(index) {
            // SAFETY: the table goes away, so nobody looks at its indexes any more; each is in the chain once.
            index = unsafe { Index::free(gone) };
        }
    }
}

/// The bits of a slot that no address of this process has set, where there are such: some of the hash is there, so that a slot
/// of another name is known for that without a look at its entry, which is far away in a large table.
///
/// Linux gives out addresses of up to 47 bits unless asked for higher ones, which no allocator does.
const TAG: usize = if cfg!(all(target_arch = "x86_64", target_pointer_width = "64", target_os = "linux")) {
    !(usize::MAX >> 16)
} else {
    0
};

/// What the slot of a name has in those bits. The index looks at other bits of the hash, some of which are poor.
#[inline]
fn tag_of(hash: usize) -> usize {
    mix(0, hash) & TAG
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
        let (mut at, tag) = (hash, tag_of(hash));
        // An index is never full, so the loop ends.
        loop {
            let slot = self.slot(at).load(Ordering::Acquire);
            if slot.is_null() {
                return None;
            }
            if slot.addr() & TAG == tag {
                // SAFETY: the slot was published after its entry was complete; entries live as long as the table that has
                // this index.
                let entry = unsafe { &*slot.map_addr(|address| address & !TAG) };
                if entry.is_of(name, hash) {
                    return Some(entry);
                }
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
        let hash = unsafe { entry.as_ref() }.hash;
        let mut at = hash;
        while !self.slot(at).load(Ordering::Relaxed).is_null() {
            at = at.wrapping_add(1);
        }
        debug_assert_eq!(entry.addr().get() & TAG, 0);
        self.slot(at).store(entry.as_ptr().map_addr(|address| address | tag_of(hash)), Ordering::Release);
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
