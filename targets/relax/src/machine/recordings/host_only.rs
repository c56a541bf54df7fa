//! Parts of models in builds without devices: nothing is recorded.

use ferrite_alloc_ext::containers::Array;
use ferrite_core::error::Result;
use ferrite_core::{Any, AnyView, Shape};

use super::{Machine, with_views};

/// A part of a model.
#[expect(dead_code, reason = "only recordings on devices read the fields")]
pub(crate) struct Part {
    pub number: i64,
    pub values: Option<Shape>,
}

/// Empty placeholder: no device of the build has graphs.
#[derive(Default)]
pub(super) struct Recordings;

impl Machine {
    /// Calls a part of the model.
    ///
    /// # Errors
    /// Errors of the part.
    pub(crate) fn record_or_repeat(
        &self,
        callee: &AnyView<'_>,
        arguments: Array<Any>,
        _part: Part,
    ) -> Result<Any> {
        with_views(arguments.as_slice(), |views| self.invoke(callee, views))
    }

    /// Calls a function that allocates storages.
    ///
    /// # Errors
    /// Errors of the function.
    pub(crate) fn allocate_once(&self, callee: &AnyView<'_>, _number: i64) -> Result<Any> {
        self.invoke(callee, &[])
    }
}
