//! The strings of a registered function: its documentation and metadata, and whether it is a
//! default function.

use core::cell::UnsafeCell;

use crate::error::{Error, Result};
use crate::names::builtins::StaticFunction;
use crate::plain_error;
use crate::platform::sync::Mutex;
use crate::value::string::String;

/// Creates the RuntimeError for a name that is already registered.
pub(in crate::names::global_table) fn taken(name: &[u8]) -> Error {
    plain_error!(
        RUNTIME_ERROR,
        "Global Function `{}` is already registered, possible causes:\n\
         - Two GlobalDef().def registrations for the same function \n\
         Please remove the duplicate registration.",
        name
    )
}

/// The documentation and metadata of a function, or their source.
pub(in crate::names::global_table) enum FunctionDocs {
    Nothing,
    /// Generated from the signature on demand.
    Static(&'static StaticFunction),
    /// Generated from the signature of a default function, which any registration replaces.
    Default(&'static StaticFunction),
    Given {
        doc: String,
        metadata: String,
    },
}

impl FunctionDocs {
    /// Returns the strings of a static function. If `yields` is true, any registration replaces the
    /// function.
    pub(in crate::names::global_table) fn of_static(
        function: &'static StaticFunction,
        yields: bool,
    ) -> FunctionDocs {
        if yields { FunctionDocs::Default(function) } else { FunctionDocs::Static(function) }
    }

    /// Copies the strings of a registered function.
    ///
    /// # Errors
    /// MemoryError.
    pub(in crate::names::global_table) fn from_registration(
        doc: &[u8],
        metadata: &[u8],
    ) -> Result<FunctionDocs> {
        Ok(FunctionDocs::Given {
            doc: String::from_bytes(doc)?,
            metadata: String::from_bytes(metadata)?,
        })
    }
}

/// The lock of the strings of all entries, which are rarely read. A single lock, because a fork
/// must hold all locks and could not hold one per name.
pub(crate) static TEXTS: Mutex<()> = Mutex::new(());

/// The strings of a table entry.
pub(in crate::names::global_table) struct FunctionDocsCell(UnsafeCell<FunctionDocs>);

// SAFETY: the strings are only accessed while `TEXTS` is held, and may be dropped by any thread.
unsafe impl Sync for FunctionDocsCell {}

impl FunctionDocsCell {
    pub(in crate::names::global_table) fn new(texts: FunctionDocs) -> FunctionDocsCell {
        FunctionDocsCell(UnsafeCell::new(texts))
    }

    /// Replaces the strings and returns the previous ones, which must be dropped without holding
    /// the lock.
    pub(in crate::names::global_table) fn replace(&self, texts: FunctionDocs) -> FunctionDocs {
        let _guard = TEXTS.lock();
        // SAFETY: the lock is held.
        unsafe { self.0.get().replace(texts) }
    }

    /// Returns `true` if any registration replaces the function, because it is a default.
    pub(in crate::names::global_table) fn yields(&self) -> bool {
        let _guard = TEXTS.lock();
        // SAFETY: the lock is held.
        matches!(unsafe { &*self.0.get() }, FunctionDocs::Default(_))
    }

    /// Returns the text that `of_given` selects, or an empty string if the function was registered
    /// without strings. If a static function generates the strings, returns that function as an
    /// error.
    pub(in crate::names::global_table) fn read(
        &self,
        of_given: impl FnOnce(&String, &String) -> String,
    ) -> core::result::Result<String, &'static StaticFunction> {
        let _guard = TEXTS.lock();
        // SAFETY: the lock is held until the end of this function, which no arm re-enters.
        match unsafe { &*self.0.get() } {
            FunctionDocs::Nothing => Ok(String::EMPTY),
            FunctionDocs::Given { doc, metadata } => Ok(of_given(doc, metadata)),
            FunctionDocs::Static(builtin) | FunctionDocs::Default(builtin) => Err(builtin),
        }
    }
}
