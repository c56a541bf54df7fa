//! Type entries: the record that C code reads, followed by the state for registrations.

use core::cell::{Cell, UnsafeCell};
use core::mem::offset_of;
use core::ptr;
use core::slice;

use crate::abi::{
    TVMFFIByteArray, TVMFFIFieldInfo, TVMFFIMethodInfo, TVMFFITypeInfo, TVMFFITypeMetadata,
};

use super::arena::Arena;
use super::field_names::FieldNames;
use super::growing_array::{ArrayLayout, GrowingArray};
use super::key_hash::type_key_hash;
use super::library_members::LibraryCount;
use super::slots;

/// A registered type, whose address never changes.
///
/// C readers keep a pointer to the `TVMFFITypeInfo` in it, so Rust code never creates a reference
/// to that record: accessors copy its constant fields and read its mutable fields atomically.
#[repr(C)]
pub struct TypeEntry {
    pub(super) info: UnsafeCell<TVMFFITypeInfo>,
    /// Number of type indices reserved for the type and its children, beginning with the type's own
    /// index.
    pub(super) num_slots: i32,
    /// Whether children get other indices when all reserved indices are in use.
    pub(super) child_slots_can_overflow: bool,
    pub(super) own_fields: LibraryCount,
    pub(super) own_methods: LibraryCount,
    pub(super) link: slots::Link,
    allocated_slots: Cell<i32>,
    /// Number of metadata records: 0 or 1.
    pub(super) num_metadata: UnsafeCell<i32>,
    /// Capacities of the arrays of fields, methods and metadata.
    pub(super) capacities: [Cell<i32>; 3],
    /// Index of the fields by name.
    pub(super) field_names: FieldNames,
}

/// Memory layout of the array of fields in an entry.
pub(super) const FIELDS: ArrayLayout = ArrayLayout {
    data: offset_of!(TVMFFITypeInfo, fields) as u8,
    len: offset_of!(TVMFFITypeInfo, num_fields) as u8,
    capacity: CAPACITIES,
    record_bytes: size_of::<TVMFFIFieldInfo>() as u8,
    first_capacity: 4,
};

/// Memory layout of the array of methods in an entry.
pub(super) const METHODS: ArrayLayout = ArrayLayout {
    data: offset_of!(TVMFFITypeInfo, methods) as u8,
    len: offset_of!(TVMFFITypeInfo, num_methods) as u8,
    capacity: CAPACITIES + 4,
    record_bytes: size_of::<TVMFFIMethodInfo>() as u8,
    first_capacity: 4,
};

/// Memory layout of the array of metadata in an entry, which has at most one record.
pub(super) const METADATA: ArrayLayout = ArrayLayout {
    data: offset_of!(TVMFFITypeInfo, metadata) as u8,
    len: offset_of!(TypeEntry, num_metadata) as u8,
    capacity: CAPACITIES + 8,
    record_bytes: size_of::<TVMFFITypeMetadata>() as u8,
    first_capacity: 1,
};

const CAPACITIES: u8 = offset_of!(TypeEntry, capacities) as u8;
const _: () =
    assert!(size_of::<TypeEntry>() <= u8::MAX as usize && offset_of!(TypeEntry, info) == 0);

// SAFETY: of `info`, type_index, type_depth, type_key, type_ancestors and type_key_hash never
// change once an entry is shared, and num_fields, num_methods, fields, methods and metadata are
// accessed atomically, as num_metadata and field_names are; num_slots, child_slots_can_overflow and
// link never change; allocated_slots and capacities are only accessed by holders of the registry's
// lock.
unsafe impl Sync for TypeEntry {}
// SAFETY: all pointers refer to memory that is never freed and belongs to no thread.
unsafe impl Send for TypeEntry {}

/// Parameters of a new type entry.
#[derive(Clone, Copy)]
pub(super) struct NewType<'a> {
    pub type_index: i32,
    pub type_key: &'a [u8],
    pub num_slots: i32,
    pub child_slots_can_overflow: bool,
}

