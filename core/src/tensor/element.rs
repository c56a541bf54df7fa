//! Rust types that are elements of tensors.

use crate::abi::DLDataType;
use crate::dtype::code;

/// A type whose values lie in tensors as they lie in Rust.
///
/// # Safety
/// Every bit pattern must be a value of the type, and elements of `DTYPE` must have its size.
pub unsafe trait Element: Copy + 'static {
    /// The dtype of such elements.
    const DTYPE: DLDataType;
}

macro_rules! elements {
    ($($element:ty: $code:ident;)*) => {$(
        // SAFETY: a number without invalid bit patterns, of the width that the dtype names.
        unsafe impl Element for $element {
            const DTYPE: DLDataType =
                DLDataType { code: code::$code, bits: <$element>::BITS_IN_TENSOR, lanes: 1 };
        }
    )*};
}

/// The width of an element in bits.
trait BitsInTensor: Sized {
    const BITS_IN_TENSOR: u8 = (size_of::<Self>() * 8) as u8;
}

impl<T> BitsInTensor for T {}

elements! {
    i8: INT;
    i16: INT;
    i32: INT;
    i64: INT;
    u8: UINT;
    u16: UINT;
    u32: UINT;
    u64: UINT;
    f32: FLOAT;
    f64: FLOAT;
}
