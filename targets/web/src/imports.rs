//! Functions that JavaScript provides, and the constructors that the linker collects.

use core::ffi::{c_char, c_int, c_void};

use ferrite_core::abi::TVMFFIAny;

#[link(wasm_import_module = "env")]
unsafe extern "C" {
    /// Calls function number `function` of JavaScript's table. Returns 0, or -1 with an error
    /// raised.
    ///
    /// JavaScript converts arguments into owned values in place and releases them later, so the
    /// caller must not read them again.
    pub fn TVMFFIWasmSafeCall(
        function: *mut c_void,
        args: *mut TVMFFIAny,
        count: i32,
        result: *mut TVMFFIAny,
    ) -> c_int;

    /// Removes a function from JavaScript's table.
    pub fn TVMFFIWasmFunctionDeleter(function: *mut c_void);

    /// Logs a message. tvmjs logs the address of the string; a page that replaces the function can
    /// read the string.
    pub fn __console_log(message: *const c_char);
}

unsafe extern "C" {
    /// Calls the constructors of all linked objects, once. Defined by the linker. Without a call of
    /// it in the module, the linker would call the constructors in every exported function.
    pub fn __wasm_call_ctors();
}
