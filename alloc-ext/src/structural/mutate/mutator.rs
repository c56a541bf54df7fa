//! Calls through the function table of a mutator, created by this library or by C++.

use ferrite_core::abi::{TVMFFIAny, TVMFFIObject};
use ferrite_core::error::Result;
use ferrite_core::object::{ObjectClass, refcount};
use ferrite_core::plain_error;
use ferrite_core::value::any::{Any, AnyView};

use crate::reflection::StructuralMutator;
use crate::structural::native::{self, NativeHook};
use crate::structural::walker::{self, Walker};

/// Permission for a mutator to change a value in place.
///
/// # Upstream
/// `InplaceMode` in `extra/structural_mutate.h`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(i32)]
pub enum InplaceMode {
    /// Denied: the value is copied before it is changed.
    Disallow = 0,
    /// Granted: the value has no other reference.
    Allow = 1,
}

impl InplaceMode {
    /// Returns the mode for a child of a value with this mode. In-place changes also require that
    /// the child is unshared.
    pub fn inside(self, value: AnyView<'_>) -> Self {
        match value.object_ptr() {
            Some(object)
                // SAFETY: the view borrows a live object.
                if self == Self::Allow && unsafe { refcount::is_unique(object.as_ptr()) } =>
            {
                self
            }
            _ => Self::Disallow,
        }
    }
}

type VarRemapSet = unsafe extern "C" fn(
    mutator: *mut TVMFFIObject,
    var: TVMFFIAny,
    mapped: TVMFFIAny,
) -> TVMFFIAny;

/// Function table of a mutator. All functions borrow their arguments and return owned results.
///
/// # Upstream
/// `StructuralMutatorVTable` in `extra/structural_mutate.h`.
#[repr(C)]
pub struct MutatorVTable {
    /// Returns the rewritten value and leaves the original unchanged.
    pub mutate: Option<NativeHook>,
    /// Returns the rewritten value, which may be the original changed in place. The original must
    /// be unshared.
    pub maybe_inplace_mutate: Option<NativeHook>,
    /// Returns the replacement of a variable, None if it has none.
    pub var_remap_get: Option<NativeHook>,
    /// Sets the replacement of a variable.
    pub var_remap_set: Option<VarRemapSet>,
}

// SAFETY: mutators start with the head (ABI), and their creators set a table of this type or none.
unsafe impl Walker for StructuralMutator {
    type VTable = MutatorVTable;

    fn class_index() -> Result<i32> {
        StructuralMutator::register_index()
    }
}

/// Rewrites a value by the mutator's `maybe_inplace_mutate` function if the mode allows in-place
/// changes, otherwise by `mutate`.
///
/// # Errors
/// Errors of the mutator; ValueError if its table lacks the function.
pub fn mutate(mutator: &StructuralMutator, value: AnyView<'_>, mode: InplaceMode) -> Result<Any> {
    let vtable = walker::vtable(mutator)?;
    let hook = if mode == InplaceMode::Allow { vtable.maybe_inplace_mutate } else { vtable.mutate };
    call(mutator, hook, value)
}

/// Returns the replacement of a variable, None if it has none.
///
/// # Errors
/// Errors of [`mutate`].
pub fn var_remap_get(mutator: &StructuralMutator, var: AnyView<'_>) -> Result<Any> {
    call(mutator, walker::vtable(mutator)?.var_remap_get, var)
}

/// Sets the replacement of a variable.
///
/// # Errors
/// Errors of [`mutate`].
pub fn var_remap_set(
    mutator: &StructuralMutator,
    var: AnyView<'_>,
    mapped: AnyView<'_>,
) -> Result<()> {
    let set = walker::vtable(mutator)?.var_remap_set.ok_or_else(missing)?;
    // SAFETY: the function is in the table of this mutator; all arguments are alive.
    let raw = unsafe { set(mutator.as_object().as_ptr(), *var.as_raw(), *mapped.as_raw()) };
    // SAFETY: such functions return an owned value.
    native::without_error(unsafe { Any::from_raw(raw) }).map(drop)
}

fn call(mutator: &StructuralMutator, hook: Option<NativeHook>, value: AnyView<'_>) -> Result<Any> {
    // SAFETY: the function is in the table of this mutator.
    unsafe { native::call_native(hook.ok_or_else(missing)?, mutator, value) }
}

#[cold]
fn missing() -> ferrite_core::error::Error {
    plain_error!(VALUE_ERROR, "The table of functions of the mutator is incomplete")
}
