//! The symbols of tvm-ffi in the current profile.

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
