//! The C symbols of one library, as a table of functions.

use core::ffi::{c_char, c_int, c_void};
use std::ffi::CString;
use std::path::Path;

use ferrite_core::abi::*;
// Links the C symbols into the program.
#[cfg(feature = "linked")]
use ferrite_library as _;

type Handle = TVMFFIObjectHandle;
type Bytes = *const TVMFFIByteArray;
type Init = Option<unsafe extern "C" fn(*mut *mut c_void) -> c_int>;
type Deinit = Option<unsafe extern "C" fn(*mut c_void) -> c_int>;
/// A function of the legacy API: values, their type codes, their number, the place of the result,
/// and the function's own data.
pub type PackedCFunc =
    unsafe extern "C" fn(*mut u64, *mut c_int, c_int, *mut c_void, *mut c_void) -> c_int;
type Deleter = Option<unsafe extern "C" fn(*mut c_void)>;

macro_rules! symbols {
    ($name:ident; $($symbol:ident: fn($($arg:ty),*) $(-> $result:ty)?;)*) => {
        /// Functions by the names of their symbols.
        #[allow(non_snake_case, reason = "the names of C symbols")]
        pub struct $name { $(pub $symbol: unsafe extern "C" fn($($arg),*) $(-> $result)?,)* }

        impl $name {
            /// Names of the symbols.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($symbol)),*];

            #[cfg(feature = "linked")]
            fn linked() -> Self {
                unsafe extern "C" { $(fn $symbol($(_: $arg),*) $(-> $result)?;)* }
                Self { $($symbol),* }
            }

            fn opened(library: *mut c_void) -> Result<Self, String> {
                Ok(Self { $(
                    // SAFETY: symbols of these names have these types in every libtvm_ffi.
                    $symbol: unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($arg),*) $(-> $result)?>(
                        find(library, stringify!($symbol))?
                    ) },
                )* })
            }
        }
    };
}

symbols! { Symbols;
    TVMFFIAnyViewToOwnedAny: fn(*const TVMFFIAny, *mut TVMFFIAny) -> c_int;
    TVMFFIBacktrace: fn(*const c_char, c_int, *const c_char, c_int) -> Bytes;
    TVMFFIBigIntFromByteArray: fn(Bytes, *mut TVMFFIAny) -> c_int;
    TVMFFIBigIntGetContentByteArray: fn(*const TVMFFIAny) -> TVMFFIByteArray;
    TVMFFIBytesFromByteArray: fn(Bytes, *mut TVMFFIAny) -> c_int;
    TVMFFIDataTypeFromString: fn(Bytes, *mut DLDataType) -> c_int;
    TVMFFIDataTypeToString: fn(*const DLDataType, *mut TVMFFIAny) -> c_int;
    TVMFFIEnvCheckSignals: fn() -> c_int;
    TVMFFIEnvGetDLPackManagedTensorAllocator: fn() -> DLPackManagedTensorAllocator;
    TVMFFIEnvGetStream: fn(i32, i32) -> *mut c_void;
    TVMFFIEnvModLookupFromImports: fn(Handle, *const c_char, *mut Handle) -> c_int;
    TVMFFIEnvModRegisterContextSymbol: fn(*const c_char, *mut c_void) -> c_int;
    TVMFFIEnvModRegisterSystemLibSymbol: fn(*const c_char, *mut c_void) -> c_int;
    TVMFFIEnvRegisterCAPI: fn(*const c_char, *mut c_void) -> c_int;
    TVMFFIEnvSetDLPackManagedTensorAllocator:
        fn(DLPackManagedTensorAllocator, c_int, *mut DLPackManagedTensorAllocator) -> c_int;
    TVMFFIEnvSetStream: fn(i32, i32, *mut c_void, *mut *mut c_void) -> c_int;
    TVMFFIEnvTensorAlloc: fn(*mut DLTensor, *mut Handle) -> c_int;
    TVMFFIErrorCreate: fn(Bytes, Bytes, Bytes, *mut Handle) -> c_int;
    TVMFFIErrorCreateWithCauseAndExtraContext: fn(Bytes, Bytes, Bytes, Handle, Handle, *mut Handle) -> c_int;
    TVMFFIErrorMoveFromRaised: fn(*mut Handle);
    TVMFFIErrorSetRaised: fn(Handle);
    TVMFFIErrorSetRaisedFromCStr: fn(*const c_char, *const c_char);
    TVMFFIErrorSetRaisedFromCStrParts: fn(*const c_char, *const *const c_char, i32);
    TVMFFIFunctionCall: fn(Handle, *const TVMFFIAny, i32, *mut TVMFFIAny) -> c_int;
    TVMFFIFunctionCreate: fn(*mut c_void, Option<TVMFFISafeCallType>, Deleter, *mut Handle) -> c_int;
    TVMFFIFunctionGetGlobal: fn(Bytes, *mut Handle) -> c_int;
    TVMFFIFunctionSetGlobal: fn(Bytes, Handle, c_int) -> c_int;
    TVMFFIFunctionSetGlobalFromMethodInfo: fn(*const TVMFFIMethodInfo, c_int) -> c_int;
    TVMFFIGetCustomAllocator: fn() -> *mut TVMFFICustomAllocator;
    TVMFFIGetTypeAttrColumn: fn(Bytes) -> *const TVMFFITypeAttrColumn;
    TVMFFIGetTypeInfo: fn(i32) -> *const TVMFFITypeInfo;
    TVMFFIGetVersion: fn(*mut TVMFFIVersion);
    TVMFFIHandleDeinitOnce: fn(*mut *mut c_void, Deinit) -> c_int;
    TVMFFIHandleInitOnce: fn(*mut *mut c_void, Init) -> c_int;
    TVMFFIObjectCreateOpaque: fn(*mut c_void, i32, Deleter, *mut Handle) -> c_int;
    TVMFFIObjectDecRef: fn(Handle) -> c_int;
    TVMFFIObjectIncRef: fn(Handle) -> c_int;
    TVMFFISetCustomAllocator: fn(*mut TVMFFICustomAllocator) -> c_int;
    TVMFFIStringFromByteArray: fn(Bytes, *mut TVMFFIAny) -> c_int;
    TVMFFITensorCreateUnsafeView: fn(Handle, *const DLTensor, *mut Handle) -> c_int;
    TVMFFITensorFromDLPack: fn(*mut DLManagedTensor, i32, i32, *mut Handle) -> c_int;
    TVMFFITensorFromDLPackVersioned: fn(*mut DLManagedTensorVersioned, i32, i32, *mut Handle) -> c_int;
    TVMFFITensorToDLPack: fn(Handle, *mut *mut DLManagedTensor) -> c_int;
    TVMFFITensorToDLPackVersioned: fn(Handle, *mut *mut DLManagedTensorVersioned) -> c_int;
    TVMFFITypeGetOrAllocIndex: fn(Bytes, i32, i32, i32, i32, i32) -> i32;
    TVMFFITypeKeyToIndex: fn(Bytes, *mut i32) -> c_int;
    TVMFFITypeRegisterAttr: fn(i32, Bytes, *const TVMFFIAny) -> c_int;
    TVMFFITypeRegisterField: fn(i32, *const TVMFFIFieldInfo) -> c_int;
    TVMFFITypeRegisterMetadata: fn(i32, *const TVMFFITypeMetadata) -> c_int;
    TVMFFITypeRegisterMethod: fn(i32, *const TVMFFIMethodInfo) -> c_int;
}

