//! Position of an error in a walk: every node on the path to the root is appended to the error's
//! context.
#![forbid(unsafe_code)]

use ferrite_core::error::{Error, Result};
use ferrite_core::object::{ObjectClass, ObjectRef};
use ferrite_core::value::any::AnyView;

use crate::reflection::VisitErrorContext;

/// Appends a node to the context of an error that occurred inside the node. Ignores values that are
/// not objects.
///
/// An existing extra context of another class becomes the previous context of the new one. An error
/// that others refer to is replaced by a copy. Does nothing when out of memory, since the error
/// itself matters more.
///
/// # Upstream
/// `UpdateVisitErrorContext` in `extra/visit_error_context.h`.
#[cold]
pub fn add_visit_context(error: &mut Error, node: AnyView<'_>) {
    if let Ok(Some(object)) = node.try_get::<ObjectRef>() {
        let _ = try_add(error, object);
    }
}

fn try_add(error: &mut Error, node: ObjectRef) -> Result<()> {
    let previous = error.extra_context();
    match previous.map(ObjectRef::downcast::<VisitErrorContext>).transpose() {
        Ok(Some(context)) => context.reverse_visit_pattern().push(node),
        Ok(None) => attach(error, node, None),
        Err(other) => attach(error, node, Some(other)),
    }
}

fn attach(error: &mut Error, node: ObjectRef, previous: Option<ObjectRef>) -> Result<()> {
    error.set_extra_context(VisitErrorContext::new(node, previous)?.into_object());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::containers::ListObject;
    use ferrite_core::error;

    fn context_of(error: &Error) -> VisitErrorContext {
        error.extra_context().and_then(|context| context.downcast().ok()).expect("a context")
    }

    #[test]
    fn nodes_add_themselves_innermost_first() -> Result<()> {
        let (inner, outer) = (ListObject::with_capacity(0)?, ListObject::with_capacity(0)?);
        let mut error = error!(ValueError, "no");
        add_visit_context(&mut error, AnyView::from(1i64));
        assert!(error.extra_context().is_none());
        add_visit_context(&mut error, AnyView::from(&inner));
        add_visit_context(&mut error, AnyView::from(&outer));
        let pattern = context_of(&error).reverse_visit_pattern();
        assert_eq!(pattern.len(), 2);
        assert!(pattern.get(0)?.ptr_eq(inner.as_object()));
        assert!(pattern.get(1)?.ptr_eq(outer.as_object()));
        Ok(())
    }

    #[test]
    fn another_context_is_kept() -> Result<()> {
        let node = ListObject::with_capacity(0)?;
        let other = error!(TypeError, "context").into_object();
        let mut error = error!(ValueError, "no").with_cause_and_context(None, Some(other.clone()));
        add_visit_context(&mut error, AnyView::from(&node));
        let kept = context_of(&error).prev_error_context();
        assert!(kept.is_some_and(|kept| kept.ptr_eq(&other)));
        Ok(())
    }
}
