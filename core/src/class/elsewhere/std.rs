//! Verification of classes whose type key another binary or another language has defined: their
//! layout is compared with the declared fields, and a layout that is not declared in full is
//! refused.
//!
//! | The class is defined | Fields may be | Rust code may |
//! |---|---|---|
//! | in Rust, by another binary | of any [`AbiField`](crate::class::AbiField) type, and change if they do there | read, borrow and create objects |
//! | in another language | numbers, `Any` and optional references; read-only in both | read objects |
//!
//! Accessors of classes in Rust follow the borrows of their objects; those of other languages do
//! not, so their objects must not change. Nor do they let Rust code create objects, whose
//! constructors may set members that reflection does not show.
#![forbid(unsafe_code)]

use core::ptr;

use crate::abi::{TVMFFIFieldInfo, kTVMFFIFieldFlagBitMaskWritable, type_index};
use crate::call::export::metadata_text;
use crate::class::abi_field::AbiField;
use crate::class::binding::{belongs_to_another, is_bound};
use crate::class::description::{Class, Field};
use crate::class::register::{MUTABLE, has_members, is_of_rust, static_type_index};
use crate::error::Result;
use crate::names::type_table;
use crate::platform::text::Lossy;
use crate::value::convert::TypeText;
use crate::{plain_bail, plain_ensure};

/// Layout of a field type, for comparison with the layout in another language.
#[derive(Clone, Copy)]
pub struct FieldLayout {
    /// Whether zero bytes are a value.
    zero: bool,
    /// The class of the object that the field refers to.
    class: Option<fn() -> &'static Class>,
}

impl FieldLayout {
    pub(in crate::class) const fn of<T: AbiField>() -> FieldLayout {
        FieldLayout { zero: T::ZERO, class: T::CLASS }
    }
}

/// The classes that are being verified, from one to the class of a field of it.
struct ClassPath<'a> {
    class: &'static Class,
    before: Option<&'a ClassPath<'a>>,
}

/// Returns `true` if a type has neither members nor functions that create objects, so that a class
/// in Rust may define it. C++ code registers such a type if it knows the layout of a class from a
/// header, and loads the library that defines the class later.
pub(in crate::class) fn is_only_declared(index: i32) -> bool {
    let makes_objects = |name: &[u8]| !type_table::attr(index, name).is_none();
    !has_members(index) && !makes_objects(b"__ffi_new__") && !makes_objects(b"__ffi_shallow_copy__")
}

/// Attribute that records, once, the creator of the objects of a type: a negative number of bytes
/// for zero-initialised objects, 0 for the code of a library, or the address of the description of
/// a class.
const MAKER: &[u8] = b"__ferrite_maker__";

/// Records the creator of the objects of a type, unless one is recorded. Returns the recorded
/// creator. The type table, which all binaries of the process share, decides among threads.
///
/// # Errors
/// InternalError for an unknown type; MemoryError.
fn claim(index: i32, maker: i64) -> Result<i64> {
    let outcome = match type_table::attr(index, MAKER).is_none() {
        true => type_table::register_attr(index, MAKER, maker.into()),
        false => Ok(()),
    };
    // Another thread may have been faster.
    match type_table::attr(index, MAKER).try_get()? {
        Some(known) => Ok(known),
        None => outcome.map(|()| maker),
    }
}

/// Claims a type whose key is new, or was only declared, for a class of this binary. Returns
/// `false` if other code creates its objects.
///
/// # Errors
/// MemoryError.
pub(in crate::class) fn claim_for_class(class: &'static Class, index: i32) -> Result<bool> {
    let maker = ptr::from_ref(class).addr() as i64;
    Ok(!has_members(index) && claim(index, maker)? == maker)
}

/// Claims a type for code of a library that creates its objects, in this binary or another one.
/// Returns `false` if other code creates them.
///
/// # Errors
/// MemoryError.
pub(in crate::class) fn claim_for_library(index: i32) -> Result<bool> {
    Ok(claim(index, 0)? == 0)
}

/// Records that the type, or types derived from it, have zero-initialised objects of at least this
/// number of bytes. Returns the recorded number, which may differ, or `None` if a class in Rust or
/// a library creates the objects.
///
/// # Errors
/// InternalError for an unknown type; MemoryError.
pub fn claim_for_zeros(index: i32, bytes: i32) -> Result<Option<i32>> {
    let maker = claim(index, -i64::from(bytes))?;
    Ok(i32::try_from(-maker).ok().filter(|bytes| *bytes > 0))
}

/// Verifies the layout of a class that is registered with this index. Returns whether Rust code may
/// create objects.
///
/// # Errors
/// TypeError if reflection declares another layout, or too little; MemoryError.
pub(in crate::class) fn verify(class: &'static Class, index: i32) -> Result<bool> {
    verify_class(&ClassPath { class, before: None }, index)?;
    let is_rust = type_table::fields(index).iter().all(is_of_rust);
    Ok(is_rust && class.parent_creates())
}

