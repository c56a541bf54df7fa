//! Re-exports of the tvm-ffi symbols that this folder calls, from the modules of the current profile.

#[cfg(not(feature = "minimal"))]
pub use crate::{
    error::{
        TVMFFIErrorMoveFromRaised, TVMFFIErrorSetRaised, TVMFFIErrorSetRaisedFromCStr,
        TVMFFIErrorSetRaisedFromCStrParts,
    },
    function::{TVMFFIFunctionCall, TVMFFIFunctionCreate, TVMFFIFunctionGetGlobal, TVMFFIFunctionSetGlobal},
    object::TVMFFIObjectDecRef,
};

#[cfg(feature = "minimal")]
pub use crate::minimal::{
    error::{
        TVMFFIErrorMoveFromRaised, TVMFFIErrorSetRaised, TVMFFIErrorSetRaisedFromCStr,
        TVMFFIErrorSetRaisedFromCStrParts,
    },
    function::{TVMFFIFunctionCall, TVMFFIFunctionCreate, TVMFFIFunctionGetGlobal, TVMFFIFunctionSetGlobal},
    object::TVMFFIObjectDecRef,
};
