//! Values for tests, including a reflected class of pairs with a configurable type, field flags and
//! hooks.

use core::ffi::{c_int, c_void};
use core::ptr;

use ferrite_core::abi::type_index::OBJECT;
use ferrite_core::abi::{
    TVMFFIAny, TVMFFIByteArray, TVMFFIFieldInfo, TVMFFIObject, TVMFFITypeMetadata,
};
use ferrite_core::call::function::Function;
use ferrite_core::error::Result;
use ferrite_core::names::type_table::{self, NewTypeRequest};
use ferrite_core::object::object_alloc::{self, ObjectRecord};
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::value::big_int::from_native_bytes;
use ferrite_core::value::convert::{AnyCompatible, OpaquePtr};

use crate::containers::{ArrayObject, ListObject};

#[repr(C)]
struct PairRecord {
    header: TVMFFIObject,
    fields: [Any; 2],
}

// SAFETY: repr(C), header first; the fields are dropped once.
unsafe impl ObjectRecord for PairRecord {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        // SAFETY: the record is initialised, and this is the only reference to it.
        unsafe { ptr::drop_in_place(&raw mut (*this.cast::<PairRecord>()).fields) };
    }
}

unsafe extern "C" fn get(field: *mut c_void, result: *mut TVMFFIAny) -> c_int {
    // SAFETY: called with the address of a field of a live pair.
    unsafe { result.write((*field.cast::<Any>()).clone().into_raw()) };
    0
}

unsafe extern "C" fn set(field: *mut c_void, value: *const TVMFFIAny) -> c_int {
    // SAFETY: as for `get`; the value is alive.
    let old = unsafe { field.cast::<Any>().replace((*value.cast::<Any>()).clone()) };
    drop(old);
    0
}

/// Registers a class with the fields `first` and `second`, with the given flags.
pub(crate) fn pair_type(key: &str, flags: [i64; 2]) -> Result<i32> {
    let type_index = type_table::get_or_alloc_index(&NewTypeRequest {
        type_key: key.as_bytes(),
        static_type_index: -1,
        type_depth: 1,
        num_child_slots: 0,
        child_slots_can_overflow: true,
        parent_type_index: OBJECT,
    })?;
    let text =
        |text: &'static str| TVMFFIByteArray { data: text.as_ptr().cast(), size: text.len() };
    for (place, name) in ["first", "second"].into_iter().enumerate() {
        let info = TVMFFIFieldInfo {
            name: text(name),
            doc: text(""),
            metadata: text(""),
            flags: flags[place],
            size: 16,
            alignment: 8,
            offset: (core::mem::offset_of!(PairRecord, fields) + 16 * place) as i64,
            getter: Some(get),
            setter: set as *mut c_void,
            default_value_or_factory: TVMFFIAny::NONE,
            field_static_type_index: -1,
        };
        // SAFETY: names are static, and getter and setter fit the record.
        unsafe { type_table::register_field(type_index, &info)? };
    }
    Ok(type_index)
}

/// Registers a pair class with the given structural kind and field flags.
pub(crate) fn node_type(key: &str, kind: i32, flags: [i32; 2]) -> Result<i32> {
    let index = pair_type(key, flags.map(i64::from))?;
    let metadata = TVMFFITypeMetadata {
        doc: TVMFFIByteArray { data: ptr::null(), size: 0 },
        creator: None,
        total_size: 0,
        structural_eq_hash_kind: kind,
    };
    // SAFETY: there is no doc.
    unsafe { type_table::register_metadata(index, &metadata)? };
    Ok(index)
}

/// Creates a pair of a registered pair class.
pub(crate) fn pair(type_index: i32, first: Any, second: Any) -> Result<Any> {
    let mut fields = Some([first, second]);
    let init = |record: *mut PairRecord| {
        if let Some(fields) = fields.take() {
            // SAFETY: the allocation has room for the record.
            unsafe { (&raw mut (*record).fields).write(fields) };
        }
    };
    // SAFETY: init writes the only field after the header.
    unsafe { object_alloc::allocate(type_index, 0, init) }.map(AnyCompatible::into_any)
}

/// Returns the field of a pair at index `place`.
pub(crate) fn part(pair: &Any, place: usize) -> Any {
    let object = pair.view().object_ptr().expect("a pair");
    // SAFETY: only called with pairs.
    unsafe { (&(*object.as_ptr().cast::<PairRecord>()).fields)[place].clone() }
}

/// Sets the field of a pair at index `place`.
pub(crate) fn set_part(pair: &Any, place: usize, value: Any) {
    let object = pair.view().object_ptr().expect("a pair");
    // SAFETY: only called with pairs, by one thread.
    let old = unsafe {
        core::mem::replace(&mut (&mut (*object.as_ptr().cast::<PairRecord>()).fields)[place], value)
    };
    drop(old);
}

/// Registers a hook of a type in an attribute column.
pub(crate) fn add_hook(type_index: i32, column: &str, hook: &Function) -> Result<()> {
    type_table::register_attr(type_index, column.as_bytes(), AnyView::from(hook))
}

pub(crate) fn int(value: i64) -> Any {
    Any::from(value)
}

/// Creates an opaque pointer, which nothing may follow.
pub(crate) fn address(value: usize) -> Any {
    // SAFETY: the tests that use it do not follow the address.
    unsafe { OpaquePtr::new(ptr::without_provenance_mut(value)) }.into_any()
}

/// Creates an integer of 128 bits from its high word.
pub(crate) fn big(high: i64) -> Result<Any> {
    let mut content = [0; 16];
    content[8..].copy_from_slice(&high.to_ne_bytes());
    from_native_bytes(&content)
}

pub(crate) fn list(values: &[Any]) -> Result<Any> {
    ListObject::from_slice(values).map(Any::new)
}

pub(crate) fn array(values: &[Any]) -> Result<Any> {
    ArrayObject::from_slice(values).map(Any::new)
}

/// Returns the message of an error, or `no error`.
pub(crate) fn message<T>(outcome: Result<T>) -> std::string::String {
    match outcome {
        Ok(_) => std::string::String::from("no error"),
        Err(error) => std::string::String::from_utf8_lossy(error.message_bytes()).into_owned(),
    }
}
