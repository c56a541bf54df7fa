//! Export of functions from a kernel library as symbols, with metadata and documentation.

use core::ffi::c_int;

use crate::abi::TVMFFIAny;
use crate::call::function::serve_safe_call;
use crate::call::typed::{Callee, Signature, TypedFn};
use crate::error::Result;
use crate::platform::text::{Writer, write_json_escaped};
use crate::value::any::{Any, AnyView};
use crate::value::convert::AnyCompatible;
use crate::value::string::String;

/// Exports a typed Rust function from a kernel library.
///
/// `export_function!(add_one, kernels::add_one, "Adds one to each element.")` emits the symbols
/// `__tvm_ffi_add_one`, `__tvm_ffi__metadata_add_one` (upstream's type-schema JSON) and
/// `__tvm_ffi__doc_add_one`, so that `ffi.ModuleLoadFromFile` finds the function. Errors and panics
/// of the function are raised in the caller. The names of the parameters may follow, for messages:
/// `export_function!(scale, scale, "Multiplies x.", "x, by")`.
///
/// # Upstream
/// `TVM_FFI_DLL_EXPORT_TYPED_FUNC` and `TVM_FFI_DLL_EXPORT_TYPED_FUNC_DOC` in `function.h`.
#[macro_export]
macro_rules! export_function {
    ($name:ident, $function:expr, $doc:expr) => {
        $crate::export_function!(@of $name, &$function, $doc, "");
    };
    ($name:ident, $function:expr, $doc:expr, $names:expr) => {
        $crate::export_function!(@of $name, &$function, $doc, $names);
    };
    (@of $name:ident, $function:expr, $doc:expr, $names:expr) => {
        const _: () = {
            use ::core::ffi::{c_int, c_void};
            use $crate::abi::TVMFFIAny;

            assert!(!$crate::call::export::is_reserved(stringify!($name)), "the loader does not call a symbol of this name");

            // The only use of the function, so that a type that is not a value is one error.
            const FUNCTION: $crate::call::export::ExportedFunction =
                $crate::call::export::ExportedFunction::new($function);

            #[unsafe(export_name = concat!("__tvm_ffi_", stringify!($name)))]
            unsafe extern "C" fn call(
                _: *mut c_void,
                args: *const TVMFFIAny,
                n: i32,
                result: *mut TVMFFIAny,
            ) -> c_int {
                // SAFETY: the loader calls exported symbols by the safe call convention.
                unsafe { FUNCTION.call(stringify!($name), $names, args, n, result) }
            }

            #[unsafe(export_name = concat!("__tvm_ffi__metadata_", stringify!($name)))]
            unsafe extern "C" fn metadata(
                _: *mut c_void,
                args: *const TVMFFIAny,
                n: i32,
                result: *mut TVMFFIAny,
            ) -> c_int {
                // SAFETY: as above.
                unsafe { FUNCTION.metadata(stringify!($name), $names, args, n, result) }
            }

            #[unsafe(export_name = concat!("__tvm_ffi__doc_", stringify!($name)))]
            unsafe extern "C" fn doc(
                _: *mut c_void,
                args: *const TVMFFIAny,
                n: i32,
                result: *mut TVMFFIAny,
            ) -> c_int {
                // SAFETY: as above.
                unsafe { $crate::call::export::doc($doc, args, n, result) }
            }
        };
    };
}

/// Returns `true` for names whose symbols the loader reads and writes as data, or that belong to
/// another function.
#[doc(hidden)]
pub const fn is_reserved(name: &str) -> bool {
    starts_with(name, "_library_") || starts_with(name, "_metadata_") || starts_with(name, "_doc_")
}

const fn starts_with(name: &str, prefix: &str) -> bool {
    let (name, prefix) = (name.as_bytes(), prefix.as_bytes());
    let mut at = 0;
    while at < prefix.len() && at < name.len() && name[at] == prefix[at] {
        at += 1;
    }
    at == prefix.len()
}

/// A function to export: its signature, and how it is called.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct ExportedFunction {
    signature: &'static Signature<'static>,
    function: *const (),
    invoke: Invoke,
}

type Invoke = unsafe fn(*const (), &Callee<'_>, &[AnyView<'_>]) -> Result<Any>;

impl ExportedFunction {
    /// Describes a function.
    pub const fn new<Args, F: TypedFn<Args>>(function: &'static F) -> ExportedFunction {
        let place: *const F = function;
        ExportedFunction {
            signature: F::SIGNATURE,
            function: place.cast(),
            invoke: invoke::<Args, F>,
        }
    }

    /// Implements the function symbol. Returns 0, or -1 with an error raised.
    ///
    /// # Safety
    /// The last three arguments must be those of a safe call.
    #[inline(always)]
    pub unsafe fn call(
        self,
        name: &'static str,
        names: &'static str,
        args: *const TVMFFIAny,
        count: i32,
        result: *mut TVMFFIAny,
    ) -> c_int {
        let callee = Callee { name, signature: self.signature, names };
        // SAFETY: the caller passes on the arguments of a safe call.
        unsafe { serve_export((&callee, self.function, self.invoke), args, count, result) }
    }

