//! C++ names of symbols.
#![forbid(unsafe_code)]

use cpp_demangle::{DemangleOptions, Symbol};

/// Returns the C++ name of a symbol; `None` for names of C, and for malformed ones.
pub fn demangled(symbol: &str) -> Option<String> {
    if !symbol.starts_with("_Z") {
        return None;
    }
    let name = Symbol::new(symbol).ok()?.demangle_with_options(&DemangleOptions::default()).ok()?;
    // The crate writes virtual tables in braces, where other tools write words.
    match name.strip_prefix("{vtable(").and_then(|rest| rest.strip_suffix(")}")) {
        Some(class) => Some(format!("vtable for {class}")),
        None => Some(name),
    }
}

/// Returns the C++ name of a symbol, or the symbol itself.
pub fn readable(symbol: &str) -> String {
    demangled(symbol).unwrap_or_else(|| symbol.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_cxx_are_readable() {
        for (symbol, name) in [
            ("_ZN3tvm3ffi9ModuleObj12ClearImportsEv", "tvm::ffi::ModuleObj::ClearImports()"),
            ("_ZTVN3tvm3ffi5ErrorE", "vtable for tvm::ffi::Error"),
            ("_ZTIN3tvm3ffi5ErrorE", "typeinfo for tvm::ffi::Error"),
            (
                "_ZGVZN3tvm3ffi9ModuleObj27_GetOrAllocRuntimeTypeIndexEvE6tindex",
                "guard variable for tvm::ffi::ModuleObj::_GetOrAllocRuntimeTypeIndex()::tindex",
            ),
            ("TVMFFIFunctionCall", "TVMFFIFunctionCall"),
            ("_Zcut off", "_Zcut off"),
        ] {
            assert_eq!(readable(symbol), name);
        }
    }
}
