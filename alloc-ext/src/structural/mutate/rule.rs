//! Rules of mutators: callbacks by type, and the order of callbacks and children.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::value::any::{Any, AnyView};

use crate::structural::DefRegion;
use crate::structural::callbacks::Callbacks;
use crate::structural::native;

/// Rule by which a mutator rewrites values.
pub enum Rule {
    /// A callback replaces a value, then the children of the result are mapped.
    PreOrder(MapCallbacks),
    /// The children of a value are mapped, then a callback replaces the result.
    PostOrder(MapCallbacks),
    /// A callback rewrites a value, and decides whether its children are visited.
    Mutate(Callbacks),
}

impl Rule {
    /// Returns `true` if there is a callback for values of a type.
    pub fn takes(&self, type_index: i32) -> bool {
        match self {
            Self::PreOrder(callbacks) | Self::PostOrder(callbacks) => callbacks
                .plain
                .find(type_index)
                .or_else(|| callbacks.with_region.find(type_index))
                .is_some(),
            Self::Mutate(callbacks) => callbacks.find(type_index).is_some(),
        }
    }
}

/// Callbacks of a structural map.
#[derive(Default)]
pub struct MapCallbacks {
    /// Callbacks that take the value. Tried first.
    pub plain: Callbacks,
    /// Callbacks that take the value and its definition region.
    pub with_region: Callbacks,
}

impl MapCallbacks {
    /// Calls the first callback that accepts the value and returns its result; `None` if there is
    /// none.
    pub fn call(&self, value: AnyView<'_>, region: DefRegion) -> Option<Result<Any>> {
        if let Some(callback) = self.plain.find(value.type_index()) {
            return Some(native::call_function(&callback.function, &[value]));
        }
        let callback = self.with_region.find(value.type_index())?;
        Some(native::call_function(&callback.function, &[value, AnyView::from(region.as_raw())]))
    }
}
