//! Lookup of the hooks that types register for an operation, in attribute columns.
#![forbid(unsafe_code)]

use ferrite_core::call::function::Function;
use ferrite_core::error::Result;
use ferrite_core::names::type_table::{self, AttrColumn};
use ferrite_core::value::any::{Any, AnyView};

/// The hooks in one attribute column. The column is looked up once per walk.
#[derive(Clone, Copy, Default)]
pub struct Hooks(Option<&'static AttrColumn>);

impl Hooks {
    /// Looks up the attribute column named `column`. Without such a column, no type has a hook.
    pub fn new(column: &str) -> Self {
        Self(type_table::attr_column(column.as_bytes()))
    }

    /// Returns the attribute of a type; None if the type has none.
    pub fn value(self, type_index: i32) -> AnyView<'static> {
        self.0.map_or(AnyView::NONE, |column| column.get(type_index))
    }

    /// Returns the hook function for the type of an object; `None` if the type has none.
    ///
    /// # Errors
    /// TypeError if the attribute is not a function.
    pub fn of(self, object: &Any) -> Result<Option<Function>> {
        self.of_type(object.type_index())
    }

    /// Returns the hook function for a type; `None` if the type has none.
    ///
    /// # Errors
    /// TypeError if the attribute is not a function.
    #[inline]
    pub fn of_type(self, type_index: i32) -> Result<Option<Function>> {
        let hook = self.value(type_index);
        if hook.is_none() { Ok(None) } else { hook.get().map(Some) }
    }
}
