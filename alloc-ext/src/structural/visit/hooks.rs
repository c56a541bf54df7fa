//! The hooks of containers, which C++ code finds in the column and calls.

use core::ffi::c_void;
use core::ptr::NonNull;

use ferrite_core::abi::{TVMFFIAny, TVMFFIObject};
use ferrite_core::any::AnyView;
use ferrite_core::convert::AnyCompatible;
use ferrite_core::error::Result;
use ferrite_core::object::{ObjectClass, ObjectRef};
use ferrite_core::{plain_error, stack, type_index};

use super::visitor::{COLUMN, visit_children};
use crate::reflection::StructuralVisitor;
use crate::structural::native::{self, NativeHook, serve};

/// The one address by which the hook is known: the compiler may make several.
static VISIT_CONTAINER: NativeHook = visit_container;

/// Registers the hooks of Array, List, Map and Dict, unless they are there.
///
/// # Errors
/// MemoryError.
///
/// # Upstream
/// The registrations for `kStructuralVisit` in `structural_visit.cc`.
pub fn install() -> Result<()> {
    for index in [type_index::ARRAY, type_index::LIST, type_index::MAP, type_index::DICT] {
        native::install(index, COLUMN, VISIT_CONTAINER)?;
    }
    Ok(())
}

/// Whether a hook is the one here, which does what happens without a hook.
pub(super) fn is_own(hook: AnyView<'_>) -> bool {
    // Payloads are compared: where an address has 32 bits, it is not the low half of one on every core.
    let own = VISIT_CONTAINER as *mut c_void;
    hook.type_index() == type_index::OPAQUE_PTR && hook.payload_bits() == AnyView::from(&own).payload_bits()
}

/// # Safety
/// `visitor` is a live visitor and `value` a value.
unsafe extern "C" fn visit_container(visitor: *mut TVMFFIObject, value: TVMFFIAny) -> TVMFFIAny {
    serve(|| {
        // SAFETY: the caller vouches for the visitor.
        let visitor = unsafe { visitor_of(visitor)? };
        // SAFETY: the caller vouches for the value.
        let value = unsafe { AnyView::from_raw(value) }.to_owned()?;
        stack::nest(|| visit_children(&visitor, &value)).map(AnyCompatible::into_any)
    })
}

/// The visitor that a native call is for.
///
/// # Errors
/// ValueError for null.
///
/// # Safety
/// `visitor` is null or a live visitor.
pub(super) unsafe fn visitor_of(visitor: *mut TVMFFIObject) -> Result<StructuralVisitor> {
    let object =
        NonNull::new(visitor).ok_or_else(|| plain_error!(VALUE_ERROR, "The visitor must not be null"))?;
    // SAFETY: the caller vouches for the object and its class.
    Ok(unsafe { StructuralVisitor::from_object_unchecked(ObjectRef::borrow_raw(object)) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrite_core::type_table;

    #[test]
    fn the_hook_is_known_in_its_column() -> Result<()> {
        install()?;
        let hook = |index| type_table::attr(index, COLUMN.as_bytes());
        assert!(is_own(hook(type_index::ARRAY)) && is_own(hook(type_index::DICT)));
        assert!(!is_own(hook(type_index::STR)) && !is_own(AnyView::from(&core::ptr::null_mut())));
        Ok(())
    }
}
