//! C++ names of symbols.
#![forbid(unsafe_code)]

use std::fmt;

use cpp_demangle::{DemangleOptions, Symbol};

/// Maximum length of a C++ name in bytes. Repeated substitutions let a short symbol encode a name
/// of any length.
const MOST_BYTES: usize = 1 << 16;

/// String that cannot grow beyond [`MOST_BYTES`].
#[derive(Default)]
struct BoundedText(String);

impl fmt::Write for BoundedText {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        if self.0.len() + part.len() > MOST_BYTES {
            return Err(fmt::Error);
        }
        self.0.push_str(part);
        Ok(())
    }
}

/// Returns the C++ name of a symbol; `None` for C names, malformed names and names of more than 64
/// KiB.
pub fn demangled(symbol: &str) -> Option<String> {
    if !symbol.starts_with("_Z") {
        return None;
    }
    let mut text = BoundedText::default();
    Symbol::new(symbol).ok()?.structured_demangle(&mut text, &DemangleOptions::default()).ok()?;
    let BoundedText(name) = text;
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

    #[test]
    fn a_symbol_whose_name_doubles_with_each_argument_stays_as_it_is() {
        // f(p<int, int>, p<S0, S0>, …): S_ is p, and each later substitution is the argument
        // before.
        let doubled = |level: u32| {
            let digit = char::from_digit(level, 36).unwrap().to_ascii_uppercase();
            format!("S_IS{digit}_S{digit}_E")
        };
        let symbol = |levels| format!("_Z1f1pIiiE{}", (0..levels).map(doubled).collect::<String>());
        assert_eq!(readable(&symbol(1)), "f(p<int, int>, p<p<int, int>, p<int, int> >)");
        assert_eq!(readable(&symbol(32)), symbol(32));
    }
}
