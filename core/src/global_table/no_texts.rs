//! Texts of a registered function on boards: none are kept, only the static function that a built-in one was made from.

use crate::sync::atomic::{AtomicPtr, Ordering};
use core::ptr;

use crate::builtins::StaticFunction;
use crate::error::Result;
use crate::string::String;

/// The error for a name that is taken.
pub(super) use super::taken;

/// Documentation and metadata.
#[derive(Clone, Copy)]
pub(super) enum Texts {
    Nothing,
    /// Made from the signature when asked for.
    Static(&'static StaticFunction),
}

impl Texts {
    /// Those of a function of the static tables; boards have none that yields.
    pub(super) fn of_static(function: &'static StaticFunction, _yields: bool) -> Texts {
        Texts::Static(function)
    }

    /// Forgets texts.
    pub(super) fn given(_doc: &[u8], _metadata: &[u8]) -> Result<Texts> {
        Ok(Texts::Nothing)
    }

    fn into_pointer(self) -> *mut StaticFunction {
        match self {
            Texts::Nothing => ptr::null_mut(),
            Texts::Static(builtin) => ptr::from_ref(builtin).cast_mut(),
        }
    }
}

/// The texts of one name: the static function, or null.
pub(super) struct TextsCell(AtomicPtr<StaticFunction>);

impl TextsCell {
    pub(super) fn new(texts: Texts) -> TextsCell {
        TextsCell(AtomicPtr::new(texts.into_pointer()))
    }

    /// Puts other texts in.
    pub(super) fn replace(&self, texts: Texts) -> Texts {
        self.0.store(texts.into_pointer(), Ordering::Release);
        Texts::Nothing
    }

    /// Boards have no function that yields.
    #[allow(dead_code, reason = "builds with one core do not ask")]
    #[inline(always)]
    pub(super) fn yields(&self) -> bool {
        false
    }

    /// The empty text; or the static function that can make one.
    pub(super) fn read(
        &self,
        _of_given: impl FnOnce(&String, &String) -> String,
    ) -> core::result::Result<String, &'static StaticFunction> {
        // SAFETY: null or made of a static reference.
        match unsafe { self.0.load(Ordering::Acquire).cast_const().as_ref() } {
            Some(builtin) => Err(builtin),
            None => Ok(String::EMPTY),
        }
    }
}
