//! Parameter type of lookup keys, whose comparison may run user callbacks.

use ferrite_core::any::{Any, AnyView};
use ferrite_core::convert::AnyCompatible;
use ferrite_core::error::Result;
use ferrite_core::{any_texts, type_index};

/// A value that an operation compares with others. Shown as `Any` in signatures.
pub(crate) struct Key(Any);

// SAFETY: delegates to the inner value.
unsafe impl AnyCompatible for Key {
    any_texts!("Any", "Any");

    fn view(&self) -> AnyView<'_> {
        self.0.view()
    }

    fn into_any(self) -> Any {
        self.0
    }

    fn try_from_view(view: AnyView<'_>) -> Result<Option<Self>> {
        view.to_owned().map(|value| Some(Self(value)))
    }
}

/// Returns `true` if a key may have hooks: if it is an object other than a string or bytes. A hook may release the caller's
/// last reference to the key or to the container.
#[inline(always)]
pub(super) fn may_have_hooks(key: &AnyView<'_>) -> bool {
    let index = key.type_index();
    index >= type_index::STATIC_OBJECT_BEGIN && !matches!(index, type_index::STR | type_index::BYTES)
}
