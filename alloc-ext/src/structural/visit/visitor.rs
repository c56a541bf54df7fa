//! Calls through the table of functions of a visitor, which this library or C++ code made.

use ferrite_core::any::{Any, AnyView};
use ferrite_core::error::Result;
use ferrite_core::{plain_error, stack};

use super::descent::Descent;
use crate::reflection::{StructuralVisitor, VisitInterrupt};
use crate::structural::native::{NativeHook, call_hook, call_native, wrong_result};
use crate::structural::walker::{self, Walker};
use crate::walk::Hooks;

/// The column of hooks that visit what is inside the values of a type.
pub(super) const COLUMN: &str = "__s_visit__";

/// The table of functions of a visitor.
///
/// # Upstream
/// `StructuralVisitorVTable` in `extra/structural_visit.h`.
#[repr(C)]
pub struct VisitorVTable {
    /// Visits a value; gives None, an interrupt, or an error.
    pub visit: Option<NativeHook>,
}

// SAFETY: C++ code derives visitors from upstream's class, which starts so.
unsafe impl Walker for StructuralVisitor {
    type VTable = VisitorVTable;

    fn class_index() -> Result<i32> {
        StructuralVisitor::register_index()
    }
}

/// Visits a value as the visitor does it.
///
/// # Errors
/// Those of the visitor; ValueError for one without a table of functions.
///
/// # Upstream
/// `StructuralVisitorObj::VisitExpected` in `extra/structural_visit.h`.
pub fn visit(visitor: &StructuralVisitor, value: AnyView<'_>) -> Result<Option<VisitInterrupt>> {
    let Some(hook) = walker::vtable(visitor)?.visit else {
        return Err(plain_error!(VALUE_ERROR, "The visitor's table has no function to visit values"));
    };
    // SAFETY: the function comes from the visitor's own table.
    interrupt_of(unsafe { call_native(hook, visitor, value)? })
}

/// Visits what is inside a value: by the hook of its type, else its elements, the values of its entries, or its fields.
///
/// # Errors
/// Those of the hook, getters and the visitor; TypeError for a hook that cannot be called; ValueError when calls nest too
/// deep; InternalError for an object of an unregistered type.
///
/// # Upstream
/// `StructuralVisitorObj::DefaultVisitExpected` in `extra/structural_visit.h`.
pub fn default_visit(visitor: &StructuralVisitor, value: &Any) -> Result<Option<VisitInterrupt>> {
    stack::nest(|| match visit_by_hook(Hooks::new(COLUMN), visitor, value) {
        Some(outcome) => outcome,
        None => visit_children(visitor, value),
    })
}

/// Visits what is inside a value by the hook of its type, if it has one.
pub(super) fn visit_by_hook(
    hooks: Hooks,
    visitor: &StructuralVisitor,
    value: &Any,
) -> Option<Result<Option<VisitInterrupt>>> {
    let hook = hooks.value(value.type_index());
    if hook.is_none() || super::hooks::is_own(hook) {
        return None;
    }
    // SAFETY: the hook comes from the column of hooks for visitors.
    Some(unsafe { call_hook(COLUMN, hook, visitor, value.view()) }.and_then(interrupt_of))
}

/// Lets the visitor visit everything inside a value, whatever hook its type has.
pub(super) fn visit_children(visitor: &StructuralVisitor, value: &Any) -> Result<Option<VisitInterrupt>> {
    let Some(mut descent) = Descent::into(value, walker::region(visitor))? else { return Ok(None) };
    while let Some((child, region)) = descent.next()? {
        let interrupt = walker::in_region(visitor, region, || visit(visitor, child.view()))?;
        if interrupt.is_some() {
            return Ok(interrupt);
        }
    }
    Ok(None)
}

/// What a hook or callback answered.
pub(super) fn interrupt_of(result: Any) -> Result<Option<VisitInterrupt>> {
    match result.try_get()? {
        Some(interrupt) => Ok(interrupt),
        None => Err(wrong_result::<Option<VisitInterrupt>>(&result)),
    }
}
