//! Earlier releases of upstream: what `ferrite_core::upstream_release` lists, as far as classes and global functions have it.
//!
//! The Python package names its release before it looks at types: classes are registered in the form of the release that
//! is served then, and keep it.

use ferrite_core::abi::{
    TVMFFIMethodInfo, kTVMFFIFieldFlagBitMaskIsStaticMethod, kTVMFFIFieldFlagBitMaskSEqHashIgnore,
};
use ferrite_core::any::AnyView;
use ferrite_core::builtins::StaticFunction;
use ferrite_core::error::Result;
use ferrite_core::upstream_release::{self, UpstreamRelease};
use ferrite_core::{
    Function, String, global_table, plain_ensure, plain_error, static_function, type_index, type_table,
};

use super::class::{Class, Method};
use super::enums::{self, EnumContent};
use super::field::{Field, bytes, field, text};
use super::fields::{has_creator, type_of};
use super::init::make_init;
use super::py_class::FieldClass;
use super::record::Record;
use super::{CLASSES, storage};

/// The function by which a client names its release. Upstream has none.
pub static FUNCTIONS: &[StaticFunction] = &[static_function!("ffi.ferrite.ServeRelease", serve)];

/// The functions of 0.1.10 that no other release has.
static FUNCTIONS_OF_0_1_10: [StaticFunction; 4] = [
    static_function!("ffi.GetFieldGetter", storage::make_getter),
    static_function!("ffi.MakeFFINew", make_new),
    static_function!("ffi.MakeInit", make_init_of_type),
    static_function!("ffi.RegisterAutoInit", register_init_method),
];

/// The fields of `ffi.Enum` until 0.1.12. They lie where later ones do.
static ENUM_FIELDS: [Field; 2] = [
    field!(Record<EnumContent>, content.int_index: i64, "_value", type_index::INT)
        .with_flags(kTVMFFIFieldFlagBitMaskSEqHashIgnore)
        .with_doc("Ordinal assigned at registration."),
    field!(Record<EnumContent>, content.str_index: String, "_name", type_index::ANY)
        .with_doc("Instance name."),
];

/// The columns that have to be there before a class of enums is, until 0.1.12.
const ENUM_COLUMNS: [&[u8]; 3] =
    [b"__ffi_enum_entries__", b"__ffi_enum_attrs__", b"__ffi_enum_value_entries__"];

const SHALLOW_COPY: &str = "__ffi_shallow_copy__";

/// `ffi.ferrite.ServeRelease`: serves a release of upstream from now on.
///
/// # Errors
/// ValueError for numbers that no release has; RuntimeError when types are registered in the form of another release;
/// MemoryError.
fn serve(major: i64, minor: i64, patch: i64) -> Result<()> {
    let number = |number: i64| {
        u8::try_from(number)
            .map_err(|_| plain_error!(VALUE_ERROR, "There is no release with the number {}", &number))
    };
    let release = UpstreamRelease::new(number(major)?, number(minor)?, number(patch)?);
    if upstream_release::served() == release {
        return Ok(());
    }
    plain_ensure!(
        !CLASSES.iter().any(|class| class.index() >= 0),
        RUNTIME_ERROR,
        "The library's types are registered already: choose the release before types are used"
    );
    let before = upstream_release::served();
    upstream_release::serve(release);
    let is_0_1_10 = release == UpstreamRelease::new(0, 1, 10);
    let functions: &[StaticFunction] = if is_0_1_10 { &FUNCTIONS_OF_0_1_10 } else { &[] };
    functions.iter().try_for_each(register_function).inspect_err(|_| upstream_release::serve(before))
}

fn register_function(function: &StaticFunction) -> Result<()> {
    let (object, metadata) = (function.to_function()?, function.metadata()?);
    global_table::set_with_texts(function.name().as_bytes(), &object, b"", metadata.as_bytes(), true)
}

/// The fields of a class in the release that is served.
pub(super) fn fields_of(class: &'static Class) -> &'static [Field] {
    let is_enum = core::ptr::eq(class, &enums::ENUM);
    if is_enum && upstream_release::enums_have_values() { &ENUM_FIELDS } else { class.fields }
}

/// Adds the columns that the release being served has besides those of the last one.
///
/// # Errors
/// MemoryError.
pub(super) fn install() -> Result<()> {
    if upstream_release::enums_have_values() {
        ENUM_COLUMNS
            .iter()
            .try_for_each(|column| type_table::register_attr(type_index::NONE, column, AnyView::NONE))?;
    }
    Ok(())
}

/// Registers the shallow copy of a class as a method, too, in releases that have it there.
///
/// # Errors
/// MemoryError.
pub(super) fn register_copy_method(class: &Class) -> Result<()> {
    if !upstream_release::copies_are_methods() {
        return Ok(());
    }
    let Some(copy) = class.attrs.iter().find(|attr| attr.0 == SHALLOW_COPY) else { return Ok(()) };
    // An earlier attempt may have ended behind this class.
    let methods = type_table::type_info(class.index()).map_or(&[][..], |entry| entry.methods());
    // SAFETY: names of published methods live for ever.
    if methods.iter().any(|method| unsafe { method.name.as_slice() } == SHALLOW_COPY.as_bytes()) {
        return Ok(());
    }
    Method { name: SHALLOW_COPY, doc: "", is_static: false, function: copy.1 }
        .register(class.register_index()?)
}

/// `ffi.MakeFFINew`: gives a type of fields `__ffi_new__` and `__ffi_shallow_copy__`, the latter as a method, too.
///
/// # Errors
/// Those of `ffi._PyClassRegisterTypeAttrColumns`.
///
/// # Upstream
/// `MakeFFINew` in `dataclass.cc` of 0.1.10.
fn make_new(type_index: i32, total_size: i32) -> Result<()> {
    let copy = FieldClass::of(type_index, total_size)?.register()?;
    register_method(type_index, SHALLOW_COPY, &copy, 0, b"")
}

/// `ffi.MakeInit`: the `__ffi_init__` that the fields of a type describe.
///
/// # Errors
/// InternalError for an unknown type, or one whose objects cannot be made; MemoryError.
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

/// `ffi.RegisterAutoInit`: the same as a method of the type.
///
/// # Errors
/// Those of [`make_init_of_type`].
///
/// # Upstream
/// `RegisterAutoInit` in `reflection/init.h` of 0.1.10.
fn register_init_method(type_index: i32) -> Result<()> {
    const METADATA: &[u8] = br#"{"type_schema":{"type":"ffi.Function"},"auto_init":true}"#;
    let init = make_init_of_type(type_index)?;
    register_method(type_index, "__ffi_init__", &init, kTVMFFIFieldFlagBitMaskIsStaticMethod, METADATA)
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
    // SAFETY: texts and function live through the call.
    unsafe { type_table::register_method(type_index, &info) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_chosen_before_types_are_registered() -> Result<()> {
        super::super::install()?;
        assert_eq!(serve(0, 1, 9).unwrap_err().kind(), b"RuntimeError");
        assert_eq!(serve(0, 1, 256).unwrap_err().kind(), b"ValueError");
        assert_eq!(serve(0, -1, 9).unwrap_err().kind(), b"ValueError");
        Ok(())
    }
}