fn verify_class(path: &ClassPath<'_>, index: i32) -> Result<()> {
    let class = path.class;
    let Some(size) = type_table::members(index).total_size else {
        plain_bail!(
            TYPE_ERROR,
            "The class `{}` is declared elsewhere without a size and fields, so that its layout is not known",
            class.key
        );
    };
    let same = |what: &str, there: usize, here: usize| {
        plain_ensure!(
            there == here,
            TYPE_ERROR,
            "The class `{}` is defined elsewhere with another {}: {} there, {} here",
            class.key,
            what,
            there,
            here
        );
        Ok(())
    };
    let fields = type_table::fields(index);
    same("size", size as usize, class.size)?;
    if let Some(maker @ ..0) = type_table::attr(index, MAKER).try_get::<i64>()? {
        same("size of objects", maker.unsigned_abs() as usize, class.size)?;
    }
    same("number of fields", fields.len(), class.options.fields.len())?;
    plain_ensure!(
        !class.options.hides_fields,
        TYPE_ERROR,
        "The class `{}` is defined elsewhere, and has fields with `skip` here, which no other binary can verify",
        class.key
    );
    class.options.fields.iter().try_for_each(|field| verify_field(path, field, fields))
}

/// Verifies a field of the class at the end of a path.
fn verify_field(path: &ClassPath<'_>, field: &Field, fields: &[TVMFFIFieldInfo]) -> Result<()> {
    let class = path.class;
    let refuse = |reason: &str| {
        plain_bail!(
            TYPE_ERROR,
            "The field `{}` of class `{}`, which is defined elsewhere, {}",
            field.name,
            class.key,
            reason
        )
    };
    let Some(there) =
        fields.iter().find(|there| type_table::is_named(&there.name, field.name.as_bytes()))
    else {
        return refuse("is not among its fields there");
    };
    for (what, there, here) in [
        ("offset", there.offset, field.offset),
        ("size", there.size, field.size),
        ("alignment", there.alignment, field.alignment),
    ] {
        plain_ensure!(
            there == here as i64,
            TYPE_ERROR,
            "The field `{}` of class `{}` is defined elsewhere with another {}: {} there, {} here",
            field.name,
            class.key,
            what,
            &there,
            here
        );
    }
    let Some(layout) = field.layout else {
        return refuse("has a type here that has no representation in other languages");
    };
    verify_type(class, field, there)?;
    if is_of_rust(there) {
        if (there.flags & MUTABLE != 0) != class.mutable {
            return refuse(
                "belongs to a mutable class there or here, and to one that never changes in the other place",
            );
        }
    } else if class.mutable || there.flags & i64::from(kTVMFFIFieldFlagBitMaskWritable) != 0 {
        return refuse(
            "can change without a borrow: only fields that are read-only there and here are shared",
        );
    } else if !layout.zero {
        return refuse("may be null there, which the type here cannot: make it an `Option`");
    }
    layout.class.map_or(Ok(()), |referenced| verify_reference(path, referenced()))
}

/// Verifies the declared type of a field.
fn verify_type(class: &Class, field: &Field, there: &TVMFFIFieldInfo) -> Result<()> {
    let metadata = type_table::metadata_of(there);
    let text = field.text;
    // A reference of other languages may be null whether or not it is declared so.
    let inner = text.args().first().filter(|_| text.key() == "Optional" && !is_of_rust(there));
    let expected = static_type_index(text);
    let is_number = matches!(expected, type_index::INT..type_index::STATIC_OBJECT_BEGIN);
    let fits = (!is_number || there.field_static_type_index == expected)
        && match has_key(metadata) {
            true => {
                declares(metadata, text)?
                    || inner.map_or(Ok(false), |text| declares(metadata, text))?
            }
            false => is_number,
        };
    if fits {
        return Ok(());
    }
    let here = metadata_text(&|out| text.write_schema(out))?;
    plain_bail!(
        TYPE_ERROR,
        "The field `{}` of class `{}` is defined elsewhere with another type: `{}` there, `{}` here",
        field.name,
        class.key,
        Lossy(metadata),
        &here
    )
}

const SCHEMA: &[u8] = b"\"type_schema\":";

fn has_key(metadata: &[u8]) -> bool {
    contains(metadata, SCHEMA)
}

/// Returns whether the metadata of a field has this type schema.
fn declares(metadata: &[u8], text: &TypeText) -> Result<bool> {
    let ours = metadata_text(&|out| text.write_schema(out))?;
    let member = ours.as_bytes().strip_prefix(b"{").and_then(|member| member.strip_suffix(b"}"));
    Ok(member.is_some_and(|member| contains(metadata, member)))
}

/// Returns `true` if JSON text has a part, apart from spaces. Quotes in strings are escaped, so a
/// part with a key is not found in a string.
fn contains(text: &[u8], part: &[u8]) -> bool {
    let mut rest = text;
    while let [_, tail @ ..] = rest {
        let mut bytes = rest.iter().filter(|byte| !byte.is_ascii_whitespace());
        if part.iter().all(|byte| bytes.next() == Some(byte)) {
            return true;
        }
        rest = tail;
    }
    false
}

/// Verifies the class of an object that a field refers to: its content is accessible without
/// another check.
fn verify_reference(before: &ClassPath<'_>, class: &'static Class) -> Result<()> {
    let mut known = Some(before);
    while let Some(path) = known {
        if ptr::eq(path.class, class) {
            return Ok(());
        }
        known = path.before;
    }
    if class.is_registered() {
        return Ok(());
    }
    let path = ClassPath { class, before: Some(before) };
    if let Some(parent) = class.options.parent {
        verify_reference(&path, parent())?;
    }
    match type_table::key_to_index(class.key.as_bytes()) {
        Some(index) if is_bound(index, Some(&class.binding)) => {
            Err(belongs_to_another(class.key.as_bytes()))
        }
        Some(index) => {
            class.check_ancestor(index)?;
            verify_class(&path, index)
        }
        None => plain_bail!(
            TYPE_ERROR,
            "The class `{}`, to which a field of class `{}` refers, is not registered",
            class.key,
            before.class.key
        ),
    }
}
