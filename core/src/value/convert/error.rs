//! Errors as values.

use super::{AnyCompatible, object_of, own_object, view_object};
use crate::error::{Error, Result};
use crate::object::ObjectClass;
use crate::value::any::{Any, AnyView};
use crate::{any_from, any_texts};

any_from!(Error);

// SAFETY: view and into_any hand out the reference that the value holds.
unsafe impl AnyCompatible for Error {
    any_texts!(<Error as ObjectClass>::TYPE_KEY, <Error as ObjectClass>::TYPE_KEY);

    fn view(&self) -> AnyView<'_> {
        view_object(self)
    }

    /// Converts the error to a value. Completes its backtrace first, so that errors returned as
    /// values have one too.
    fn into_any(mut self) -> Any {
        self.complete_backtrace();
        own_object(self)
    }

    fn try_from_view(view: AnyView<'_>) -> Result<Option<Error>> {
        Ok(object_of(view))
    }
}
