//! Saved functions: closures with all arguments bound, stored under a name.

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{Any, AnyView, Function, String};

use super::bound::bind_last_arguments;
use super::{Closure, Machine, unknown};

/// Saved closures by name.
pub(super) struct SavedFunctions(Buffer<(String, Closure)>);

impl SavedFunctions {
    pub(super) const fn new() -> Self {
        SavedFunctions(Buffer::new())
    }

    /// Returns the closure saved under a name.
    pub(super) fn find(&self, name: &[u8]) -> Option<Closure> {
        self.0.iter().find(|(key, _)| key.as_bytes() == name).map(|(_, closure)| closure.clone())
    }
}

impl Machine {
    /// Saves a function with its arguments under a name. The name then takes precedence over a
    /// function of the model. Tensors on other devices are copied to the model's device. Without
    /// `include_return`, the saved function returns None.
    ///
    /// # Errors
    /// ValueError for an unknown function; InternalError for a packed function and before
    /// initialization; RuntimeError while another thread uses the machine; errors of the copies;
    /// TypeError if a Rust class of the program has the type key of closures; MemoryError.
    pub fn save_function(
        &self,
        name: &[u8],
        saved_name: String,
        include_return: bool,
        args: &[AnyView<'_>],
    ) -> Result<()> {
        let Some(closure) = self.closure(name)? else { return Err(unknown(name)) };
        let entry = self.enter()?;
        let inputs = entry.inputs(args)?;
        let mut function = bind_last_arguments(closure.function().clone(), inputs)?;
        if !include_return {
            let inner = function;
            function =
                Function::from_packed(move |args| inner.call_packed(args).map(|_| Any::NONE))?;
        }
        let closure = Closure::new(saved_name.clone(), function)?;
        // Dropped when the lock is given back, as its arguments may run other code.
        let previous = self.saved.with_mut(|saved| {
            match saved.0.iter_mut().find(|(key, _)| *key == saved_name) {
                Some((_, place)) => Ok(Some(core::mem::replace(place, closure))),
                None => {
                    saved.0.reserve_silently(1)?;
                    saved.0.try_push((saved_name, closure)).map(|()| None)
                }
            }
        });
        Ok(previous.map(drop)?)
    }
}
