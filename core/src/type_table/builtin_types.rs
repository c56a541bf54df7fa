//! The types that the ABI fixes, as static tables: found without registration at load.
//!
//! Keys lie in read-only data, and looking up a key alone does not link the entries. The entries are
//! writable, because fields and methods may be added to built-in types too.

use core::ffi::c_void;
use core::mem::offset_of;
use core::ptr;

use crate::abi::{
    TVMFFIAny, TVMFFIAnyPayload, TVMFFIByteArray, TVMFFIFieldInfo, TVMFFIFieldSetter, TVMFFIObject,
    TVMFFITypeInfo, TVMFFITypeMetadata,
};
use crate::type_index;

use super::entry::{NewType, TypeEntry};
use super::field_access;

/// Keys of the value types, from index 0; zero-terminated for readers that expect C strings.
const VALUE_KEYS: [&str; 14] = [
    "None\0",
    "int\0",
    "bool\0",
    "float\0",
    "void*\0",
    "DataType\0",
    "Device\0",
    "DLTensor*\0",
    "const char*\0",
    "TVMFFIByteArray*\0",
    "ObjectRValueRef\0",
    "ffi.SmallStr\0",
    "ffi.SmallBytes\0",
    "ffi.Unchanged\0",
];

/// Keys of the object types, from index 64.
const OBJECT_KEYS: [&str; 15] = [
    "ffi.Object\0",
    "ffi.String\0",
    "ffi.Bytes\0",
    "ffi.Error\0",
    "ffi.Function\0",
    "ffi.Shape\0",
    "ffi.Tensor\0",
    "ffi.Array\0",
    "ffi.Map\0",
    "ffi.Module\0",
    "ffi.OpaquePyObject\0",
    "ffi.List\0",
    "ffi.Dict\0",
    "ffi.VisitInterrupt\0",
    "ffi.BigInt\0",
];

const _: () = assert!(VALUE_KEYS.len() as i32 == type_index::UNCHANGED + 1);
const _: () = assert!(OBJECT_KEYS.len() as i32 == type_index::STATIC_OBJECT_END - type_index::OBJECT);

static VALUE_TYPES: [TypeEntry; VALUE_KEYS.len()] = value_types();
static OBJECT_TYPES: [TypeEntry; OBJECT_KEYS.len()] = object_types();

/// The ancestors of every built-in object type but the root: `ffi.Object`.
static OBJECT_ANCESTORS: Static<[*const TVMFFITypeInfo; 1]> =
    Static([(&raw const OBJECT_TYPES).cast::<TVMFFITypeInfo>()]);

static OBJECT_METADATA: Static<TVMFFITypeMetadata> = Static(metadata_of_size(size_of::<TVMFFIObject>()));
static MODULE_METADATA: Static<TVMFFITypeMetadata> = Static(metadata_of_size(MODULE_BYTES));
static BIG_INT_METADATA: Static<TVMFFITypeMetadata> = Static(metadata_of_size(BIG_INT_BYTES));
static MODULE_FIELDS: Static<[TVMFFIFieldInfo; 1]> = Static([MODULE_IMPORTS]);

/// As the C++ class is sized: the place of the virtual table pointer before the header, header, imports,
/// import cache.
const MODULE_BYTES: usize = 8 + size_of::<TVMFFIObject>() + 2 * size_of::<*const c_void>();
/// Header and word count, before the words.
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

/// Data that nobody writes, though it holds pointers.
#[repr(transparent)]
struct Static<T>(T);

// SAFETY: only used for the tables of this file, which are never written and point to other statics.
unsafe impl<T> Sync for Static<T> {}

const NO_TEXT: TVMFFIByteArray = TVMFFIByteArray { data: ptr::null(), size: 0 };

/// The text before its terminating NUL.
const fn text(terminated: &'static str) -> TVMFFIByteArray {
    let key = key_of(terminated);
    TVMFFIByteArray { data: key.as_ptr().cast(), size: key.len() }
}

const fn key_of(terminated: &'static str) -> &'static [u8] {
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

const fn value_type(index: usize) -> TypeEntry {
    TypeEntry::new(NewType {
        type_index: index as i32,
        type_depth: 0,
        type_key: key_of(VALUE_KEYS[index]),
        ancestors: ptr::null_mut(),
        num_slots: 1,
        child_slots_can_overflow: false,
    })
}

/// Builds the table in place: array entries cannot be made by a closure in a constant.
macro_rules! table {
    ($make:ident: $($index:literal)*) => { [$($make($index)),*] };
}

const fn value_types() -> [TypeEntry; VALUE_KEYS.len()] {
    table!(value_type: 0 1 2 3 4 5 6 7 8 9 10 11 12 13)
}

const fn object_types() -> [TypeEntry; OBJECT_KEYS.len()] {
    table!(object_type: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14)
}

const fn object_type(offset: usize) -> TypeEntry {
    let type_index = type_index::OBJECT + offset as i32;
    let is_root = type_index == type_index::OBJECT;
    let entry = TypeEntry::new(NewType {
        type_index,
        type_depth: if is_root { 0 } else { 1 },
        type_key: key_of(OBJECT_KEYS[offset]),
        ancestors: if is_root { ptr::null_mut() } else { (&raw const OBJECT_ANCESTORS).cast_mut().cast() },
        num_slots: 1,
        child_slots_can_overflow: is_root || type_index == type_index::VISIT_INTERRUPT,
    });
    match type_index {
        type_index::OBJECT => entry.with_reflection(&OBJECT_METADATA.0, ptr::null(), 0),
        type_index::MODULE => entry.with_reflection(&MODULE_METADATA.0, (&raw const MODULE_FIELDS).cast(), 1),
        type_index::BIG_INT => entry.with_reflection(&BIG_INT_METADATA.0, ptr::null(), 0),
        _ => entry,
    }
}

/// The place in the table of object types, for an index in its range.
fn object_offset(type_index: i32) -> Option<usize> {
    usize::try_from(type_index.checked_sub(type_index::OBJECT)?).ok()
}

/// The entry of a built-in type.
#[inline]
pub(super) fn entry(type_index: i32) -> Option<&'static TypeEntry> {
    match object_offset(type_index) {
        Some(offset) => OBJECT_TYPES.get(offset),
        None => VALUE_TYPES.get(usize::try_from(type_index).ok()?),
    }
}

/// The key of a built-in type.
pub(super) fn key(type_index: i32) -> Option<&'static [u8]> {
    let terminated = match object_offset(type_index) {
        Some(offset) => OBJECT_KEYS.get(offset),
        None => VALUE_KEYS.get(usize::try_from(type_index).ok()?),
    };
    terminated.and_then(|terminated| terminated.as_bytes().split_last()).map(|(_, key)| key)
}

/// The index of the built-in type with this key.
pub(super) fn index_of(key: &[u8]) -> Option<i32> {
    let is_key =
        |terminated: &&str| terminated.len() == key.len() + 1 && terminated.as_bytes().starts_with(key);
    let object = || Some(OBJECT_KEYS.iter().position(is_key)? as i32 + type_index::OBJECT);
    object().or_else(|| Some(VALUE_KEYS.iter().position(is_key)? as i32))
}

// Ancestor pointers address the first entry's record through the array.
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
            assert_eq!(entry.ancestors(), &[OBJECT_TYPES[0].as_ptr()]);
        }
        assert!(OBJECT_TYPES[0].ancestors().is_empty());
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
