//! An argument that an operation looks for: comparing it may run code of users.

use ferrite_core::any::{Any, AnyView};
use ferrite_core::convert::AnyCompatible;
use ferrite_core::error::Result;
use ferrite_core::{any_texts, type_index};

/// A value that an operation compares with others, shown as `Any` in its signature.
pub(crate) struct Key(Any);

// SAFETY: hands out what the value inside does.
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

/// Whether a key may have hooks: it is an object, and neither text nor bytes. A hook may give up the caller's last reference to
/// the key or to what it is looked for in.
#[inline(always)]
pub(super) fn may_have_hooks(key: &AnyView<'_>) -> bool {
    let index = key.type_index();
    index >= type_index::STATIC_OBJECT_BEGIN && !matches!(index, type_index::STR | type_index::BYTES)
}
