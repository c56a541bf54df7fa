//! The part of a name table that does not depend on the type of its values.

use core::alloc::Layout;
use core::cell::Cell;
use core::ptr::{self, NonNull};
use core::slice;

use crate::error::{Result, out_of_memory};
use crate::platform::memory;
use crate::platform::sync::atomic::{AtomicPtr, Ordering};
use crate::platform::sync::{Lock, const_new};

use super::lookup::{Links, Lookup};

/// Names of a table: their lookup, and a linked list in insertion order.
pub(super) struct Names {
    lookup: Lookup,
    first: AtomicPtr<Name>,
    /// The most recently inserted name, guarded by the insertion lock.
    last: Lock<Last>,
}

/// Header of an entry; the characters of the name follow the entry in the same block. Aligned to 8,
/// since values may be 64-bit atomics or locks.
#[cfg_attr(not(target_os = "none"), repr(align(8)))]
pub(super) struct Name {
    pub(super) hash: usize,
    #[cfg_attr(
        not(target_os = "none"),
        expect(dead_code, reason = "an index needs nothing of entries")
    )]
    pub(super) links: Links,
    next: AtomicPtr<Name>,
    text: *const u8,
    len: usize,
}

/// Pointer to the last name. May be sent between threads, since a lock guards it.
pub(super) struct Last(Cell<*mut Name>);

// SAFETY: the pointer is only used while the lock is held, to access an atomic field.
unsafe impl Send for Last {}
// SAFETY: `text` points into the entry's own block, which is never written again; `next` and
// `links` are atomic.
unsafe impl Send for Name {}
// SAFETY: as above.
unsafe impl Sync for Name {}

impl Names {
    const_new! {
        pub(super) fn new() -> Self {
            Self {
                lookup: Lookup::new(),
                first: AtomicPtr::new(ptr::null_mut()),
                last: Lock::new(Last(Cell::new(ptr::null_mut()))),
            }
        }
    }

    /// Returns the insertion lock.
    pub(super) const fn lock(&self) -> &Lock<Last> {
        &self.last
    }

    /// Returns the first inserted name.
    pub(super) fn first(&self) -> Option<NonNull<Name>> {
        NonNull::new(self.first.load(Ordering::Acquire))
    }

    /// Finds a name; its entry is complete.
    #[inline(always)]
    pub(super) fn find(&self, text: &[u8]) -> Option<NonNull<Name>> {
        self.lookup.find(text)
    }

    /// Finds a name, or inserts a new entry of `bytes` bytes followed by the characters of the
    /// name. `fill` writes the value of a new entry while the table's lock is held.
    ///
    /// # Errors
    /// MemoryError that states the size of the entry; the table is unchanged.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    pub(super) fn find_or_insert(
        &self,
        text: &[u8],
        bytes: usize,
        fill: &mut dyn FnMut(NonNull<Name>),
    ) -> Result<NonNull<Name>> {
        // The error is made after the lock is released, since it may run a user's allocator.
        let name = self.find_or_insert_locked(text, bytes, fill);
        name.ok_or_else(|| out_of_memory(block_bytes(text.len(), bytes)))
    }

    #[cfg_attr(not(target_os = "none"), inline(always))]
    fn find_or_insert_locked(
        &self,
        text: &[u8],
        bytes: usize,
        fill: &mut dyn FnMut(NonNull<Name>),
    ) -> Option<NonNull<Name>> {
        self.last.with(|last| match self.lookup.place(self, text)? {
            Ok(name) => Some(name),
            Err(room) => {
                let name = Name::allocate(text, room.hash(), bytes)?;
                fill(name);
                // SAFETY: the entry is complete and lives as long as the table; the held lock
                // excludes other insertions.
                unsafe {
                    room.put(name);
                    self.append(last, name);
                }
                Some(name)
            }
        })
    }

    /// Appends a name to the list.
    ///
    /// # Safety
    /// The entry of the name must be complete, and the caller transfers its ownership to the table.
    unsafe fn append(&self, last: &Last, name: NonNull<Name>) {
        // SAFETY: `last` is null or a name of this table, whose names live as long as the table.
        let link = unsafe { last.0.get().as_ref() }.map_or(&self.first, |last| &last.next);
        link.store(name.as_ptr(), Ordering::Release);
        last.0.set(name.as_ptr());
    }

    /// Calls `visit` for each name in insertion order, until it returns `false`.
    pub(super) fn for_each(&self, mut visit: impl FnMut(NonNull<Name>) -> bool) {
        let mut at = self.first();
        while let Some(name) = at.filter(|name| visit(*name)) {
            // SAFETY: every pointer was published after its name was complete, and names live as
            // long as the table.
            at = NonNull::new(unsafe { name.as_ref() }.next.load(Ordering::Acquire));
        }
    }
}