    /// Implements the metadata symbol. Returns 0, or -1 with an error raised.
    ///
    /// # Safety
    /// The last three arguments must be those of a safe call.
    pub unsafe fn metadata(
        self,
        name: &str,
        names: &str,
        args: *const TVMFFIAny,
        count: i32,
        result: *mut TVMFFIAny,
    ) -> c_int {
        // SAFETY: the caller passes on the arguments of a safe call.
        unsafe { metadata(name, names, self.signature, args, count, result) }
    }
}

/// Invokes a function of type `F`.
///
/// # Safety
/// `function` must point to one.
unsafe fn invoke<Args, F: TypedFn<Args>>(
    function: *const (),
    callee: &Callee<'_>,
    args: &[AnyView<'_>],
) -> Result<Any> {
    // SAFETY: the caller's promise.
    unsafe { &*function.cast::<F>() }.invoke(callee, args)
}

/// Implements [`serve_safe_call`] once for all exports of a library, which would otherwise have a
/// copy each.
///
/// # Safety
/// The requirements of [`serve_safe_call`]; the function must be of the type that is called.
#[inline(never)]
unsafe fn serve_export(
    (callee, function, invoke): (&Callee<'_>, *const (), Invoke),
    args: *const TVMFFIAny,
    count: i32,
    result: *mut TVMFFIAny,
) -> c_int {
    // SAFETY: the caller guarantees the type of the function.
    let body = |args: &[AnyView<'_>]| unsafe { invoke(function, callee, args) };
    // SAFETY: passed on.
    unsafe { serve_safe_call(args, count, result, &body) }
}

/// Implements the metadata symbol of an exported function. Returns 0, or -1 with an error raised.
///
/// # Safety
/// The last three arguments must be those of a safe call.
#[doc(hidden)]
#[cold]
#[inline(never)]
pub unsafe fn metadata(
    name: &str,
    names: &str,
    signature: &'static Signature<'static>,
    args: *const TVMFFIAny,
    count: i32,
    result: *mut TVMFFIAny,
) -> c_int {
    let body = |_: &[AnyView<'_>]| -> Result<Any> {
        let text = metadata_text(&|out| signature.write_schema(out))?;
        if names.is_empty() {
            return Ok(text.into_any());
        }
        let signature = String::compose(&|out| signature.write_call(name, names, out))?;
        with_signature(&text, &signature).map(String::into_any)
    };
    // SAFETY: the caller passes on the arguments of a safe call.
    unsafe { serve_safe_call(args, count, result, &body) }
}

/// Implements the documentation symbol of an exported function. Returns 0, or -1 with an error
/// raised.
///
/// # Safety
/// The last three arguments must be those of a safe call.
#[doc(hidden)]
#[cold]
#[inline(never)]
pub unsafe fn doc(text: &str, args: *const TVMFFIAny, count: i32, result: *mut TVMFFIAny) -> c_int {
    let body = |_: &[AnyView<'_>]| -> Result<Any> { Ok(String::new(text)?.into_any()) };
    // SAFETY: the caller passes on the arguments of a safe call.
    unsafe { serve_safe_call(args, count, result, &body) }
}

/// Returns the metadata JSON of a function: `{"type_schema":"..."}`, whose value is the schema as
/// an escaped JSON string.
///
/// # Errors
/// MemoryError.
pub fn metadata_text(schema: &dyn Fn(&mut Writer<'_>)) -> Result<String> {
    let schema = String::compose(schema)?;
    String::compose(&|out| {
        out.put(b"{\"type_schema\":\"");
        write_json_escaped(out, schema.as_bytes());
        out.put(b"\"}");
    })
}

/// Returns the metadata with `"signature":"NAME(PARAMETERS)"`, which that of kernels in C also has.
fn with_signature(metadata: &String, signature: &String) -> Result<String> {
    let metadata = metadata.as_bytes().strip_suffix(b"}").unwrap_or_default();
    String::compose(&|out| {
        out.put(metadata);
        out.put(b",\"signature\":\"");
        write_json_escaped(out, signature.as_bytes());
        out.put(b"\"}");
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_json_in_json() -> Result<()> {
        assert_eq!(
            metadata_text(&|out| i64::TEXT.write_schema(out))?,
            r#"{"type_schema":"{\"type\":\"int\"}"}"#
        );
        Ok(())
    }

    #[test]
    fn metadata_has_the_names_of_parameters() -> Result<()> {
        fn scale(x: i64, by: Option<f64>) -> f64 {
            x as f64 * by.unwrap_or(1.0)
        }
        let signature = crate::call::typed::signature_of(&scale);
        let mut result = TVMFFIAny::NONE;
        // SAFETY: no arguments, and a result.
        let text = unsafe {
            assert_eq!(metadata("scale", "x, by", signature, core::ptr::null(), 0, &mut result), 0);
            Any::from_raw(result).get::<String>()?
        };
        assert!(
            text.as_bytes().ends_with(br#","signature":"scale(x: int, by: Optional<float>)"}"#),
            "{text:?}"
        );
        Ok(())
    }
}
