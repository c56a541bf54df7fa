//! The built-in types as static tables, which need no registration at load time.
//!
//! The entries are mutable, since fields and methods may be added to built-in types, too.

use core::cell::{Cell, UnsafeCell};
use core::ffi::c_void;
use core::mem::offset_of;
use core::ptr;

use crate::abi::{
    TVMFFIAny, TVMFFIAnyPayload, TVMFFIByteArray, TVMFFIFieldInfo, TVMFFIFieldSetter, TVMFFIObject,
    TVMFFITypeInfo, TVMFFITypeMetadata, type_index,
};

use super::super::builtin_keys::{self, COUNT, VALUE_COUNT};
use super::super::entry::{NewType, TypeEntry};
use super::super::library_members::LibraryCount;
use super::super::{field_access, slots};

/// Type keys as separate slices.
static KEYS: [&[u8]; COUNT] = split_keys();

static TYPES: [TypeEntry; COUNT] = types();

/// Ancestors of every built-in object type except the root: `ffi.Object`.
static OBJECT_ANCESTORS: Static<[*const TVMFFITypeInfo; 1]> = Static([(&raw const TYPES)
    .cast::<TypeEntry>()
    .wrapping_add(VALUE_COUNT)
    .cast::<TVMFFITypeInfo>()]);

static OBJECT_METADATA: Static<TVMFFITypeMetadata> =
    Static(metadata_of_size(size_of::<TVMFFIObject>()));
static MODULE_METADATA: Static<TVMFFITypeMetadata> = Static(metadata_of_size(MODULE_BYTES));
static BIG_INT_METADATA: Static<TVMFFITypeMetadata> = Static(metadata_of_size(BIG_INT_BYTES));
static MODULE_FIELDS: Static<[TVMFFIFieldInfo; 1]> = Static([MODULE_IMPORTS]);

/// Size of the C++ class in bytes: vtable pointer before the header, header, imports, import cache.
const MODULE_BYTES: usize = 8 + size_of::<TVMFFIObject>() + 2 * size_of::<*const c_void>();
/// Size of a big integer in bytes without its words: header and word count.
const BIG_INT_BYTES: usize = (size_of::<TVMFFIObject>() + size_of::<usize>()).next_multiple_of(8);

const MODULE_IMPORTS: TVMFFIFieldInfo = TVMFFIFieldInfo {
    name: text("imports_\0"),
    doc: NO_TEXT,
    metadata: text(
        "{\"type_schema\":\"{\\\"type\\\":\\\"ffi.Array\\\",\\\"args\\\":[{\\\"type\\\":\\\"Any\\\"}]}\"}\0",
    ),
    flags: 0,
    size: size_of::<*const c_void>() as i64,
    alignment: align_of::<*const c_void>() as i64,
    offset: size_of::<TVMFFIObject>() as i64,
    getter: Some(field_access::get_object),
    setter: field_access::set_array as TVMFFIFieldSetter as *mut c_void,
    default_value_or_factory: TVMFFIAny {
        type_index: type_index::NONE,
        small_str_len: 0,
        payload: TVMFFIAnyPayload { v_int64: 0 },
    },
    field_static_type_index: type_index::ARRAY,
};

/// Immutable data that contains pointers, in a static.
#[repr(transparent)]
struct Static<T>(T);

// SAFETY: only used for tables of this file, which are never written and point to other statics.
unsafe impl<T> Sync for Static<T> {}

const NO_TEXT: TVMFFIByteArray = TVMFFIByteArray { data: ptr::null(), size: 0 };

/// Creates a byte array from a NUL-terminated string, without the NUL.
const fn text(terminated: &'static str) -> TVMFFIByteArray {
    let key = without_nul(terminated);
    TVMFFIByteArray { data: key.as_ptr().cast(), size: key.len() }
}

