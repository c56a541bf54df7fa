//! One type: the record that C code reads, and what only the table's writers look at.

use core::cell::UnsafeCell;
use core::ptr;
use core::slice;
use core::sync::atomic::{AtomicI32, AtomicPtr, Ordering};

use crate::abi::{TVMFFIByteArray, TVMFFIFieldInfo, TVMFFIMethodInfo, TVMFFITypeInfo, TVMFFITypeMetadata};

use super::arena::{Arena, NoMemory};
use super::key_hash::type_key_hash;

/// Room of the first field or method array of a type; it doubles from there.
const FIRST_CAPACITY: i32 = 4;

/// A registered type, at a fixed address for ever.
///
/// C readers hold a pointer to the `TVMFFITypeInfo` inside, so Rust code never makes a reference to that
/// record: the accessors copy its fixed fields and read the growing ones atomically.
#[repr(C)]
pub struct TypeEntry {
    pub(super) info: UnsafeCell<TVMFFITypeInfo>,
    /// Places reserved for the type itself and its children, from its own index on.
    pub(super) num_slots: i32,
    /// Whether children get indices outside these places when they are full.
    pub(super) child_slots_can_overflow: bool,
    pub(super) growth: UnsafeCell<Growth>,
}

/// What writers remember; touched only under the registry's lock.
pub(super) struct Growth {
    allocated_slots: i32,
    pub(super) fields_capacity: i32,
    methods_capacity: i32,
    metadata: TVMFFITypeMetadata,
}

// SAFETY: of `info`, type_index, type_depth, type_key, type_ancestors and type_key_hash never change once an
// entry is shared, num_fields, num_methods, fields, methods and metadata are read and written through
// atomics; `growth` is touched only by holders of the registry's lock (its accessors ask for the arena that
// the lock guards), its metadata only before the pointer to it is published; num_slots and
// child_slots_can_overflow never change.
unsafe impl Sync for TypeEntry {}
// SAFETY: every pointer inside leads to memory that is never freed and belongs to no thread.
unsafe impl Send for TypeEntry {}

/// What a new type is made from.
#[derive(Clone, Copy)]
pub(super) struct NewType {
    pub type_index: i32,
    pub type_depth: i32,
    /// Zero-terminated behind its size, and alive for ever, as are the ancestors.
    pub type_key: &'static [u8],
    pub ancestors: *mut *const TVMFFITypeInfo,
    pub num_slots: i32,
    pub child_slots_can_overflow: bool,
}

const NO_METADATA: TVMFFITypeMetadata = TVMFFITypeMetadata {
    doc: TVMFFIByteArray { data: ptr::null(), size: 0 },
    creator: None,
    total_size: 0,
    structural_eq_hash_kind: 0,
};

impl TypeEntry {
    /// An entry without fields, methods and metadata.
    pub(super) const fn new(new: NewType) -> Self {
        TypeEntry {
            info: UnsafeCell::new(TVMFFITypeInfo {
                type_index: new.type_index,
                type_depth: new.type_depth,
                type_key: TVMFFIByteArray { data: new.type_key.as_ptr().cast(), size: new.type_key.len() },
                type_ancestors: new.ancestors,
                type_key_hash: type_key_hash(new.type_key),
                num_fields: 0,
                num_methods: 0,
                fields: ptr::null(),
                methods: ptr::null(),
                metadata: ptr::null(),
            }),
            num_slots: new.num_slots,
            child_slots_can_overflow: new.child_slots_can_overflow,
            growth: UnsafeCell::new(Growth {
                allocated_slots: 1,
                fields_capacity: 0,
                methods_capacity: 0,
                metadata: NO_METADATA,
            }),
        }
    }

    /// The record as C code reads it; valid for ever.
    #[inline]
    pub fn as_ptr(&self) -> *const TVMFFITypeInfo {
        self.info.get()
    }