impl TypeEntry {
    /// Creates an entry without fields, methods and metadata. A NUL must follow the key in memory.
    pub(super) const fn new(
        new: NewType<'static>,
        ancestors: &'static [*const TVMFFITypeInfo],
    ) -> Self {
        TypeEntry {
            info: UnsafeCell::new(TVMFFITypeInfo {
                type_index: new.type_index,
                type_depth: ancestors.len() as i32,
                type_key: TVMFFIByteArray {
                    data: new.type_key.as_ptr().cast(),
                    size: new.type_key.len(),
                },
                type_ancestors: ancestors.as_ptr().cast_mut(),
                type_key_hash: type_key_hash(new.type_key),
                num_fields: 0,
                num_methods: 0,
                fields: ptr::null(),
                methods: ptr::null(),
                metadata: ptr::null(),
            }),
            num_slots: new.num_slots,
            child_slots_can_overflow: new.child_slots_can_overflow,
            own_fields: LibraryCount::new(0),
            own_methods: LibraryCount::new(0),
            link: slots::Link::new(),
            allocated_slots: Cell::new(1),
            num_metadata: UnsafeCell::new(0),
            capacities: [const { Cell::new(0) }; 3],
            field_names: FieldNames::new(),
        }
    }

    /// Returns the record that C code reads; valid forever.
    #[inline]
    pub fn as_ptr(&self) -> *const TVMFFITypeInfo {
        self.info.get()
    }

    /// Returns the type index.
    #[inline]
    pub fn type_index(&self) -> i32 {
        // SAFETY: the field never changes once the entry is shared.
        unsafe { (*self.as_ptr()).type_index }
    }

    /// Returns the number of ancestors.
    #[inline]
    pub fn type_depth(&self) -> i32 {
        // SAFETY: the field never changes once the entry is shared.
        unsafe { (*self.as_ptr()).type_depth }
    }

    /// Returns the type key.
    pub fn type_key(&self) -> &'static [u8] {
        // SAFETY: the field never changes once the entry is shared, and points to bytes that live
        // forever.
        unsafe {
            let key = (*self.as_ptr()).type_key;
            slice::from_raw_parts(key.data.cast(), key.size)
        }
    }

    /// Returns the hash of the type key, which is the same in every process.
    pub fn type_key_hash(&self) -> u64 {
        // SAFETY: the field never changes once the entry is shared.
        unsafe { (*self.as_ptr()).type_key_hash }
    }

    /// Returns the address of the list of ancestors.
    pub(super) fn ancestors_ptr(&self) -> *const *const TVMFFITypeInfo {
        // SAFETY: the field never changes once the entry is shared.
        unsafe { (*self.as_ptr()).type_ancestors }
    }

    /// Returns the ancestors, root first.
    #[inline]
    pub fn ancestors(&self) -> &'static [*const TVMFFITypeInfo] {
        // SAFETY: neither field changes once the entry is shared; a type of depth n has n
        // ancestors, kept forever.
        unsafe {
            let info = self.as_ptr();
            match (*info).type_depth {
                0 => &[],
                depth => slice::from_raw_parts((*info).type_ancestors, depth as usize),
            }
        }
    }

    /// Returns the fields registered so far, without inherited ones. The slice does not grow with
    /// later registrations.
    pub fn fields(&self) -> &'static [TVMFFIFieldInfo] {
        // SAFETY: the array holds fields.
        unsafe { self.array(&FIELDS).published() }
    }

    /// Returns the methods registered so far. The slice does not grow with later registrations.
    pub fn methods(&self) -> &'static [TVMFFIMethodInfo] {
        // SAFETY: the array holds methods.
        unsafe { self.array(&METHODS).published() }
    }

    /// Returns the metadata, or `None` if none is registered.
    pub fn metadata(&self) -> Option<&'static TVMFFITypeMetadata> {
        // SAFETY: the array holds metadata.
        unsafe { self.array(&METADATA).published() }.first()
    }

    /// Returns the growing array with this layout.
    pub(super) fn array(&self, place: &'static ArrayLayout) -> GrowingArray<'_> {
        // SAFETY: the layouts of this file describe arrays that live as long as the entry.
        unsafe { GrowingArray::at(ptr::from_ref(self).cast_mut().cast(), place) }
    }

    /// Returns the number of reserved indices in use, including the type's own.
    pub(super) fn allocated_slots<'a>(&'a self, _lock_held: &Arena) -> &'a Cell<i32> {
        &self.allocated_slots
    }
}

/// Returns the fields of a type.
///
/// # Safety
/// The record must belong to an entry of this table.
pub(super) unsafe fn fields_of(info: *const TVMFFITypeInfo) -> &'static [TVMFFIFieldInfo] {
    // SAFETY: the accessed fields lie in the record, which lives forever.
    unsafe { GrowingArray::at(info.cast_mut().cast(), &FIELDS).published() }
}
