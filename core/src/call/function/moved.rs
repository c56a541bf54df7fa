//! Objects that are moved through a call, instead of borrowed for it.

use core::cell::UnsafeCell;
use core::ptr::NonNull;

use super::Argument;
use crate::abi::{TVMFFIObject, type_index};
use crate::error::Result;
use crate::object::{ObjectClass, ObjectRef};
use crate::value::any::AnyView;
use crate::value::convert::{AnyCompatible, Described, FromView, Param, TypeText};

/// An argument whose reference the callee may take: unshared containers are then changed in place
/// instead of copied. As a parameter, it takes the reference from callers that move it, and retains
/// the object for others.
///
/// # Examples
/// ```
/// use ferrite_core::{Function, ObjectClass, Shape};
/// use ferrite_core::call::function::Moved;
///
/// # fn main() -> ferrite_core::Result<()> {
/// let owners = Function::from_typed(|Moved(shape): Moved<Shape>| shape.as_object().strong_count() as i64)?;
/// let shape = Shape::from_slice(&[2, 3])?;
/// assert_eq!(owners.call::<i64>((&shape,))?, 2);
/// assert_eq!(owners.call::<i64>((Moved(shape),))?, 1);
/// # Ok(())
/// # }
/// ```
///
/// # Upstream
/// `tvm::ffi::RValueRef` in `rvalue_ref.h`.
#[derive(Clone, Debug)]
pub struct Moved<T>(pub T);

/// The variable that an rvalue reference refers to: the caller's reference, or null after the
/// callee took it.
pub struct Slot(UnsafeCell<*mut TVMFFIObject>);

impl Drop for Slot {
    fn drop(&mut self) {
        // SAFETY: a pointer that was not taken is the strong reference that `hold` put there.
        drop(NonNull::new(*self.0.get_mut()).map(|object| unsafe { ObjectRef::from_raw(object) }));
    }
}

impl<T: ObjectClass> Argument for Moved<T> {
    type Held = Slot;

    fn hold(self) -> Result<Slot> {
        Ok(Slot(UnsafeCell::new(self.0.into_object().into_raw().as_ptr())))
    }

    fn view_of(held: &Slot) -> AnyView<'_> {
        AnyView::pointer(type_index::OBJECT_RVALUE_REF, held.0.get().cast())
    }
}

impl<T: ObjectClass + AnyCompatible> Described for Moved<T> {
    const TYPE: &'static TypeText = T::TEXT;

    fn accepts(view: &AnyView<'_>) -> bool {
        with_content(view, |view| matches!(T::try_from_view(view), Ok(Some(_))))
    }
}

impl<T: ObjectClass + AnyCompatible> Param for Moved<T> {
    type In<'a> = Moved<T>;

    fn param<'a>(view: &'a AnyView<'a>) -> Result<Option<Moved<T>>> {
        Moved::from_view(view)
    }
}

impl<'a, T: ObjectClass + AnyCompatible> FromView<'a> for Moved<T> {
    fn from_view(view: &'a AnyView<'a>) -> Result<Option<Moved<T>>> {
        if view.rvalue_slot().is_none() || !Self::accepts(view) {
            return Ok(T::try_from_view(*view)?.map(Moved));
        }
        let taken = view.to_owned()?;
        Ok(T::try_from_view(taken.view())?.map(Moved))
    }

    fn is_exact(view: &'a AnyView<'a>) -> Result<bool> {
        Ok(Self::accepts(view))
    }
}

/// Calls `body` with the object that an rvalue reference refers to, or with the view itself.
fn with_content<R>(view: &AnyView<'_>, body: impl FnOnce(AnyView<'_>) -> R) -> R {
    // SAFETY: an rvalue reference points to the caller's object pointer (ABI).
    let object = view.rvalue_slot().and_then(|slot| NonNull::new(unsafe { slot.as_ptr().read() }));
    let Some(object) = object else { return body(*view) };
    // SAFETY: the caller's reference keeps the object alive.
    let type_index = unsafe { (*object.as_ptr()).type_index };
    body(AnyView::pointer(type_index, object.as_ptr().cast()))
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;
    use crate::{Any, Function, Shape};

    fn owners(Moved(shape): Moved<Shape>) -> i64 {
        i64::from(shape.as_object().strong_count())
    }

    #[test]
    fn references_are_moved_if_the_callee_takes_them() -> Result<()> {
        let shape = Shape::from_slice(&[1])?;
        let function = Function::from_typed(owners)?;
        assert_eq!(function.call::<i64>((Moved(shape.clone()),))?, 2);
        assert_eq!(function.call::<i64>((&shape,))?, 2);
        let keeping = Function::from_typed(|value: Any| value)?;
        let kept: Any = keeping.call((Moved(shape.clone()),))?;
        assert_eq!(shape.as_object().strong_count(), 2);
        drop(kept);
        assert_eq!(shape.as_object().strong_count(), 1);
        Ok(())
    }

    #[test]
    fn references_that_nobody_takes_are_released() -> Result<()> {
        let shape = Shape::from_slice(&[1])?;
        let number = Function::from_typed(|x: i64| x)?;
        assert_eq!(
            number.call::<i64>((Moved(shape.clone()),)).unwrap_err().kind_bytes(),
            b"TypeError"
        );
        let function = Function::from_typed(|_: Moved<Function>| 1)?;
        assert_eq!(
            function.call::<i64>((Moved(shape.clone()),)).unwrap_err().kind_bytes(),
            b"TypeError"
        );
        assert_eq!(shape.as_object().strong_count(), 1);
        Ok(())
    }
}
