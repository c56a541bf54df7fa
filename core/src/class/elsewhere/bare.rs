//! Refusal of classes whose type key is taken: firmware is one binary, in which a key has one
//! class.
#![forbid(unsafe_code)]

use crate::class::abi_field::AbiField;
use crate::class::description::Class;
use crate::class::register::has_members;
use crate::error::Result;
use crate::plain_error;

/// Marker of a field type with the same layout in every language.
#[derive(Clone, Copy)]
pub struct FieldLayout;

impl FieldLayout {
    #[allow(clippy::extra_unused_type_parameters, reason = "hosts store properties of the type")]
    pub(in crate::class) const fn of<T: AbiField>() -> FieldLayout {
        FieldLayout
    }
}

/// Returns `false`: firmware in Rust has no other declarations of its classes.
pub(in crate::class) fn is_only_declared(_index: i32) -> bool {
    false
}

/// Returns `true` unless the type has members: firmware is one binary, and bindings keep its
/// classes apart.
///
/// # Errors
/// None in this build.
pub(in crate::class) fn claim_for_class(_class: &'static Class, index: i32) -> Result<bool> {
    Ok(!has_members(index))
}

/// Returns `true`.
///
/// # Errors
/// None in this build.
#[inline(always)]
pub(in crate::class) fn claim_for_library(_index: i32) -> Result<bool> {
    Ok(true)
}

/// Returns the number of bytes: in firmware, no other code creates objects of a type without a
/// class in Rust.
///
/// # Errors
/// None in this build.
#[inline(always)]
pub fn claim_for_zeros(_index: i32, bytes: i32) -> Result<Option<i32>> {
    Ok(Some(bytes))
}

/// Returns an error: firmware cannot use a class that is defined elsewhere.
///
/// # Errors
/// TypeError.
pub(in crate::class) fn verify(class: &'static Class, _index: i32) -> Result<bool> {
    Err(plain_error!(
        TYPE_ERROR,
        "The class `{}` is defined elsewhere, where its layout cannot be verified",
        class.key;
        "another `{}` exists",
        class.key
    ))
}
