//! Visit hooks of containers, called by C++ code through the attribute column.

use core::ffi::c_void;
use core::ptr::NonNull;

use ferrite_core::abi::{TVMFFIAny, TVMFFIObject, type_index};
use ferrite_core::error::Result;
use ferrite_core::object::{ObjectClass, ObjectRef};
use ferrite_core::plain_error;
use ferrite_core::platform::stack;
use ferrite_core::value::any::Any;
use ferrite_core::value::any::AnyView;

use super::visitor::{COLUMN, visit_children};
use crate::reflection::StructuralVisitor;
use crate::structural::native::{self, NativeHook, serve};

/// Address of the hook. A static, since the compiler may emit the function more than once.
static VISIT_CONTAINER: NativeHook = visit_container;

/// Registers the visit hooks of Array, List, Map and Dict, unless they are registered already.
///
/// # Errors
/// MemoryError.
///
/// # Upstream
/// The registrations for `kStructuralVisit` in `structural_visit.cc`.
pub fn install() -> Result<()> {
    for index in [type_index::ARRAY, type_index::LIST, type_index::MAP, type_index::DICT] {
        // SAFETY: the function visits containers.
        unsafe { native::install(index, COLUMN, VISIT_CONTAINER)? };
    }
    Ok(())
}

/// Returns `true` if a hook is this library's container hook, which implements the default visit.
pub(super) fn is_own(hook: AnyView<'_>) -> bool {
    let own = VISIT_CONTAINER as *mut c_void;
    hook.type_index() == type_index::OPAQUE_PTR
        && hook.get::<*mut c_void>().is_ok_and(|hook| hook == own)
}

/// Visit hook of containers: visits the elements or map values. Returns None, an interrupt, or an
/// error object.
///
/// # Safety
/// `visitor` must be null or a live visitor, and `value` a valid value.
unsafe extern "C" fn visit_container(visitor: *mut TVMFFIObject, value: TVMFFIAny) -> TVMFFIAny {
    serve(|| {
        // SAFETY: the caller guarantees the visitor.
        let visitor = unsafe { visitor_of(visitor)? };
        // SAFETY: the caller guarantees the value.
        let value = unsafe { AnyView::from_raw(value) }.to_owned()?;
        stack::nest(|| visit_children(&visitor, &value)).map(Any::from)
    })
}

/// Returns the visitor passed to a native hook.
///
/// # Errors
/// ValueError for null.
///
/// # Safety
/// `visitor` must be null or a live visitor.
pub(super) unsafe fn visitor_of(visitor: *mut TVMFFIObject) -> Result<StructuralVisitor> {
    let object = NonNull::new(visitor)
        .ok_or_else(|| plain_error!(VALUE_ERROR, "The visitor must not be null"))?;
    // SAFETY: the caller guarantees the object and its class.
    Ok(unsafe { StructuralVisitor::from_object_unchecked(ObjectRef::borrow_raw(object)) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrite_core::names::type_table;
    use ferrite_core::value::convert::OpaquePtr;

    #[test]
    fn the_hook_is_known_in_its_column() -> Result<()> {
        install()?;
        let hook = |index| type_table::attr(index, COLUMN.as_bytes());
        assert!(is_own(hook(type_index::ARRAY)) && is_own(hook(type_index::DICT)));
        assert!(!is_own(hook(type_index::STR)) && !is_own(AnyView::from(&OpaquePtr::NULL)));
        Ok(())
    }
}
