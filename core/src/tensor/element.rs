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

#[cfg(feature = "half")]
macro_rules! half_elements {
    ($($name:ident: $code:ident, $example:literal;)*) => {$(
        /// Elements of tensors, whose dtype has 16 bits.
        ///
        /// # Examples
        /// ```
        #[doc = $example]
        /// use ferrite_core::Tensor;
        ///
        /// # fn main() -> ferrite_core::Result<()> {
        /// let tensor = Tensor::from_slice(&[Number::ONE, Number::from_f32(0.5)], &[2])?;
        /// assert_eq!(tensor.as_slice::<Number>()?[1].to_f32(), 0.5);
        /// assert!(tensor.as_slice::<f32>().is_err());
        /// # Ok(())
        /// # }
        /// ```
        // SAFETY: a number without invalid bit patterns, of 16 bits.
        unsafe impl Element for half::$name {
            const DTYPE: DLDataType = DLDataType { code: code::$code, bits: 16, lanes: 1 };
        }
    )*};
}

#[cfg(feature = "half")]
half_elements! {
    f16: FLOAT, "use half::f16 as Number;";
    bf16: BFLOAT, "use half::bf16 as Number;";
}
