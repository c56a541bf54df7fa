//! An argument of any type, under the name that upstream's signatures give a borrowed one.

use ferrite_core::any::{Any, AnyView};
use ferrite_core::any_texts;
use ferrite_core::convert::AnyCompatible;
use ferrite_core::error::Result;

/// A value of any type, shown as `AnyView` in the signature of the function that takes it.
pub struct AnyArg(pub Any);

// SAFETY: hands out what the value inside does.
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
