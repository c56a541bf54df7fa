//! Name lookup by a hash index: open addressing over pointers to entries.
//!
//! A full index is replaced by one of twice the size, and the old one stays for readers that still
//! use it. All old indexes together are smaller than the newest.
//!
//! ```text
//! index ----> [ slot | slot | slot | slot ] [ tags ] --before--> [ slot | slot ] [ tags ]
//!                 |             |
//!               entry         entry
//! ```

use core::alloc::Layout;
use core::ptr::{self, NonNull};

use super::super::names::{Name, Names, hash, mix};
use crate::platform::config::{NAME_LOAD_EIGHTHS, NAME_SLOTS};
use crate::platform::memory;
use crate::platform::sync::atomic::{AtomicPtr, AtomicU8, AtomicUsize, Ordering};
use crate::platform::sync::const_new;

/// Name lookup of one table: the newest hash index.
pub(in crate::names::name_table) struct Lookup {
    index: AtomicPtr<IndexHeader>,
    /// Number of used slots in the newest index; accessed under the insertion lock.
    taken: AtomicUsize,
}

/// Lookup fields stored in each entry: none.
pub(in crate::names::name_table) struct Links;

impl Links {
    pub(in crate::names::name_table) fn new() -> Self {
        Links
    }
}

/// An index with a free slot, and the hash of the name to insert.
pub(in crate::names::name_table) struct VacantEntry<'a> {
    lookup: &'a Lookup,
    index: NonNull<IndexHeader>,
    hash: usize,
}

impl Lookup {
    const_new! {
        /// Creates an empty lookup without an index.
        pub(in crate::names::name_table) fn new() -> Self {
            Self { index: AtomicPtr::new(ptr::null_mut()), taken: AtomicUsize::new(0) }
        }
    }

    #[inline]
    pub(in crate::names::name_table) fn find(&self, name: &[u8]) -> Option<NonNull<Name>> {
        self.find_hashed(name, hash(name))
    }

    #[inline]
    fn find_hashed(&self, name: &[u8], hash: usize) -> Option<NonNull<Name>> {
        // SAFETY: the pointer was published after its index was complete, and indexes live as long
        // as the table.
        unsafe { self.index.load(Ordering::Acquire).as_ref() }?.find(name, hash)
    }

    /// Finds the entry of a name, or a vacant entry to insert it at. Returns `None` when out of
    /// memory. The caller holds the table's lock.
    pub(in crate::names::name_table) fn place(
        &self,
        names: &Names,
        name: &[u8],
    ) -> Option<Result<NonNull<Name>, VacantEntry<'_>>> {
        let hash = hash(name);
        Some(match self.find_hashed(name, hash) {
            Some(name) => Ok(name),
            None => {
                Err(VacantEntry { lookup: self, index: self.index_with_free_slot(names)?, hash })
            }
        })
    }

    /// Returns the newest index, grown if the next entry would exceed the load factor; `None` when
    /// out of memory. The caller holds the insertion lock.
    fn index_with_free_slot(&self, names: &Names) -> Option<NonNull<IndexHeader>> {
        let newest = self.index.load(Ordering::Relaxed);
        // SAFETY: as `find_hashed`.
        let slots = unsafe { newest.as_ref() }.map_or(0, IndexHeader::slots);
        let wanted = self.taken.load(Ordering::Relaxed) + 1;
        if wanted.saturating_mul(8) <= slots.saturating_mul(NAME_LOAD_EIGHTHS)
            && let Some(newest) = NonNull::new(newest)
        {
            return Some(newest);
        }
        let grown = IndexHeader::allocate(slots.saturating_mul(2).max(NAME_SLOTS), newest)?;
        // SAFETY: the new index is not shared yet.
        names.for_each(|name| unsafe {
            grown.as_ref().put(name);
            true
        });
        self.index.store(grown.as_ptr(), Ordering::Release);
        Some(grown)
    }
}

impl VacantEntry<'_> {
    /// Returns the hash of the name to insert.
    pub(in crate::names::name_table) fn hash(&self) -> usize {
        self.hash
    }

    /// Publishes an entry in the free slot.
    ///
    /// # Safety
    /// The entry must be complete and live as long as the table, whose lock the caller must hold.
    pub(in crate::names::name_table) unsafe fn put(self, name: NonNull<Name>) {
        // SAFETY: the caller's promise; the index is live and has a free slot.
        unsafe { self.index.as_ref().put(name) };
        self.lookup.taken.store(self.lookup.taken.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }
}

/// Frees all indexes. Static tables are never dropped, tables of tests are.
impl Drop for Lookup {
    fn drop(&mut self) {
        let mut index = self.index.load(Ordering::Relaxed);
        while let Some(gone) = NonNull::new(index) {
            // SAFETY: the table is dropped, so its indexes have no other users; each is in the
            // chain once.
            index = unsafe { IndexHeader::free(gone) };
        }
    }
}

