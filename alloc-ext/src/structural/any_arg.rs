//! Function parameter of any type, named `AnyView` in signatures as in upstream's.

use ferrite_core::any_texts;
use ferrite_core::error::Result;
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::value::convert::AnyCompatible;

/// Function parameter of any type. Named `AnyView` in the function's signature, although it owns
/// the value.
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