symbols! { Backend;
    TVMBackendAllocWorkspace: fn(c_int, c_int, u64, c_int, c_int) -> *mut c_void;
    TVMBackendFreeWorkspace: fn(c_int, c_int, *mut c_void) -> c_int;
    TVMBackendParallelBarrier: fn(c_int, *mut ParallelGroupEnv) -> c_int;
    TVMBackendParallelLaunch: fn(Option<ParallelLambda>, *mut c_void, c_int) -> c_int;
    TVMBackendRunOnce: fn(*mut *mut c_void, Deinit, *mut c_void, c_int) -> c_int;
}

symbols! { Legacy;
    TVMAPISetLastError: fn(*const c_char);
    TVMAPISetLastPythonError: fn(*mut c_void);
    TVMArrayAlloc: fn(*const i64, c_int, c_int, c_int, c_int, c_int, c_int, *mut *mut DLTensor) -> c_int;
    TVMArrayCopyFromBytes: fn(*mut DLTensor, *mut c_void, usize) -> c_int;
    TVMArrayCopyFromTo: fn(*mut DLTensor, *mut DLTensor, *mut c_void) -> c_int;
    TVMArrayCopyToBytes: fn(*mut DLTensor, *mut c_void, usize) -> c_int;
    TVMArrayFree: fn(*mut DLTensor) -> c_int;
    TVMArrayFromDLPack: fn(*mut DLManagedTensor, *mut *mut DLTensor) -> c_int;
    TVMArrayGetTypeIndex: fn(*mut DLTensor, *mut u32) -> c_int;
    TVMArrayToDLPack: fn(*mut DLTensor, *mut *mut DLManagedTensor) -> c_int;
    TVMBackendGetFuncFromEnv: fn(*mut c_void, *const c_char, *mut Handle) -> c_int;
    TVMBackendRegisterEnvCAPI: fn(*const c_char, *mut c_void) -> c_int;
    TVMBackendRegisterSystemLibSymbol: fn(*const c_char, *mut c_void) -> c_int;
    TVMByteArrayFree: fn(*mut TVMFFIByteArray) -> c_int;
    TVMCFuncSetReturn: fn(*mut c_void, *mut u64, *mut c_int, c_int) -> c_int;
    TVMCbArgToReturn: fn(*mut u64, *mut c_int) -> c_int;
    TVMDLManagedTensorCallDeleter: fn(*mut DLManagedTensor);
    TVMDeviceAllocDataSpace: fn(DLDevice, usize, usize, DLDataType, *mut *mut c_void) -> c_int;
    TVMDeviceAllocDataSpaceWithScope:
        fn(DLDevice, c_int, *const i64, DLDataType, *const c_char, *mut *mut c_void) -> c_int;
    TVMDeviceCopyDataFromTo: fn(*mut DLTensor, *mut DLTensor, *mut c_void) -> c_int;
    TVMDeviceFreeDataSpace: fn(DLDevice, *mut c_void) -> c_int;
    TVMDropLastPythonError: fn();
    TVMExtTypeFree: fn(*mut c_void, c_int) -> c_int;
    TVMFuncCall: fn(Handle, *mut u64, *mut c_int, c_int, *mut u64, *mut c_int) -> c_int;
    TVMFuncCreateFromCFunc: fn(Option<PackedCFunc>, *mut c_void, Deleter, *mut Handle) -> c_int;
    TVMFuncFree: fn(Handle) -> c_int;
    TVMFuncGetGlobal: fn(*const c_char, *mut Handle) -> c_int;
    TVMFuncListGlobalNames: fn(*mut c_int, *mut *mut *const c_char) -> c_int;
    TVMFuncRegisterGlobal: fn(*const c_char, Handle, c_int) -> c_int;
    TVMFuncRemoveGlobal: fn(*const c_char) -> c_int;
    TVMGetLastBacktrace: fn() -> *const c_char;
    TVMGetLastError: fn() -> *const c_char;
    TVMGetLastPythonError: fn() -> *mut c_void;
    TVMModFree: fn(Handle) -> c_int;
    TVMModGetFunction: fn(Handle, *const c_char, c_int, *mut Handle) -> c_int;
    TVMModImport: fn(Handle, Handle) -> c_int;
    TVMModLoadFromFile: fn(*const c_char, *const c_char, *mut Handle) -> c_int;
    TVMNodeFree: fn(Handle) -> c_int;
    TVMNodeGetAttr: fn(Handle, *const c_char, *mut u64, *mut c_int, *mut c_int) -> c_int;
    TVMNodeGetTypeIndex: fn(Handle, *mut c_int) -> c_int;
    TVMNodeListAttrNames: fn(Handle, *mut c_int, *mut *mut *const c_char) -> c_int;
    TVMNodeTypeKey2Index: fn(*const c_char, *mut c_int) -> c_int;
    TVMObjectDerivedFrom: fn(u32, u32, *mut c_int) -> c_int;
    TVMObjectFree: fn(Handle) -> c_int;
    TVMObjectGetTypeIndex: fn(Handle, *mut u32) -> c_int;
    TVMObjectRetain: fn(Handle) -> c_int;
    TVMObjectTypeIndex2Key: fn(u32, *mut *mut c_char) -> c_int;
    TVMObjectTypeKey2Index: fn(*const c_char, *mut u32) -> c_int;
    TVMSetStream: fn(c_int, c_int, *mut c_void) -> c_int;
    TVMStreamCreate: fn(c_int, c_int, *mut *mut c_void) -> c_int;
    TVMStreamFree: fn(c_int, c_int, *mut c_void) -> c_int;
    TVMStreamStreamSynchronize: fn(c_int, c_int, *mut c_void, *mut c_void) -> c_int;
    TVMSynchronize: fn(c_int, c_int, *mut c_void) -> c_int;
}

