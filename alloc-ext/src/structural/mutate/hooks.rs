//! Mutation hooks of built-in types, called by C++ and Rust clients through the attribute columns.

use ferrite_core::abi::{TVMFFIAny, TVMFFIObject, type_index};
use ferrite_core::error::Result;

use super::engine::{run, serve};
use super::mutation::{MAYBE_INPLACE_MUTATE, MUTATE};
use super::mutator::InplaceMode;
use super::node::Step;
use super::unchanged::UNCHANGED;
use crate::structural::native::{self, NativeHook};

/// Types without children, whose hooks return the value unchanged.
const LEAVES: [i32; 3] = [type_index::STR, type_index::BYTES, type_index::BIG_INT];
const CONTAINERS: [i32; 4] =
    [type_index::ARRAY, type_index::LIST, type_index::MAP, type_index::DICT];

/// Registers the hooks of built-in types unless they are registered already.
///
/// # Errors
/// MemoryError.
pub fn install() -> Result<()> {
    for (types, mutate_hook, inplace_hook) in [
        (&LEAVES[..], keep as NativeHook, keep as NativeHook),
        (&CONTAINERS[..], mutate as NativeHook, maybe_inplace_mutate as NativeHook),
    ] {
        for type_index in types {
            // SAFETY: the functions are the hooks of the columns, for these types.
            unsafe {
                native::install(*type_index, MUTATE, mutate_hook)?;
                native::install(*type_index, MAYBE_INPLACE_MUTATE, inplace_hook)?;
            }
        }
    }
    Ok(())
}

unsafe extern "C" fn keep(_: *mut TVMFFIObject, _: TVMFFIAny) -> TVMFFIAny {
    UNCHANGED.into_raw()
}

unsafe extern "C" fn mutate(mutator: *mut TVMFFIObject, value: TVMFFIAny) -> TVMFFIAny {
    // SAFETY: hooks are called with a mutator and a value.
    unsafe { serve(mutator, value, |m, value| run(m, value, InplaceMode::Disallow, Step::Hook)) }
}

unsafe extern "C" fn maybe_inplace_mutate(
    mutator: *mut TVMFFIObject,
    value: TVMFFIAny,
) -> TVMFFIAny {
    // SAFETY: as above.
    unsafe { serve(mutator, value, |m, value| run(m, value, InplaceMode::Allow, Step::Hook)) }
}
