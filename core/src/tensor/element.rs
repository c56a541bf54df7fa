//! Rust types of tensor elements, and their dtypes.

use crate::abi::DLDataType;
use crate::value::dtype::code;

/// An element type with the same representation in tensors and in Rust.
///
/// # Safety
/// Every bit pattern must be a valid value, and elements of `DTYPE` must have the size of the type.
pub unsafe trait Element: Copy + 'static {
    /// Data type of the elements in DLPack's terms.
    const DTYPE: DLDataType;
}

macro_rules! elements {
    ($($element:ty: $code:ident;)*) => {$(
        // SAFETY: a number without invalid bit patterns, of the dtype's width.
        unsafe impl Element for $element {
            const DTYPE: DLDataType =
                DLDataType { code: code::$code, bits: <$element>::BITS_IN_TENSOR, lanes: 1 };
        }
    )*};
}

/// Width of an element in bits, as in its dtype.
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
