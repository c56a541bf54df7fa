//! The documentation and metadata of a registered function on bare metal: not stored, but generated
//! for static functions.

use crate::platform::sync::atomic::{AtomicPtr, Ordering};
use core::ptr;

use crate::error::Result;
use crate::names::builtins::StaticFunction;
use crate::names::defaults;
use crate::value::string::String;

/// Creates the RuntimeError for a name that is already registered.
pub(in crate::names::global_table) use super::super::taken;

/// The source of a function's documentation and metadata.
#[derive(Clone, Copy)]
pub(in crate::names::global_table) enum FunctionDocs {
    Nothing,
    /// Generated from the signature on demand.
    Static(&'static StaticFunction),
}

impl FunctionDocs {
    /// Returns the strings of a static function.
    pub(in crate::names::global_table) fn of_static(
        function: &'static StaticFunction,
        _yields: bool,
    ) -> FunctionDocs {
        FunctionDocs::Static(function)
    }

    /// Discards the strings of a registered function.
    pub(in crate::names::global_table) fn from_registration(
        _doc: &[u8],
        _metadata: &[u8],
    ) -> Result<FunctionDocs> {
        Ok(FunctionDocs::Nothing)
    }

    fn into_pointer(self) -> *mut StaticFunction {
        match self {
            FunctionDocs::Nothing => ptr::null_mut(),
            FunctionDocs::Static(builtin) => ptr::from_ref(builtin).cast_mut(),
        }
    }
}

/// The static function that generates the strings of an entry, or null.
pub(in crate::names::global_table) struct FunctionDocsCell(AtomicPtr<StaticFunction>);

impl FunctionDocsCell {
    pub(in crate::names::global_table) fn new(texts: FunctionDocs) -> FunctionDocsCell {
        FunctionDocsCell(AtomicPtr::new(texts.into_pointer()))
    }

    /// Replaces the strings and returns the previous ones.
    pub(in crate::names::global_table) fn replace(&self, texts: FunctionDocs) -> FunctionDocs {
        self.0.store(texts.into_pointer(), Ordering::Release);
        FunctionDocs::Nothing
    }

    /// Returns `true` if the entry has a default function, which any registration replaces.
    #[inline(always)]
    pub(in crate::names::global_table) fn yields(&self) -> bool {
        let is_default = |function: &StaticFunction| defaults::find(function.name().as_bytes());
        // Without defaults, the entry is not even read.
        cfg!(feature = "defaults") && self.generator().and_then(is_default).is_some()
    }

    fn generator(&self) -> Option<&'static StaticFunction> {
        // SAFETY: null, or derived from a static reference.
        unsafe { self.0.load(Ordering::Acquire).cast_const().as_ref() }
    }

    /// Returns an empty string. If a static function generates the strings, returns that function
    /// as an error.
    pub(in crate::names::global_table) fn read(
        &self,
        _of_given: impl FnOnce(&String, &String) -> String,
    ) -> core::result::Result<String, &'static StaticFunction> {
        match self.generator() {
            Some(builtin) => Err(builtin),
            None => Ok(String::EMPTY),
        }
    }
}