/// Tag of a free slot.
const FREE: u8 = 0;

/// Returns the tag of an entry: bits of its hash other than those that select the slot.
#[inline]
fn tag_of(hash: usize) -> u8 {
    (mix(0, hash) >> (usize::BITS - 8)) as u8 | 1
}

/// Header of a hash index. An array of slots and an array of tags follow it in the same block. The
/// tags distinguish most names, and those of a large table stay in the cache when its slots and
/// entries do not.
struct IndexHeader {
    /// Number of slots, a power of two, minus one.
    mask: usize,
    /// Address of the first slot.
    slots: *const AtomicPtr<Name>,
    /// Address of the first tag.
    tags: *const AtomicU8,
    /// The smaller index that this one replaced, or null.
    before: *mut IndexHeader,
}

impl IndexHeader {
    fn slots(&self) -> usize {
        self.mask + 1
    }

    fn slot(&self, at: usize) -> &AtomicPtr<Name> {
        // SAFETY: the mask keeps the position within the array, which lives as long as the index.
        unsafe { &*self.slots.add(at & self.mask) }
    }

    fn tag(&self, at: usize) -> &AtomicU8 {
        // SAFETY: as for the slot.
        unsafe { &*self.tags.add(at & self.mask) }
    }

    #[inline]
    fn find(&self, text: &[u8], hash: usize) -> Option<NonNull<Name>> {
        let (mut at, tag) = (hash, tag_of(hash));
        // The index always has a free slot, so the loop ends.
        loop {
            match self.tag(at).load(Ordering::Acquire) {
                FREE => return None,
                known if known == tag => {
                    let name = self.slot(at).load(Ordering::Relaxed);
                    // SAFETY: a slot is filled with a complete name before its tag is stored; names
                    // live as long as the table of this index.
                    if unsafe { &*name }.is(text, hash) {
                        return NonNull::new(name);
                    }
                }
                _ => {}
            }
            at = at.wrapping_add(1);
        }
    }

    /// Stores an entry in the first free slot of its probe sequence, and publishes it.
    ///
    /// # Safety
    /// The entry must be complete and live as long as the table; the caller must be the only one
    /// that writes to this index, which must have a free slot.
    unsafe fn put(&self, name: NonNull<Name>) {
        // SAFETY: the caller's promise.
        let hash = unsafe { name.as_ref() }.hash;
        let mut at = hash;
        while self.tag(at).load(Ordering::Relaxed) != FREE {
            at = at.wrapping_add(1);
        }
        self.slot(at).store(name.as_ptr(), Ordering::Relaxed);
        self.tag(at).store(tag_of(hash), Ordering::Release);
    }

    fn allocate(slots: usize, before: *mut Self) -> Option<NonNull<Self>> {
        let (layout, [to_slots, to_tags]) = Self::layout(slots)?;
        let block = memory::allocate(layout)?;
        // SAFETY: the offsets come from the layout of the block, which is not shared yet.
        unsafe {
            let array = block.add(to_slots).cast::<AtomicPtr<Name>>();
            (0..slots).for_each(|at| array.add(at).write(AtomicPtr::new(ptr::null_mut())));
            let tags = block.add(to_tags).cast::<AtomicU8>();
            (0..slots).for_each(|at| tags.add(at).write(AtomicU8::new(FREE)));
            let index = block.cast::<Self>();
            index.write(Self {
                mask: slots - 1,
                slots: array.as_ptr(),
                tags: tags.as_ptr(),
                before,
            });
            Some(index)
        }
    }

    /// Returns the memory layout of an index, and the offsets of its slots and tags. `None` on
    /// overflow.
    fn layout(slots: usize) -> Option<(Layout, [usize; 2])> {
        let array = Layout::array::<AtomicPtr<Name>>(slots).ok()?;
        let (layout, to_slots) = Layout::new::<Self>().extend(array).ok()?;
        let (layout, to_tags) = layout.extend(Layout::array::<AtomicU8>(slots).ok()?).ok()?;
        Some((layout, [to_slots, to_tags]))
    }

    /// Frees an index. Returns the smaller one that it replaced, or null.
    ///
    /// # Safety
    /// The index must come from `allocate` and no longer be used.
    unsafe fn free(index: NonNull<Self>) -> *mut Self {
        // SAFETY: the caller's promise; each slot is dropped once.
        unsafe {
            let Self { mask, slots, tags, before } = index.read();
            ptr::slice_from_raw_parts_mut(slots.cast_mut(), mask + 1).drop_in_place();
            ptr::slice_from_raw_parts_mut(tags.cast_mut(), mask + 1).drop_in_place();
            if let Some((layout, _)) = Self::layout(mask + 1) {
                memory::release(index.cast(), layout);
            }
            before
        }
    }
}
