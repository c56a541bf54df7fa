//! Nullable object references, named `ffi.Object` in error messages and schemas as upstream does.

use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::value::convert::{AnyCompatible, TypeText};

/// A nullable reference to an object. Null converts to None.
///
/// # Upstream
/// `ObjectRef` in `object.h`.
pub(super) struct NullableObject(pub Option<ObjectRef>);

// SAFETY: delegates to the inner option.
unsafe impl AnyCompatible for NullableObject {
    const TEXT: &'static TypeText = ObjectRef::TEXT;

    fn view(&self) -> AnyView<'_> {
        AnyView::from(&self.0)
    }

    fn into_any(self) -> Any {
        self.0.into()
    }

    fn try_from_view(view: AnyView<'_>) -> Result<Option<Self>> {
        Ok(view.try_get()?.map(Self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::containers::{List, ListObject};

    #[test]
    fn none_is_a_reference_and_an_int_is_not() -> Result<()> {
        let list = |value: Any| ListObject::from_slice(&[value]).map(Any::new);
        let none: List<NullableObject> = list(Any::NONE)?.get()?;
        assert!(none.get(0)?.0.is_none());
        let error = list(Any::from(1i64))?.get::<List<NullableObject>>().map(drop).unwrap_err();
        assert_eq!(
            error.message_bytes(),
            b"Cannot convert from type `List[index 0: int]` to `List<ffi.Object>`"
        );
        Ok(())
    }
}
