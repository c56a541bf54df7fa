//! Global functions as methods of [`Function`].

use crate::call::function::Function;
use crate::error::Result;
use crate::names::global_table;
use crate::plain_error;

impl Function {
    /// Looks up a global function by name.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::{Function, error::ErrorKind};
    ///
    /// let error = Function::global("no.such.function").unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::ValueError);
    /// assert_eq!(error.message(), "Function no.such.function not found");
    /// ```
    ///
    /// # Errors
    /// ValueError that names the function if it does not exist; the errors of
    /// [`Function::find_global`].
    ///
    /// # Upstream
    /// `Function::GetGlobalRequired`.
    pub fn global(name: &str) -> Result<Function> {
        match Function::find_global(name)? {
            Some(function) => Ok(function),
            None => Err(plain_error!(VALUE_ERROR, "Function {} not found", name)),
        }
    }

    /// Looks up a global function by name. Returns `None` if it does not exist.
    ///
    /// # Errors
    /// MemoryError, if a built-in function is looked up for the first time.
    ///
    /// # Upstream
    /// `TVMFFIFunctionGetGlobal`.
    pub fn find_global(name: &str) -> Result<Option<Function>> {
        global_table::get(name.as_bytes())
    }

    /// Registers the function as a global function.
    ///
    /// # Errors
    /// RuntimeError if the name is taken and `allow_override` is false; MemoryError.
    ///
    /// # Upstream
    /// `TVMFFIFunctionSetGlobal`.
    pub fn set_global(name: &str, function: &Function, allow_override: bool) -> Result<()> {
        global_table::set(name.as_bytes(), function, allow_override)
    }
}
