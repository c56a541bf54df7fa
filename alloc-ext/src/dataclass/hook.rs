//! Hooks that types register for these operations.
#![forbid(unsafe_code)]

use ferrite_core::any::{Any, AnyView};
use ferrite_core::error::Result;
use ferrite_core::function::Function;
use ferrite_core::type_table::{self, AttrColumn};

/// The hooks of one column, looked up once for a walk.
#[derive(Clone, Copy, Default)]
pub(super) struct Hooks(Option<&'static AttrColumn>);

impl Hooks {
    /// Those of the column with this name, if there is one.
    pub(super) fn new(column: &str) -> Self {
        Self(type_table::attr_column(column.as_bytes()))
    }

    /// What a type has registered; None when nothing.
    pub(super) fn value(self, type_index: i32) -> AnyView<'static> {
        self.0.map_or(AnyView::NONE, |column| column.get(type_index))
    }

    /// The function that the type of an object has registered.
    ///
    /// # Errors
    ///
    /// TypeError when it is no function.
    pub(super) fn of(self, object: &Any) -> Result<Option<Function>> {
        let hook = self.value(object.type_index());
        if hook.is_none() { Ok(None) } else { hook.get().map(Some) }
    }
}

/// The index of the class of enums, once it is registered.
pub(super) fn enum_class() -> Option<i32> {
    type_table::key_to_index(b"ffi.Enum")
}

/// Whether an object is one of the named instances of its type.
pub(super) fn is_enum(object: &Any, class: Option<i32>) -> bool {
    class.is_some_and(|class| type_table::is_instance(object.type_index(), class))
}