    /// The type index.
    #[inline]
    pub fn type_index(&self) -> i32 {
        // SAFETY: the field never changes once the entry is shared.
        unsafe { (*self.as_ptr()).type_index }
    }

    /// The number of ancestors.
    #[inline]
    pub fn type_depth(&self) -> i32 {
        // SAFETY: the field never changes once the entry is shared.
        unsafe { (*self.as_ptr()).type_depth }
    }

    /// The type key.
    pub fn type_key(&self) -> &'static [u8] {
        // SAFETY: the field never changes once the entry is shared, and leads to bytes that live for ever.
        unsafe {
            let key = (*self.as_ptr()).type_key;
            slice::from_raw_parts(key.data.cast(), key.size)
        }
    }

    /// The hash of the type key, the same in every process.
    pub fn type_key_hash(&self) -> u64 {
        // SAFETY: the field never changes once the entry is shared.
        unsafe { (*self.as_ptr()).type_key_hash }
    }

    /// The ancestors, root first.
    #[inline]
    pub fn ancestors(&self) -> &'static [*const TVMFFITypeInfo] {
        // SAFETY: neither field changes once the entry is shared; a type of depth n has n ancestors, kept for
        // ever.
        unsafe {
            let info = self.as_ptr();
            match (*info).type_depth {
                0 => &[],
                depth => slice::from_raw_parts((*info).type_ancestors, depth as usize),
            }
        }
    }

    /// The fields registered so far, without those of ancestors; later registrations do not show in the
    /// slice.
    pub fn fields(&self) -> &'static [TVMFFIFieldInfo] {
        self.fields_array().published()
    }

    /// The methods registered so far; later registrations do not show in the slice.
    pub fn methods(&self) -> &'static [TVMFFIMethodInfo] {
        self.methods_array().published()
    }

    /// The metadata, once registered.
    pub fn metadata(&self) -> Option<&'static TVMFFITypeMetadata> {
        let metadata = self.metadata_slot().load(Ordering::Acquire);
        // SAFETY: once published, the record never changes and lives for ever.
        unsafe { metadata.cast_const().as_ref() }
    }

    fn metadata_slot(&self) -> &AtomicPtr<TVMFFITypeMetadata> {
        // SAFETY: the field is aligned, lives as long as the entry, and Rust code reaches it through this
        // atomic only.
        unsafe { AtomicPtr::from_ptr((&raw mut (*self.info.get()).metadata).cast()) }
    }

    fn fields_array(&self) -> PublishedArray<'_, TVMFFIFieldInfo> {
        let info = self.info.get();
        // SAFETY: both fields are aligned, live as long as the entry, and Rust code reaches them through
        // atomics only.
        unsafe {
            PublishedArray {
                data: AtomicPtr::from_ptr((&raw mut (*info).fields).cast()),
                len: AtomicI32::from_ptr(&raw mut (*info).num_fields),
            }
        }
    }

    fn methods_array(&self) -> PublishedArray<'_, TVMFFIMethodInfo> {
        let info = self.info.get();
        // SAFETY: both fields are aligned, live as long as the entry, and Rust code reaches them through
        // atomics only.
        unsafe {
            PublishedArray {
                data: AtomicPtr::from_ptr((&raw mut (*info).methods).cast()),
                len: AtomicI32::from_ptr(&raw mut (*info).num_methods),
            }
        }
    }

    /// Publishes a field behind those that are there.
    pub(super) fn append_field(&self, arena: &mut Arena, field: &TVMFFIFieldInfo) -> Result<(), NoMemory> {
        // SAFETY: whoever has the arena holds the registry's lock, so nobody else touches `growth`.
        let capacity = unsafe { &mut (*self.growth.get()).fields_capacity };
        self.fields_array().append(capacity, arena, field)
    }

    /// Publishes a method behind those that are there.
    pub(super) fn append_method(&self, arena: &mut Arena, method: &TVMFFIMethodInfo) -> Result<(), NoMemory> {
        // SAFETY: whoever has the arena holds the registry's lock, so nobody else touches `growth`.
        let capacity = unsafe { &mut (*self.growth.get()).methods_capacity };
        self.methods_array().append(capacity, arena, method)
    }

    /// Publishes the metadata of a type that has none yet.
    pub(super) fn set_metadata(&self, _lock_held: &mut Arena, metadata: TVMFFITypeMetadata) {
        // SAFETY: the caller holds the registry's lock and has seen that nothing is published, so nobody
        // reads the place.
        let place = unsafe { &raw mut (*self.growth.get()).metadata };
        // SAFETY: as above.
        unsafe { place.write(metadata) };
        self.metadata_slot().store(place, Ordering::Release);
    }

    /// The places already given out: the type itself and its children.
    pub(super) fn allocated_slots(&self, _lock_held: &mut Arena) -> i32 {
        // SAFETY: whoever has the arena holds the registry's lock, so nobody else touches `growth`.
        unsafe { (*self.growth.get()).allocated_slots }
    }

    /// Gives out places that `allocated_slots` and `num_slots` showed to be free.
    pub(super) fn take_slots(&self, _lock_held: &mut Arena, count: i32) {
        // SAFETY: whoever has the arena holds the registry's lock, so nobody else touches `growth`.
        unsafe { (*self.growth.get()).allocated_slots += count }
    }
}

