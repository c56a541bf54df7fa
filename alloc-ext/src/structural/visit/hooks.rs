//! Visit hooks: those of containers, called by C++ code through the attribute column, and visits by
//! the hook of a type.

use core::ffi::c_void;
use core::ptr::NonNull;

use ferrite_core::abi::{TVMFFIAny, TVMFFIObject, type_index};
use ferrite_core::error::Result;
use ferrite_core::object::{ObjectClass, ObjectRef};
use ferrite_core::plain_error;
use ferrite_core::platform::stack;
use ferrite_core::value::any::Any;
use ferrite_core::value::any::AnyView;

use super::visitor::{COLUMN, interrupt_of, visit_children};
use crate::reflection::{StructuralVisitor, VisitInterrupt};
use crate::structural::native::{self, NativeHook, call_hook, serve};
use crate::walk::Hooks;

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
fn is_own(hook: AnyView<'_>) -> bool {
    let own = VISIT_CONTAINER as *mut c_void;
    hook.type_index() == type_index::OPAQUE_PTR
        && hook.get::<*mut c_void>().is_ok_and(|hook| hook == own)
}

/// Visits the children of a value: by the hook of its type, otherwise its elements, map values or
/// fields. Returns the interrupt, if any.
///
/// # Errors
/// Errors of the hook, of field getters and of the visitor; TypeError for a hook that is not
/// callable; ValueError if calls are nested too deeply; InternalError for an object of an
/// unregistered type.
///
/// # Upstream
/// `StructuralVisitorObj::DefaultVisitExpected` in `extra/structural_visit.h`.
pub fn default_visit(visitor: &StructuralVisitor, value: &Any) -> Result<Option<VisitInterrupt>> {
    stack::nest(|| match visit_by_hook(Hooks::new(COLUMN), visitor, value) {
        Some(outcome) => outcome,
        None => visit_children(visitor, value),
    })
}

/// Visits the children of a value by the hook of its type; `None` if the type does not define a
/// hook.
pub(super) fn visit_by_hook(
    hooks: Hooks,
    visitor: &StructuralVisitor,
    value: &Any,
) -> Option<Result<Option<VisitInterrupt>>> {
    let hook = hooks.value(value.type_index());
    if hook.is_none() || is_own(hook) {
        return None;
    }
    // SAFETY: the hook comes from the column of hooks for visitors.
    Some(unsafe { call_hook(COLUMN, hook, visitor, value.view()) }.and_then(interrupt_of))
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
