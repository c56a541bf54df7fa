//! Global functions as methods of [`Function`].

#[cfg(feature = "client")]
use core::ffi::c_int;
#[cfg(feature = "client")]
use core::ptr;

#[cfg(feature = "client")]
use crate::abi::{TVMFFIByteArray, client};
use crate::call::function::Function;
#[cfg(feature = "client")]
use crate::call::function::check_status;
use crate::error::Result;
#[cfg(not(feature = "client"))]
use crate::names::global_table;
#[cfg(feature = "client")]
use crate::object::{ObjectClass, ObjectRef};
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
    #[cfg(not(feature = "client"))]
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
    #[cfg(not(feature = "client"))]
    pub fn set_global(name: &str, function: &Function, allow_override: bool) -> Result<()> {
        global_table::set(name.as_bytes(), function, allow_override)
    }

    /// Looks up a global function of the loaded `libtvm_ffi` by name. Returns `None` if it does not
    /// exist.
    ///
    /// # Errors
    /// MemoryError.
    #[cfg(feature = "client")]
    pub fn find_global(name: &str) -> Result<Option<Function>> {
        let name = TVMFFIByteArray { data: name.as_ptr().cast(), size: name.len() };
        let mut handle = ptr::null_mut();
        // SAFETY: both pointers are valid for the call; the returned reference is owned here.
        let status = unsafe { client::TVMFFIFunctionGetGlobal(&name, &mut handle) };
        check_status(status)?;
        // SAFETY: as above; the table holds functions only.
        Ok(ptr::NonNull::new(handle.cast())
            .map(|object| unsafe { Function::from_object_unchecked(ObjectRef::from_raw(object)) }))
    }

    /// Registers the function as a global function of the loaded `libtvm_ffi`.
    ///
    /// # Errors
    /// RuntimeError if the name is taken and `allow_override` is false; MemoryError.
    #[cfg(feature = "client")]
    pub fn set_global(name: &str, function: &Function, allow_override: bool) -> Result<()> {
        let name = TVMFFIByteArray { data: name.as_ptr().cast(), size: name.len() };
        let handle = function.as_object().as_ptr().cast();
        // SAFETY: the pointers are valid for the call, which retains the function itself.
        check_status(unsafe {
            client::TVMFFIFunctionSetGlobal(&name, handle, c_int::from(allow_override))
        })
    }
}