/// An array that grows while others read it: old blocks stay, and the length is published last.
struct PublishedArray<'a, T> {
    data: &'a AtomicPtr<T>,
    len: &'a AtomicI32,
}

impl<T: Copy + 'static> PublishedArray<'_, T> {
    fn published(&self) -> &'static [T] {
        let len = self.len.load(Ordering::Acquire);
        // An array seen after a length holds at least that many records: it was published first.
        let data = self.data.load(Ordering::Acquire);
        if len <= 0 || data.is_null() {
            return &[];
        }
        // SAFETY: the first `len` records of every published array are written, never change, and live for
        // ever.
        unsafe { slice::from_raw_parts(data, len as usize) }
    }

    fn append(&self, capacity: &mut i32, arena: &mut Arena, record: &T) -> Result<(), NoMemory> {
        // SAFETY: an atomic pointer is one whatever it points to.
        let data = unsafe { AtomicPtr::from_ptr(self.data.as_ptr().cast()) };
        let record = ptr::from_ref(record).cast();
        // SAFETY: the array holds records of this type, of which `record` is one.
        unsafe { append(data, self.len, capacity, arena, record, size_of::<T>()) }
    }
}

/// Appends a record. When the block is full, all move to one of twice the room; the old block stays as it is for those who
/// read it.
///
/// # Safety
/// The array holds `len` records of `bytes` bytes in room for `capacity`, and `record` points to another one.
unsafe fn append(
    data: &AtomicPtr<u8>,
    len: &AtomicI32,
    capacity: &mut i32,
    arena: &mut Arena,
    record: *const u8,
    bytes: usize,
) -> Result<(), NoMemory> {
    let count = len.load(Ordering::Relaxed);
    let used = count as usize * bytes;
    if count >= *capacity {
        let grown = capacity.saturating_mul(2).max(FIRST_CAPACITY);
        let block = arena.carve((grown as usize).saturating_mul(bytes), align_of::<u64>())?;
        // SAFETY: both blocks have room for the records, and the new one is fresh, so they do not overlap.
        unsafe { ptr::copy_nonoverlapping(data.load(Ordering::Relaxed), block.as_ptr(), used) };
        data.store(block.as_ptr(), Ordering::Release);
        *capacity = grown;
    }
    // SAFETY: there is room behind the published records, where nobody reads yet.
    unsafe { ptr::copy_nonoverlapping(record, data.load(Ordering::Relaxed).add(used), bytes) };
    len.store(count + 1, Ordering::Release);
    Ok(())
}
