//! Hooks that types register for an operation.
#![forbid(unsafe_code)]

use ferrite_core::any::{Any, AnyView};
use ferrite_core::error::Result;
use ferrite_core::function::Function;
use ferrite_core::type_table::{self, AttrColumn};

/// The hooks of one column, looked up once for a walk.
#[derive(Clone, Copy, Default)]
pub struct Hooks(Option<&'static AttrColumn>);

impl Hooks {
    /// Those of the column with this name, if there is one.
    pub fn new(column: &str) -> Self {
        Self(type_table::attr_column(column.as_bytes()))
    }

    /// What a type has registered; None when nothing.
    pub fn value(self, type_index: i32) -> AnyView<'static> {
        self.0.map_or(AnyView::NONE, |column| column.get(type_index))
    }

    /// The function that the type of an object has registered.
    ///
    /// # Errors
    /// TypeError when it is no function.
    pub fn of(self, object: &Any) -> Result<Option<Function>> {
        self.of_type(object.type_index())
    }

    /// The function that a type has registered.
    ///
    /// # Errors
    /// TypeError when it is no function.
    #[cfg_attr(feature = "speed", inline)]
    pub fn of_type(self, type_index: i32) -> Result<Option<Function>> {
        let hook = self.value(type_index);
        if hook.is_none() { Ok(None) } else { hook.get().map(Some) }
    }
}
