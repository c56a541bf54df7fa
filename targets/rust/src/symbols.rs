//! The C and C++ symbols of the library inside, for the kernel libraries that a program loads.

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
            // SAFETY: the functions of these names.
            symbols: &unsafe {
                [$($(#[$when])? Symbol::new(name(concat!(stringify!($name), "\0")), $name as *const _)),*]
            },
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
    #[cfg(feature = "cxx-abi")] _ZGVZN3tvm3ffi9ModuleObj27_GetOrAllocRuntimeTypeIndexEvE6tindex
    #[cfg(feature = "cxx-abi")] _ZN3tvm3ffi11RecursiveEqERKNS0_3AnyES3_
    #[cfg(feature = "cxx-abi")] _ZN3tvm3ffi11RecursiveGeERKNS0_3AnyES3_
    #[cfg(feature = "cxx-abi")] _ZN3tvm3ffi11RecursiveGtERKNS0_3AnyES3_
    #[cfg(feature = "cxx-abi")] _ZN3tvm3ffi11RecursiveLeERKNS0_3AnyES3_
    #[cfg(feature = "cxx-abi")] _ZN3tvm3ffi11RecursiveLtERKNS0_3AnyES3_
    #[cfg(feature = "cxx-abi")] _ZN3tvm3ffi11ToJSONGraphERKNS0_3AnyES3_
    #[cfg(feature = "cxx-abi")] _ZN3tvm3ffi13FromJSONGraphERKNS0_3AnyE
    #[cfg(feature = "cxx-abi")] _ZN3tvm3ffi13RecursiveHashERKNS0_3AnyE
    #[cfg(feature = "cxx-abi")] _ZN3tvm3ffi14StructuralHash4HashERKNS0_3AnyEbb
    #[cfg(feature = "cxx-abi")] _ZN3tvm3ffi15StructuralEqual16GetFirstMismatchERKNS0_3AnyES4_bb
    #[cfg(feature = "cxx-abi")] _ZN3tvm3ffi15StructuralEqual5EqualERKNS0_3AnyES4_bb
    #[cfg(feature = "cxx-abi")] _ZN3tvm3ffi17VisitErrorContext15FindAccessPathsERKNS0_9ObjectRefERKS1_b
    #[cfg(feature = "cxx-abi")] _ZN3tvm3ffi4json5ParseERKNS0_6StringEPS2_
    #[cfg(feature = "cxx-abi")] _ZN3tvm3ffi4json9StringifyERKNS0_3AnyERKNS0_8OptionalIivEE
    #[cfg(feature = "cxx-abi")] _ZN3tvm3ffi6Module12LoadFromFileERKNS0_6StringE
    #[cfg(feature = "cxx-abi")] _ZN3tvm3ffi6Module19VisitContextSymbolsERKNS0_13TypedFunctionIFvNS0_6StringEPvEEE
    #[cfg(feature = "cxx-abi")] _ZN3tvm3ffi8DeepCopyERKNS0_3AnyE
    #[cfg(feature = "cxx-abi")] _ZN3tvm3ffi9ModuleObj11GetFunctionERKNS0_6StringEb
    #[cfg(feature = "cxx-abi")] _ZN3tvm3ffi9ModuleObj12ClearImportsEv
    #[cfg(feature = "cxx-abi")] _ZN3tvm3ffi9ModuleObj12ImportModuleERKNS0_6ModuleE
    #[cfg(feature = "cxx-abi")] _ZN3tvm3ffi9ModuleObj14GetFunctionDocERKNS0_6StringEb
    #[cfg(feature = "cxx-abi")] _ZN3tvm3ffi9ModuleObj18ImplementsFunctionERKNS0_6StringEb
    #[cfg(feature = "cxx-abi")] _ZN3tvm3ffi9ModuleObj19GetFunctionMetadataERKNS0_6StringEb
    #[cfg(feature = "cxx-abi")] _ZN3tvm3ffi9ReprPrintERKNS0_3AnyE
    #[cfg(feature = "cxx-abi")] _ZTIN3tvm3ffi5ErrorE
    #[cfg(feature = "cxx-abi")] _ZTIN3tvm3ffi9ModuleObjE
    #[cfg(feature = "cxx-abi")] _ZTSN3tvm3ffi5ErrorE
    #[cfg(feature = "cxx-abi")] _ZTSN3tvm3ffi9ModuleObjE
    #[cfg(feature = "cxx-abi")] _ZTVN3tvm3ffi5ErrorE
    #[cfg(feature = "cxx-abi")] _ZTVN3tvm3ffi9ModuleObjE
    #[cfg(feature = "cxx-abi")] _ZZN3tvm3ffi9ModuleObj27_GetOrAllocRuntimeTypeIndexEvE6tindex
    #[cfg(feature = "cxx-abi")] _ZN3tvm3ffi4json9StringifyERKNS0_3AnyENS0_8OptionalIivEE
}

/// Returns the name of a symbol.
#[allow(clippy::panic, reason = "runs when the program is compiled")]
const fn name(text: &str) -> &CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(name) => name,
        Err(_) => panic!("the text ends in its only NUL byte"),
    }
}

/// Offers the symbols to the dynamic linker, before `main` runs.
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
        if cfg!(feature = "cxx-abi") {
            expected
                .extend(include_str!("../../../tests/conformance/exports/cxx-symbols.txt").lines());
            expected.extend(
                include_str!("../../../tests/conformance/exports/cxx-symbols-earlier.txt").lines(),
            );
        }
        if cfg!(feature = "backend") {
            expected.extend(
                include_str!("../../../tests/conformance/exports/backend-symbols.txt").lines(),
            );
        }
        for name in expected {
            assert!(
                TABLE.symbols.iter().any(|symbol| symbol.name().to_bytes() == name.as_bytes()),
                "{name}"
            );
        }
    }
}
