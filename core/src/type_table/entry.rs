//! Type entries: the record that C code reads, followed by state of the table's writers.

use core::cell::{Cell, UnsafeCell};
use core::mem::offset_of;
use core::ptr;
use core::slice;

use crate::abi::{TVMFFIByteArray, TVMFFIFieldInfo, TVMFFIMethodInfo, TVMFFITypeInfo, TVMFFITypeMetadata};

use super::arena::Arena;
use super::field_names::FieldNames;
use super::growing_array::{ArrayLayout, GrowingArray};
use super::key_hash::type_key_hash;
use super::library_members::LibraryCount;
use super::slots;

/// A registered type, whose address never changes.
///
/// C readers keep a pointer to the `TVMFFITypeInfo` inside, so Rust code never makes a reference to that record:
/// accessors copy its constant fields and read the growing ones atomically.
#[repr(C)]
pub struct TypeEntry {
    pub(super) info: UnsafeCell<TVMFFITypeInfo>,
    /// Number of type indices reserved for the type itself and its children, from its own index on.
    pub(super) num_slots: i32,
    /// Whether children get other indices when the reserved ones are used up.
    pub(super) child_slots_can_overflow: bool,
    pub(super) own_fields: LibraryCount,
    pub(super) own_methods: LibraryCount,
    pub(super) link: slots::Link,
    allocated_slots: Cell<i32>,
    /// Number of metadata records: one or none.
    pub(super) num_metadata: UnsafeCell<i32>,
    /// Capacities for fields, methods and metadata.
    pub(super) capacities: [Cell<i32>; 3],
    /// The index of fields by name.
    pub(super) field_names: FieldNames,
}

/// The layout of the fields in an entry.
pub(super) const FIELDS: ArrayLayout = ArrayLayout {
    data: offset_of!(TVMFFITypeInfo, fields) as u8,
    len: offset_of!(TVMFFITypeInfo, num_fields) as u8,
    capacity: CAPACITIES,
    record_bytes: size_of::<TVMFFIFieldInfo>() as u8,
    first_capacity: 4,
};

/// The layout of the methods in an entry.
pub(super) const METHODS: ArrayLayout = ArrayLayout {
    data: offset_of!(TVMFFITypeInfo, methods) as u8,
    len: offset_of!(TVMFFITypeInfo, num_methods) as u8,
    capacity: CAPACITIES + 4,
    record_bytes: size_of::<TVMFFIMethodInfo>() as u8,
    first_capacity: 4,
};

/// The layout of the metadata in an entry: an array of at most one record.
pub(super) const METADATA: ArrayLayout = ArrayLayout {
    data: offset_of!(TVMFFITypeInfo, metadata) as u8,
    len: offset_of!(TypeEntry, num_metadata) as u8,
    capacity: CAPACITIES + 8,
    record_bytes: size_of::<TVMFFITypeMetadata>() as u8,
    first_capacity: 1,
};

const CAPACITIES: u8 = offset_of!(TypeEntry, capacities) as u8;
const _: () = assert!(size_of::<TypeEntry>() <= u8::MAX as usize && offset_of!(TypeEntry, info) == 0);

// SAFETY: of `info`, type_index, type_depth, type_key, type_ancestors and type_key_hash never change once an entry is
// shared, and num_fields, num_methods, fields, methods and metadata are accessed atomically, as num_metadata and
// field_names are; num_slots, child_slots_can_overflow and link never change; allocated_slots and capacities are only
// accessed by holders of the registry's lock.
unsafe impl Sync for TypeEntry {}
// SAFETY: all pointers refer to memory that is never freed and belongs to no thread.
unsafe impl Send for TypeEntry {}

/// The parameters of a new type.
#[derive(Clone, Copy)]
pub(super) struct NewType<'a> {
    pub type_index: i32,
    pub type_key: &'a [u8],
    pub num_slots: i32,
    pub child_slots_can_overflow: bool,
}

impl TypeEntry {
    /// Makes an entry without fields, methods and metadata. The key is followed by a zero.
    pub(super) const fn new(new: NewType<'static>, ancestors: &'static [*const TVMFFITypeInfo]) -> Self {
        TypeEntry {
            info: UnsafeCell::new(TVMFFITypeInfo {
                type_index: new.type_index,
                type_depth: ancestors.len() as i32,
                type_key: TVMFFIByteArray { data: new.type_key.as_ptr().cast(), size: new.type_key.len() },
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

    /// The record that C code reads; valid forever.
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
        // SAFETY: the field never changes once the entry is shared, and points to bytes that live forever.
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

    /// The address of the ancestors.
    pub(super) fn ancestors_ptr(&self) -> *const *const TVMFFITypeInfo {
        // SAFETY: the field never changes once the entry is shared.
        unsafe { (*self.as_ptr()).type_ancestors }
    }

    /// The ancestors, root first.
    #[inline]
    pub fn ancestors(&self) -> &'static [*const TVMFFITypeInfo] {
        // SAFETY: neither field changes once the entry is shared; a type of depth n has n ancestors, kept forever.
        unsafe {
            let info = self.as_ptr();
            match (*info).type_depth {
                0 => &[],
                depth => slice::from_raw_parts((*info).type_ancestors, depth as usize),
            }
        }
    }

    /// The fields registered so far, without those of ancestors. The slice does not grow with later registrations.
    pub fn fields(&self) -> &'static [TVMFFIFieldInfo] {
        // SAFETY: the array holds fields.
        unsafe { self.array(&FIELDS).published() }
    }

    /// The methods registered so far. The slice does not grow with later registrations.
    pub fn methods(&self) -> &'static [TVMFFIMethodInfo] {
        // SAFETY: the array holds methods.
        unsafe { self.array(&METHODS).published() }
    }

    /// The metadata, once registered.
    pub fn metadata(&self) -> Option<&'static TVMFFITypeMetadata> {
        // SAFETY: the array holds metadata.
        unsafe { self.array(&METADATA).published() }.first()
    }

    /// Returns one of the growing arrays.
    pub(super) fn array(&self, place: &'static ArrayLayout) -> GrowingArray<'_> {
        // SAFETY: the layouts of this file describe arrays that live as long as the entry.
        unsafe { GrowingArray::at(ptr::from_ref(self).cast_mut().cast(), place) }
    }

    /// Number of reserved indices in use: the type itself and its children.
    pub(super) fn allocated_slots<'a>(&'a self, _lock_held: &Arena) -> &'a Cell<i32> {
        &self.allocated_slots
    }
}

/// The fields of a type.
///
/// # Safety
/// The record belongs to an entry of this table.
pub(super) unsafe fn fields_of(info: *const TVMFFITypeInfo) -> &'static [TVMFFIFieldInfo] {
    // SAFETY: the accessed fields lie in the record, which lives forever.
    unsafe { GrowingArray::at(info.cast_mut().cast(), &FIELDS).published() }
}
