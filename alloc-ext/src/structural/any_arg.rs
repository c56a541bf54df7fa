//! Borrowed arguments of any type, under the name of upstream's signatures.

use ferrite_core::any::{Any, AnyView};
use ferrite_core::any_texts;
use ferrite_core::convert::AnyCompatible;
use ferrite_core::error::Result;

/// A value of any type, shown as `AnyView` in the signature of its function.
pub struct AnyArg(pub Any);

// SAFETY: delegates to the inner value.
unsafe impl AnyCompatible for AnyArg {
    any_texts!("AnyView", "Any");

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
