//! The 16-byte value record `TVMFFIAny`, the type indices it carries, and the library version.

use super::{DLDataType, DLDevice, TVMFFIObject};
use core::ffi::{c_char, c_void};

/// Major version of the ABI described here.
pub const TVM_FFI_VERSION_MAJOR: u32 = 0;
/// Minor version of the ABI described here.
pub const TVM_FFI_VERSION_MINOR: u32 = 1;
/// Patch version of the ABI described here.
pub const TVM_FFI_VERSION_PATCH: u32 = 16;

/// A version of the library.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TVMFFIVersion {
    /// The major version.
    pub major: u32,
    /// The minor version.
    pub minor: u32,
    /// The patch version.
    pub patch: u32,
}

c_enum! {
    /// The type of a value or an object.
    ///
    /// Below `kTVMFFIStaticObjectBegin` the value lies in the record itself; from there on the
    /// record points to an object.
    pub enum TVMFFITypeIndex: i32 {
        /// Any type. Appears as the static type of reflected fields, never in a value.
        kTVMFFIAny = -1,
        /// No value, a null pointer.
        kTVMFFINone = 0,
        /// A 64-bit signed integer.
        kTVMFFIInt = 1,
        /// A boolean, stored as integer 0 or 1.
        kTVMFFIBool = 2,
        /// A 64-bit floating-point number.
        kTVMFFIFloat = 3,
        /// An opaque address, which only the user interprets.
        kTVMFFIOpaquePtr = 4,
        /// A `DLDataType`.
        kTVMFFIDataType = 5,
        /// A `DLDevice`.
        kTVMFFIDevice = 6,
        /// A borrowed `DLTensor*`.
        kTVMFFIDLTensorPtr = 7,
        /// A borrowed, zero-terminated `const char*`. Only in views, never in an owned value.
        kTVMFFIRawStr = 8,
        /// A borrowed `TVMFFIByteArray*`. Only in views, never in an owned value.
        kTVMFFIByteArrayPtr = 9,
        /// A pointer to an object handle from which the callee may move the object. Only in views.
        kTVMFFIObjectRValueRef = 10,
        /// A string of up to seven bytes inside the record.
        kTVMFFISmallStr = 11,
        /// Up to seven bytes inside the record.
        kTVMFFISmallBytes = 12,
        /// The result of a structural mutator that leaves a value unchanged.
        kTVMFFIUnchanged = 13,
        /// The first index of objects.
        kTVMFFIStaticObjectBegin = 64,
        /// An object of the root type.
        kTVMFFIObject = 64,
        /// A string object: header, `TVMFFIByteArray`.
        kTVMFFIStr = 65,
        /// A bytes object: header, `TVMFFIByteArray`.
        kTVMFFIBytes = 66,
        /// An error object: header, `TVMFFIErrorCell`.
        kTVMFFIError = 67,
        /// A function object: header, `TVMFFIFunctionCell`.
        kTVMFFIFunction = 68,
        /// A shape object: header, `TVMFFIShapeCell`.
        kTVMFFIShape = 69,
        /// A tensor object: header, `DLTensor`.
        kTVMFFITensor = 70,
        /// An array object: header, `TVMFFISeqCell`.
        kTVMFFIArray = 71,
        /// A map object, copied on write.
        kTVMFFIMap = 72,
        /// A module of functions loaded at run time.
        kTVMFFIModule = 73,
        /// A Python object, opaque to the library: header, `TVMFFIOpaqueObjectCell`.
        kTVMFFIOpaquePyObject = 74,
        /// A list object, changed in place: header, `TVMFFISeqCell`.
        kTVMFFIList = 75,
        /// A map object, changed in place.
        kTVMFFIDict = 76,
        /// The result of a structural visitor that stops the visit.
        kTVMFFIVisitInterrupt = 77,
        /// An integer that does not fit 64 bits: header, `size_t` word count, then that many
        /// `int64_t` words.
        ///
        /// Words in two's complement and native byte order, least significant first, without
        /// redundant sign words. A value that fits `int64_t` is always `kTVMFFIInt` instead.
        kTVMFFIBigInt = 78,
        /// One past the last index fixed by this ABI.
        kTVMFFIStaticObjectEnd = 79,
        /// The first index allocated at run time.
        kTVMFFIDynObjectBegin = 128,
    }
}

/// The eight payload bytes of a `TVMFFIAny`.
#[repr(C)]
#[derive(Clone, Copy)]
pub union TVMFFIAnyPayload {
    /// Integers and booleans.
    pub v_int64: i64,
    /// Floating-point numbers.
    pub v_float64: f64,
    /// Plain pointers.
    pub v_ptr: *mut c_void,
    /// A zero-terminated string.
    pub v_c_str: *const c_char,
    /// An object.
    pub v_obj: *mut TVMFFIObject,
    /// A data type.
    pub v_dtype: DLDataType,
    /// A device.
    pub v_device: DLDevice,
    /// The bytes of a small string or of small bytes.
    pub v_bytes: [u8; 8],
    /// All eight bytes at once, for comparing and hashing.
    pub v_uint64: u64,
}

/// A value of any type: an argument, a result or an element of a container.
///
/// Whether a record owns or borrows its object depends on its use: arguments are borrowed, results
/// are owned. Unused bytes must be zero, since values are compared word by word.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TVMFFIAny {
    /// The type of the value.
    pub type_index: i32,
    /// The length of a small string or of small bytes, at most 7; zero for every other value.
    pub small_str_len: u32,
    /// The value.
    pub payload: TVMFFIAnyPayload,
}

impl TVMFFIAny {
    /// The value `None`.
    pub const NONE: Self = Self {
        type_index: kTVMFFINone,
        small_str_len: 0,
        payload: TVMFFIAnyPayload { v_int64: 0 },
    };
}

assert_layout!(TVMFFIVersion, size 12, align 4, { major: 0, minor: 4, patch: 8 });
#[cfg(any(target_pointer_width = "64", not(target_arch = "x86")))]
assert_layout!(TVMFFIAny, size 16, align 8, { type_index: 0, small_str_len: 4, payload: 8 });
const _: () = assert!(core::mem::size_of::<TVMFFIAnyPayload>() == 8);
