//! A loaded `libtvm_ffi` and its C symbols.

use super::{Raised, Value, classes};
use ferrite_core::abi::*;
use ferrite_tests::Outcome;
use std::ffi::c_int;
use std::path::Path;

macro_rules! symbols {
    ($($field:ident = $symbol:literal: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// Functions of the C ABI that properties call.
        pub struct Symbols {
            $(pub $field: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Symbols {
            fn find(library: &libloading::Library) -> Result<Self, libloading::Error> {
                // SAFETY: the types are those of the header, which both libraries implement.
                Ok(Self { $($field: *unsafe { library.get(concat!($symbol, "\0").as_bytes()) }?,)* })
            }
        }
    };
}

symbols! {
    function_get_global = "TVMFFIFunctionGetGlobal":
        fn(*const TVMFFIByteArray, *mut TVMFFIObjectHandle) -> c_int;
    function_call = "TVMFFIFunctionCall":
        fn(TVMFFIObjectHandle, *const TVMFFIAny, i32, *mut TVMFFIAny) -> c_int;
    error_take = "TVMFFIErrorMoveFromRaised": fn(*mut TVMFFIObjectHandle);
    inc_ref = "TVMFFIObjectIncRef": fn(TVMFFIObjectHandle) -> c_int;
    dec_ref = "TVMFFIObjectDecRef": fn(TVMFFIObjectHandle) -> c_int;
    string = "TVMFFIStringFromByteArray": fn(*const TVMFFIByteArray, *mut TVMFFIAny) -> c_int;
    bytes = "TVMFFIBytesFromByteArray": fn(*const TVMFFIByteArray, *mut TVMFFIAny) -> c_int;
    big_int = "TVMFFIBigIntFromByteArray": fn(*const TVMFFIByteArray, *mut TVMFFIAny) -> c_int;
    big_int_content = "TVMFFIBigIntGetContentByteArray": fn(*const TVMFFIAny) -> TVMFFIByteArray;
    dtype_from_string = "TVMFFIDataTypeFromString": fn(*const TVMFFIByteArray, *mut DLDataType) -> c_int;
    dtype_to_string = "TVMFFIDataTypeToString": fn(*const DLDataType, *mut TVMFFIAny) -> c_int;
    tensor_from_dlpack = "TVMFFITensorFromDLPack":
        fn(*mut DLManagedTensor, i32, i32, *mut TVMFFIObjectHandle) -> c_int;
    tensor_to_dlpack = "TVMFFITensorToDLPack": fn(TVMFFIObjectHandle, *mut *mut DLManagedTensor) -> c_int;
    tensor_from_dlpack_versioned = "TVMFFITensorFromDLPackVersioned":
        fn(*mut DLManagedTensorVersioned, i32, i32, *mut TVMFFIObjectHandle) -> c_int;
    tensor_to_dlpack_versioned = "TVMFFITensorToDLPackVersioned":
        fn(TVMFFIObjectHandle, *mut *mut DLManagedTensorVersioned) -> c_int;
    tensor_view = "TVMFFITensorCreateUnsafeView":
        fn(TVMFFIObjectHandle, *const DLTensor, *mut TVMFFIObjectHandle) -> c_int;
    type_info = "TVMFFIGetTypeInfo": fn(i32) -> *const TVMFFITypeInfo;
    type_index = "TVMFFITypeGetOrAllocIndex": fn(*const TVMFFIByteArray, i32, i32, i32, i32, i32) -> i32;
    register_field = "TVMFFITypeRegisterField": fn(i32, *const TVMFFIFieldInfo) -> c_int;
    register_metadata = "TVMFFITypeRegisterMetadata": fn(i32, *const TVMFFITypeMetadata) -> c_int;
}

/// A library, and its name in reports. Never unloaded.
pub struct Library {
    pub name: &'static str,
    pub symbols: Symbols,
}

impl Library {
    /// Opens the library with private symbols, so that both libraries can be loaded together.
    pub fn open(name: &'static str, path: &Path) -> Outcome<&'static Self> {
        use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
        // SAFETY: initialisers of both libraries only fill their own tables.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
        let library = library.map_err(|error| format!("cannot load {name} library: {error}"))?;
        let library = libloading::Library::from(library);
        let symbols = Symbols::find(&library);
        let symbols =
            symbols.map_err(|error| format!("{name} library at {}: {error}", path.display()))?;
        std::mem::forget(library);
        let library: &'static Self = Box::leak(Box::new(Self { name, symbols }));
        classes::register(library)?;
        Ok(library)
    }

    /// Calls a global function.
    pub fn call(&'static self, name: &str, arguments: &[&Value]) -> Result<Value, Raised> {
        self.global(name).call(arguments)
    }

    /// Returns a global function.
    pub fn global(&'static self, name: &str) -> Value {
        let mut handle = std::ptr::null_mut();
        let text = TVMFFIByteArray::from_slice(name.as_bytes());
        // SAFETY: both arguments live through the call.
        let status =
            unsafe { (self.symbols.function_get_global)(&raw const text, &raw mut handle) };
        assert!(status == 0 && !handle.is_null(), "{} library has no function {name}", self.name);
        Value::from_handle(self, handle)
    }

    /// Returns the value that a C function writes to an out-pointer.
    pub fn value(
        &'static self,
        fill: impl FnOnce(*mut TVMFFIAny) -> c_int,
    ) -> Result<Value, Raised> {
        let mut cell = TVMFFIAny::NONE;
        self.status(fill(&raw mut cell))?;
        Ok(Value::from_cell(self, cell))
    }

    /// Returns the object that a C function writes to an out-pointer.
    pub fn object(
        &'static self,
        fill: impl FnOnce(*mut TVMFFIObjectHandle) -> c_int,
    ) -> Result<Value, Raised> {
        let mut handle = std::ptr::null_mut();
        self.status(fill(&raw mut handle))?;
        Ok(Value::from_handle(self, handle))
    }

    /// Returns the raised error for a status other than 0.
    pub fn status(&'static self, status: c_int) -> Result<(), Raised> {
        if status == 0 { Ok(()) } else { Err(Raised::take(self)) }
    }
}
