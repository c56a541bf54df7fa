//! Mutators by their table of functions, made by this library or by C++.

use ferrite_core::abi::{TVMFFIAny, TVMFFIObject};
use ferrite_core::any::{Any, AnyView};
use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;
use ferrite_core::{plain_error, refcount};

use crate::reflection::StructuralMutator;
use crate::structural::native::{self, NativeHook};
use crate::structural::walker::{self, Walker};

/// Whether a value may be changed where it stands.
///
/// # Upstream
/// `InplaceMode` in `extra/structural_mutate.h`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(i32)]
pub enum InplaceMode {
    /// No: what changes is copied first.
    Disallow = 0,
    /// Yes: nobody else holds it.
    Allow = 1,
}

impl InplaceMode {
    /// The mode for a value in something of this mode: it may be changed in place when it has no other holder either.
    pub fn inside(self, value: AnyView<'_>) -> Self {
        match value.object_ptr() {
            // SAFETY: the view borrows a live object.
            Some(object) if self == Self::Allow && unsafe { refcount::is_unique(object.as_ptr()) } => self,
            _ => Self::Disallow,
        }
    }
}

type VarRemapSet =
    unsafe extern "C" fn(mutator: *mut TVMFFIObject, var: TVMFFIAny, mapped: TVMFFIAny) -> TVMFFIAny;

/// What a mutator does. All functions borrow their arguments; their results are owned.
///
/// # Upstream
/// `StructuralMutatorVTable` in `extra/structural_mutate.h`.
#[repr(C)]
pub struct MutatorVTable {
    /// Rewrites a value and leaves the old one alone.
    pub mutate: Option<NativeHook>,
    /// Rewrites a value that nobody else holds.
    pub maybe_inplace_mutate: Option<NativeHook>,
    /// What a variable was replaced by; None when nothing is known.
    pub var_remap_get: Option<NativeHook>,
    /// Says what a variable is replaced by.
    pub var_remap_set: Option<VarRemapSet>,
}

// SAFETY: mutators start with the head (ABI), and their makers give them tables of this type or none.
unsafe impl Walker for StructuralMutator {
    type VTable = MutatorVTable;

    fn class_index() -> Result<i32> {
        StructuralMutator::register_index()
    }
}

/// Rewrites a value through the mutator's own function: the one for values in place when the mode allows it.
///
/// # Errors
/// Those of the mutator; ValueError when it has no such function.
pub fn mutate(mutator: &StructuralMutator, value: AnyView<'_>, mode: InplaceMode) -> Result<Any> {
    let vtable = walker::vtable(mutator)?;
    let hook = if mode == InplaceMode::Allow { vtable.maybe_inplace_mutate } else { vtable.mutate };
    call(mutator, hook, value)
}

/// What a variable was replaced by; None when nothing is known.
///
/// # Errors
/// As [`mutate`].
pub fn var_remap_get(mutator: &StructuralMutator, var: AnyView<'_>) -> Result<Any> {
    call(mutator, walker::vtable(mutator)?.var_remap_get, var)
}

/// Says what a variable is replaced by.
///
/// # Errors
/// As [`mutate`].
pub fn var_remap_set(mutator: &StructuralMutator, var: AnyView<'_>, mapped: AnyView<'_>) -> Result<()> {
    let set = walker::vtable(mutator)?.var_remap_set.ok_or_else(missing)?;
    // SAFETY: the function is in the table of this mutator; all arguments are alive.
    let raw = unsafe { set(mutator.as_object().as_ptr(), *var.as_raw(), *mapped.as_raw()) };
    // SAFETY: such functions give an owned value.
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