impl Name {
    /// Returns `true` if the name equals `text`, whose hash is `hash`.
    #[inline(always)]
    pub(super) fn is(&self, text: &[u8], hash: usize) -> bool {
        self.hash == hash && is_same(self.text(), text)
    }

    /// Borrows the characters of the name.
    pub(super) fn text(&self) -> &[u8] {
        // SAFETY: `allocate` copied `len` bytes there, which live unchanged as long as the name.
        unsafe { slice::from_raw_parts(self.text, self.len) }
    }

    /// Returns the address of the name as a NUL-terminated C string.
    pub(super) fn text_ptr(&self) -> *const u8 {
        self.text
    }

    /// Allocates an entry of `bytes` bytes, followed by the name's characters and a NUL. Returns
    /// its header.
    fn allocate(text: &[u8], hash: usize, bytes: usize) -> Option<NonNull<Self>> {
        let layout =
            Layout::from_size_align(block_bytes(text.len(), bytes), align_of::<Self>()).ok()?;
        let block = memory::allocate(layout)?;
        let name = block.cast::<Self>();
        // SAFETY: the block has space for the entry, the text and a NUL, and is not shared yet.
        unsafe {
            let copy = block.add(bytes);
            copy.copy_from_nonoverlapping(NonNull::from(text).cast(), text.len());
            copy.add(text.len()).write(0);
            let next = AtomicPtr::new(ptr::null_mut());
            name.write(Self {
                hash,
                links: Links::new(),
                next,
                text: copy.as_ptr(),
                len: text.len(),
            });
        }
        Some(name)
    }

    /// Frees the block of an entry. Returns the next name in insertion order.
    ///
    /// # Safety
    /// The entry must have `bytes` bytes before the name's characters and must no longer be used.
    pub(super) unsafe fn free(name: NonNull<Self>, bytes: usize) -> Option<NonNull<Self>> {
        // SAFETY: the caller's promise; the layout was valid at allocation.
        unsafe {
            let Self { next, len, .. } = name.read();
            let layout =
                Layout::from_size_align_unchecked(block_bytes(len, bytes), align_of::<Self>());
            memory::release(name.cast(), layout);
            NonNull::new(next.load(Ordering::Relaxed))
        }
    }
}

/// Returns the size of a block in bytes: the entry, the name's characters and a NUL.
fn block_bytes(len: usize, bytes: usize) -> usize {
    // A string takes at most half the address space.
    bytes + len + 1
}

/// Returns `true` if two names with equal hashes are equal. Compares machine words inline, since a
/// call of the C library takes longer for a few bytes.
///
/// The bytes after the last full word are not compared: if all words before them are equal, equal
/// hashes imply that they are equal, too ([`hash`] is injective in them).
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

/// Hashes a name by machine words. The top byte of a product depends on every bit, and the index
/// uses the low bits, so the bytes are reversed at the end. Each step is invertible, as [`is_same`]
/// requires.
///
/// Not resistant to chosen collisions: code that registers names already runs in this process.
#[inline]
pub(super) fn hash(name: &[u8]) -> usize {
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

/// Loads the last bytes of a name as one word. On 64-bit targets, a name of at least one word
/// yields its last eight bytes, which may overlap the previous word.
#[inline]
fn last_word(name: &[u8], rest: &[u8]) -> usize {
    let start = name.len().checked_sub(size_of::<usize>()).filter(|_| size_of::<usize>() > 4);
    match start.and_then(|start| name.get(start..)?.first_chunk()) {
        Some(word) => usize::from_le_bytes(*word),
        None => rest.iter().fold(0, |word, byte| word << 8 | usize::from(*byte)),
    }
}

#[inline]
pub(super) fn mix(hash: usize, word: usize) -> usize {
    // The 64-bit golden ratio, or its low half, which is also odd.
    (hash.rotate_left(usize::BITS / 2) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as usize)
}
