//! Imitation of earlier upstream releases in classes and global functions.
//!
//! Classes are registered as in the release that was chosen, and cannot change later.

use ferrite_core::abi::{
    TVMFFIMethodInfo, kTVMFFIFieldFlagBitMaskIsStaticMethod, kTVMFFIFieldFlagBitMaskSEqHashIgnore,
    type_index,
};
use ferrite_core::error::Result;
use ferrite_core::names::builtins::StaticFunction;
use ferrite_core::names::type_table;
use ferrite_core::platform::upstream_release;
use ferrite_core::value::any::AnyView;
use ferrite_core::{Function, String, plain_ensure, static_function};

use crate::reflection::class::{Class, Method};
use crate::reflection::enums::{self, EnumContent};
use crate::reflection::field::{Field, bytes, field, text};
use crate::reflection::fields::{has_creator, type_of};
use crate::reflection::init::make_init;
use crate::reflection::py_class::FieldClass;
use crate::reflection::record::Record;
use crate::reflection::storage;

/// Functions that only release 0.1.10 has.
pub(in crate::reflection) static FUNCTIONS_OF_0_1_10: [StaticFunction; 4] = [
    static_function!("ffi.GetFieldGetter", storage::make_getter),
    static_function!("ffi.MakeFFINew", make_new),
    static_function!("ffi.MakeInit", make_init_of_type),
    static_function!("ffi.RegisterAutoInit", register_init_method),
];

/// Fields of `ffi.Enum` up to release 0.1.12, at the same offsets as in later releases.
static ENUM_FIELDS: [Field; 2] = [
    field!(Record<EnumContent>, content.int_index: i64, "_value", type_index::INT)
        .with_flags(kTVMFFIFieldFlagBitMaskSEqHashIgnore)
        .with_doc("Ordinal assigned at registration."),
    field!(Record<EnumContent>, content.str_index: String, "_name", type_index::ANY)
        .with_doc("Instance name."),
];

/// Attribute columns that must exist before any enum class is registered, up to release 0.1.12.
const ENUM_COLUMNS: [&[u8]; 3] =
    [b"__ffi_enum_entries__", b"__ffi_enum_attrs__", b"__ffi_enum_value_entries__"];

const SHALLOW_COPY: &str = "__ffi_shallow_copy__";

/// Returns the fields of a class in the selected release.
pub(in crate::reflection) fn fields_of(class: &'static Class) -> &'static [Field] {
    let is_enum = core::ptr::eq(class, &enums::ENUM);
    if is_enum && upstream_release::enums_have_values() { &ENUM_FIELDS } else { class.fields }
}

/// Registers the attribute columns that only the selected release has.
///
/// # Errors
/// MemoryError.
pub(in crate::reflection) fn install() -> Result<()> {
    if upstream_release::enums_have_values() {
        ENUM_COLUMNS.iter().try_for_each(|column| {
            type_table::register_attr(type_index::NONE, column, AnyView::NONE)
        })?;
    }
    Ok(())
}

/// Registers the shallow copy of a class also as a method, if the selected release does.
///
/// # Errors
/// MemoryError.
pub(in crate::reflection) fn register_copy_method(class: &'static Class) -> Result<()> {
    if !upstream_release::copies_are_methods() {
        return Ok(());
    }
    let Some(copy) = class.attrs.iter().find(|attr| attr.0 == SHALLOW_COPY) else { return Ok(()) };
    // An earlier call may have failed after this class.
    let methods = type_table::type_info(class.index()).map_or(&[][..], |entry| entry.methods());
    // SAFETY: names of published methods are never freed.
    if methods.iter().any(|method| unsafe { method.name.as_slice() } == SHALLOW_COPY.as_bytes()) {
        return Ok(());
    }
    Method { name: SHALLOW_COPY, doc: "", is_static: false, function: copy.1 }
        .register(class.register_index()?)
}

/// Implements `ffi.MakeFFINew`: registers `__ffi_new__` and `__ffi_shallow_copy__` for a type whose
/// layout is defined by its fields. Registers the shallow copy also as a method.
///
/// # Errors
/// Errors of [`FieldClass::of`] and [`FieldClass::register`]; MemoryError.
///
/// # Upstream
/// `MakeFFINew` in `dataclass.cc` of 0.1.10.
fn make_new(type_index: i32, total_size: i32) -> Result<()> {
    let copy = FieldClass::of(type_index, total_size)?.register()?;
    register_method(type_index, SHALLOW_COPY, &copy, 0, b"")
}

/// Implements `ffi.MakeInit`: generates `__ffi_init__` from the fields of a type, and returns it.
///
/// # Errors
/// InternalError for an unknown type or a type without a creator; MemoryError.
///
/// # Upstream
/// `MakeInit` in `reflection/init.h` of 0.1.10.
fn make_init_of_type(type_index: i32) -> Result<Function> {
    let entry = type_of(type_index)?;
    plain_ensure!(
        has_creator(entry),
        INTERNAL_ERROR,
        "Type `{}` has no creator or __ffi_new__ for __ffi_init__",
        entry.type_key()
    );
    make_init(entry)
}

/// Implements `ffi.RegisterAutoInit`: registers a generated `__ffi_init__` as a static method of a
/// type.
///
/// # Errors
/// Errors of [`make_init_of_type`].
///
/// # Upstream
/// `RegisterAutoInit` in `reflection/init.h` of 0.1.10.
fn register_init_method(type_index: i32) -> Result<()> {
    const METADATA: &[u8] = br#"{"type_schema":{"type":"ffi.Function"},"auto_init":true}"#;
    let init = make_init_of_type(type_index)?;
    register_method(
        type_index,
        "__ffi_init__",
        &init,
        kTVMFFIFieldFlagBitMaskIsStaticMethod,
        METADATA,
    )
}

fn register_method(
    type_index: i32,
    name: &'static str,
    function: &Function,
    flags: i32,
    metadata: &[u8],
) -> Result<()> {
    let info = TVMFFIMethodInfo {
        name: text(name),
        doc: text(""),
        metadata: bytes(metadata),
        flags: i64::from(flags),
        method: *AnyView::from(function).as_raw(),
    };
    // SAFETY: strings and function outlive the call.
    unsafe { type_table::register_method(type_index, &info) }
}
