//! The C symbols of the library inside, for the kernel libraries that a program loads.

use core::ffi::CStr;

use ferrite_host::dynamic_lib::program_symbols::{self, Symbol, SymbolTable};

/// Defines the table of these symbols.
macro_rules! table {
    ($($(#[$when:meta])? $name:ident)*) => {
        // Only the addresses are taken.
        unsafe extern "C" {
            $($(#[$when])? fn $name();)*
        }

        static TABLE: SymbolTable = SymbolTable {
            symbols: &[$($(#[$when])? Symbol::new(name(concat!(stringify!($name), "\0")), $name as *const _)),*],
        };
    };
}

#[rustfmt::skip]
table! {
    TVMFFIAnyViewToOwnedAny
    TVMFFIBacktrace
    TVMFFIBigIntFromByteArray
    TVMFFIBigIntGetContentByteArray
    TVMFFIBytesFromByteArray
    TVMFFIDataTypeFromString
    TVMFFIDataTypeToString
    TVMFFIEnvCheckSignals
    TVMFFIEnvGetDLPackManagedTensorAllocator
    TVMFFIEnvGetStream
    TVMFFIEnvModLookupFromImports
    TVMFFIEnvModRegisterContextSymbol
    TVMFFIEnvModRegisterSystemLibSymbol
    TVMFFIEnvRegisterCAPI
    TVMFFIEnvSetDLPackManagedTensorAllocator
    TVMFFIEnvSetStream
    TVMFFIEnvTensorAlloc
    TVMFFIErrorCreate
    TVMFFIErrorCreateWithCauseAndExtraContext
    TVMFFIErrorMoveFromRaised
    TVMFFIErrorSetRaised
    TVMFFIErrorSetRaisedFromCStr
    TVMFFIErrorSetRaisedFromCStrParts
    TVMFFIFunctionCall
    TVMFFIFunctionCreate
    TVMFFIFunctionGetGlobal
    TVMFFIFunctionSetGlobal
    TVMFFIFunctionSetGlobalFromMethodInfo
    TVMFFIGetCustomAllocator
    TVMFFIGetTypeAttrColumn
    TVMFFIGetTypeInfo
    TVMFFIGetVersion
    TVMFFIHandleDeinitOnce
    TVMFFIHandleInitOnce
    TVMFFIObjectCreateOpaque
    TVMFFIObjectDecRef
    TVMFFIObjectIncRef
    TVMFFISetCustomAllocator
    TVMFFIStringFromByteArray
    TVMFFITensorCreateUnsafeView
    TVMFFITensorFromDLPack
    TVMFFITensorFromDLPackVersioned
    TVMFFITensorToDLPack
    TVMFFITensorToDLPackVersioned
    TVMFFITypeGetOrAllocIndex
    TVMFFITypeKeyToIndex
    TVMFFITypeRegisterAttr
    TVMFFITypeRegisterField
    TVMFFITypeRegisterMetadata
    TVMFFITypeRegisterMethod
    #[cfg(feature = "backend")] TVMBackendAllocWorkspace
    #[cfg(feature = "backend")] TVMBackendFreeWorkspace
    #[cfg(feature = "backend")] TVMBackendParallelBarrier
    #[cfg(feature = "backend")] TVMBackendParallelLaunch
    #[cfg(feature = "backend")] TVMBackendRunOnce
    #[cfg(feature = "relax")] TVMBackendAnyListMoveFromPackedReturn
    #[cfg(feature = "relax")] TVMBackendAnyListResetItem
    #[cfg(feature = "relax")] TVMBackendAnyListSetPackedArg
}

/// Returns the name of a symbol.
#[allow(clippy::panic, reason = "runs when the program is compiled")]
const fn name(text: &str) -> &CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(name) => name,
        Err(_) => panic!("the text ends in its only NUL byte"),
    }
}

/// Offers the symbols, before `main`.
fn offer() {
    program_symbols::offer(&TABLE);
}

ferrite_core::at_load!(offer);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_symbol_of_the_library_is_offered() {
        let mut expected: std::vec::Vec<&str> =
            include_str!("../../../tests/conformance/exports/symbols.txt").lines().collect();
        if cfg!(feature = "backend") {
            expected.extend(include_str!("../../../tests/conformance/exports/backend-symbols.txt").lines());
        }
        for name in expected {
            assert!(TABLE.symbols.iter().any(|symbol| symbol.name().to_bytes() == name.as_bytes()), "{name}");
        }
    }
}
