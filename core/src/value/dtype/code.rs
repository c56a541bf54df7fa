//! The type codes of DLPack 1.3, as values of `DLDataType.code`.
#![forbid(unsafe_code)]

macro_rules! codes {
    ($($name:ident = $value:ident, $doc:literal;)*) => {$(
        #[doc = $doc]
        pub const $name: u8 = crate::abi::$value as u8;
    )*};
}

codes! {
    INT = kDLInt, "Signed integer.";
    UINT = kDLUInt, "Unsigned integer.";
    FLOAT = kDLFloat, "IEEE floating point.";
    OPAQUE_HANDLE = kDLOpaqueHandle, "Opaque handle.";
    BFLOAT = kDLBfloat, "Brain floating point.";
    COMPLEX = kDLComplex, "Complex number; has no text.";
    BOOL = kDLBool, "Boolean.";
    FLOAT8_E3M4 = kDLFloat8_e3m4, "8-bit float e3m4; this and later codes fix the width.";
    FLOAT8_E4M3 = kDLFloat8_e4m3, "8-bit float e4m3.";
    FLOAT8_E4M3B11FNUZ = kDLFloat8_e4m3b11fnuz, "8-bit float e4m3b11fnuz.";
    FLOAT8_E4M3FN = kDLFloat8_e4m3fn, "8-bit float e4m3fn.";
    FLOAT8_E4M3FNUZ = kDLFloat8_e4m3fnuz, "8-bit float e4m3fnuz.";
    FLOAT8_E5M2 = kDLFloat8_e5m2, "8-bit float e5m2.";
    FLOAT8_E5M2FNUZ = kDLFloat8_e5m2fnuz, "8-bit float e5m2fnuz.";
    FLOAT8_E8M0FNU = kDLFloat8_e8m0fnu, "8-bit power of two.";
    FLOAT6_E2M3FN = kDLFloat6_e2m3fn, "6-bit float e2m3fn.";
    FLOAT6_E3M2FN = kDLFloat6_e3m2fn, "6-bit float e3m2fn.";
    FLOAT4_E2M1FN = kDLFloat4_e2m1fn, "4-bit float e2m1fn.";
}

/// The first code of custom types, whose names are resolved by global functions.
///
/// # Upstream
/// `kDLExtCustomBegin` of `include/tvm/ffi/dtype.h`.
pub const CUSTOM_BEGIN: u8 = 129;