const fn without_nul(terminated: &'static str) -> &'static [u8] {
    match terminated.as_bytes() {
        [key @ .., 0] => key,
        unterminated => unterminated,
    }
}

const fn metadata_of_size(total_size: usize) -> TVMFFITypeMetadata {
    TVMFFITypeMetadata {
        doc: NO_TEXT,
        creator: None,
        total_size: total_size as i32,
        structural_eq_hash_kind: 0,
    }
}

const fn split_keys() -> [&'static [u8]; COUNT] {
    let mut keys: [&[u8]; COUNT] = [b""; COUNT];
    let (mut rest, mut position, mut len) = (builtin_keys::KEYS, 0, 0);
    while position < COUNT {
        if rest[len] == 0 {
            let (key, behind) = rest.split_at(len);
            (keys[position], rest, position, len) = (key, behind.split_at(1).1, position + 1, 0);
        } else {
            len += 1;
        }
    }
    assert!(rest.is_empty(), "one key for each type");
    keys
}

const fn types() -> [TypeEntry; COUNT] {
    let mut types = [const { builtin_type(0) }; COUNT];
    let mut position = 1;
    while position < COUNT {
        types[position] = builtin_type(position);
        position += 1;
    }
    types
}

const fn builtin_type(position: usize) -> TypeEntry {
    let type_index = builtin_keys::index_at(position);
    let is_child = type_index > type_index::OBJECT;
    let new = NewType {
        type_index,
        type_key: split_keys()[position],
        num_slots: 1,
        child_slots_can_overflow: super::super::may_overflow(type_index),
    };
    let entry = TypeEntry::new(new, if is_child { &OBJECT_ANCESTORS.0 } else { &[] });
    match type_index {
        type_index::OBJECT => entry.with_reflection(&OBJECT_METADATA.0, ptr::null(), 0),
        type_index::MODULE => {
            entry.with_reflection(&MODULE_METADATA.0, (&raw const MODULE_FIELDS).cast(), 1)
        }
        type_index::BIG_INT => entry.with_reflection(&BIG_INT_METADATA.0, ptr::null(), 0),
        _ => entry,
    }
}

impl TypeEntry {
    /// Returns the entry with metadata and fields from static tables.
    const fn with_reflection(
        mut self,
        metadata: *const TVMFFITypeMetadata,
        fields: *const TVMFFIFieldInfo,
        num_fields: i32,
    ) -> Self {
        let info = self.info.get_mut();
        info.metadata = metadata;
        info.fields = fields;
        info.num_fields = num_fields;
        // The static array is full: adding a field moves all to a growable array.
        self.capacities = [Cell::new(num_fields), Cell::new(0), Cell::new(1)];
        self.num_metadata = UnsafeCell::new(1);
        self.own_fields = LibraryCount::new(num_fields as u8);
        self
    }
}

/// Returns the entry of a built-in type, or `None` for other types.
#[inline]
pub(in crate::names::type_table) fn entry(type_index: i32) -> Option<&'static TypeEntry> {
    TYPES.get(builtin_keys::position(type_index)?)
}

/// Returns the entry of any type, built in or registered.
#[inline]
pub(in crate::names::type_table) fn entry_of_any(type_index: i32) -> Option<&'static TypeEntry> {
    entry(type_index).or_else(|| slots::entry(type_index))
}

/// Returns the key of a built-in type, or `None` for other types.
pub(in crate::names::type_table) fn key(type_index: i32) -> Option<&'static [u8]> {
    KEYS.get(builtin_keys::position(type_index)?).copied()
}

/// Finds the index of a built-in type by key. Searches objects first, since most lookups are for
/// objects.
pub(in crate::names::type_table) fn index_of(key: &[u8]) -> Option<i32> {
    let (values, objects) = KEYS.split_at(VALUE_COUNT);
    let place_in = |keys: &[&[u8]]| keys.iter().position(|known| *known == key);
    let position =
        place_in(objects).map(|place| place + VALUE_COUNT).or_else(|| place_in(values))?;
    Some(builtin_keys::index_at(position))
}

// Ancestor pointers refer to records in the array of entries.
const _: () = assert!(offset_of!(TypeEntry, num_slots) == size_of::<TVMFFITypeInfo>());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_indices_agree() {
        for index in (0..14).chain(64..79) {
            let entry = entry(index).unwrap();
            assert_eq!(entry.type_index(), index);
            assert_eq!(entry.type_key(), key(index).unwrap());
            assert_eq!(index_of(entry.type_key()), Some(index));
        }
        for index in [-1, 14, 63, 79, 127, i32::MIN, i32::MAX] {
            assert!(entry(index).is_none() && key(index).is_none());
        }
        assert_eq!(index_of(b"ffi.Obj"), None);
        assert_eq!(index_of(b"ffi.Object\0"), None);
        assert_eq!(index_of(b""), None);
    }

    #[test]
    fn objects_descend_from_the_root() {
        for index in 65..79 {
            let entry = entry(index).unwrap();
            assert_eq!(entry.type_depth(), 1);
            assert_eq!(entry.ancestors(), &[TYPES[VALUE_COUNT].as_ptr()]);
        }
        assert!(TYPES[VALUE_COUNT].ancestors().is_empty());
    }

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn metadata_is_upstreams() {
        let size = |index| entry(index).unwrap().metadata().map(|metadata| metadata.total_size);
        assert_eq!(size(type_index::OBJECT), Some(24));
        assert_eq!(size(type_index::MODULE), Some(48));
        assert_eq!(size(type_index::BIG_INT), Some(32));
        assert_eq!(size(type_index::ARRAY), None);
        let imports = entry(type_index::MODULE).unwrap().fields();
        // Another test may have added a field behind it.
        assert_eq!((imports[0].offset, imports[0].size, imports[0].flags), (24, 8, 0));
    }
}
