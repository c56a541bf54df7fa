//! Calls through the function table of a visitor, created by this library or by C++.

use ferrite_core::error::Result;
use ferrite_core::plain_error;
use ferrite_core::value::any::{Any, AnyView};

use super::children::VisitChildren;
use crate::reflection::{StructuralVisitor, VisitInterrupt};
use crate::structural::native::{NativeHook, call_native, wrong_result};
use crate::structural::walker::{self, Walker};

/// Attribute column of visit hooks, which visit the children of a value.
pub(super) const COLUMN: &str = "__s_visit__";

/// Function table of a visitor.
///
/// # Upstream
/// `StructuralVisitorVTable` in `extra/structural_visit.h`.
#[repr(C)]
pub struct VisitorVTable {
    /// Visits a value. Returns None to continue, an interrupt, or an error object.
    pub visit: Option<NativeHook>,
}

// SAFETY: C++ visitors derive from upstream's class, which starts with this head.
unsafe impl Walker for StructuralVisitor {
    type VTable = VisitorVTable;

    fn class_index() -> Result<i32> {
        StructuralVisitor::register_index()
    }
}

/// Visits a value by the function in the visitor's table. Returns the interrupt, if any.
///
/// # Errors
/// Errors of the visitor; ValueError if it has no table, or its table lacks the function.
///
/// # Upstream
/// `StructuralVisitorObj::VisitExpected` in `extra/structural_visit.h`.
pub fn visit(visitor: &StructuralVisitor, value: AnyView<'_>) -> Result<Option<VisitInterrupt>> {
    let Some(hook) = walker::vtable(visitor)?.visit else {
        return Err(plain_error!(
            VALUE_ERROR,
            "The visitor's table has no function to visit values"
        ));
    };
    // SAFETY: the function comes from the visitor's own table.
    interrupt_of(unsafe { call_native(hook, visitor, value)? })
}

/// Visits the children of a value without calling the hook of its type. Returns the interrupt, if
/// any.
pub(super) fn visit_children(
    visitor: &StructuralVisitor,
    value: &Any,
) -> Result<Option<VisitInterrupt>> {
    let Some(mut children) = VisitChildren::of(value, walker::region(visitor))? else {
        return Ok(None);
    };
    while let Some((child, region)) = children.next()? {
        let interrupt = walker::in_region(visitor, region, || visit(visitor, child.view()))?;
        if interrupt.is_some() {
            return Ok(interrupt);
        }
    }
    Ok(None)
}

/// Converts the result of a hook or callback to an interrupt; `None` for None. Raises TypeError for
/// any other value.
pub(super) fn interrupt_of(result: Any) -> Result<Option<VisitInterrupt>> {
    match result.try_get()? {
        Some(interrupt) => Ok(interrupt),
        None => Err(wrong_result::<Option<VisitInterrupt>>(&result)),
    }
}
