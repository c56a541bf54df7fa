//! Refusal of classes whose type key is taken: firmware is one binary, in which a key has one class.
#![forbid(unsafe_code)]

use crate::class::abi_field::AbiField;
use crate::class::description::Class;
use crate::error::Result;
use crate::plain_error;

/// Marks a type of fields that has a layout in every language.
#[derive(Clone, Copy)]
pub struct FieldLayout;

impl FieldLayout {
    #[allow(clippy::extra_unused_type_parameters, reason = "hosts store properties of the type")]
    pub(in crate::class) const fn of<T: AbiField>() -> FieldLayout {
        FieldLayout
    }
}

/// Returns `false`: nobody else declares classes of firmware in Rust.
pub(in crate::class) fn is_only_declared(_index: i32) -> bool {
    false
}

/// Refuses the class.
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