/// A library.
pub struct Library {
    pub symbols: Symbols,
    /// The functions for compiled code, which upstream has in another library.
    pub backend: Option<Backend>,
    /// The API of TVM 0.5 to 0.20, if the library is built with it.
    pub legacy: Option<Legacy>,
}

impl Library {
    /// Returns the library that is linked into the program.
    #[cfg(feature = "linked")]
    pub fn linked() -> Self {
        Self {
            symbols: Symbols::linked(),
            backend: Some(Backend::linked()),
            legacy: Some(Legacy::linked()),
        }
    }

    /// Opens a `libtvm_ffi.so`, which is never closed.
    pub fn open(path: &Path) -> Result<Self, String> {
        let name =
            CString::new(path.as_os_str().as_encoded_bytes()).map_err(|error| error.to_string())?;
        // SAFETY: initialisers of such libraries fill their own tables.
        let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if library.is_null() {
            return Err(format!("cannot open {}", path.display()));
        }
        Ok(Self {
            symbols: Symbols::opened(library)?,
            backend: Backend::opened(library).ok(),
            legacy: Legacy::opened(library).ok(),
        })
    }
}

fn find(library: *mut c_void, name: &str) -> Result<*mut c_void, String> {
    let c_name = CString::new(name).map_err(|error| error.to_string())?;
    // SAFETY: the library is open, and the name is a C string.
    let found = unsafe { libc::dlsym(library, c_name.as_ptr()) };
    if found.is_null() { Err(format!("the library has no {name}")) } else { Ok(found) }
}
