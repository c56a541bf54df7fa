//! Parameter type for lookup keys, whose comparison may run user callbacks.

use ferrite_core::abi::type_index;
use ferrite_core::any_texts;
use ferrite_core::error::Result;
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::value::convert::AnyCompatible;

/// Parameter that an operation compares with other values. Named `Any` in signatures.
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

/// Returns `true` if comparing a key may call hooks: for all objects except strings and bytes. A
/// hook may release the caller's last reference to the key or to the container.
#[inline(always)]
pub(super) fn may_have_hooks(key: &AnyView<'_>) -> bool {
    let index = key.type_index();
    index >= type_index::STATIC_OBJECT_BEGIN
        && !matches!(index, type_index::STR | type_index::BYTES)
}
