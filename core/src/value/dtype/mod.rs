//! Element types (dtypes) as values of [`Any`], and their names.

use core::mem::MaybeUninit;

use crate::abi::{DLDataType, TVMFFIAnyPayload, type_index};
use crate::error::Result;
use crate::value::any::{Any, AnyView};
use crate::value::convert::AnyCompatible;
use crate::value::string::String;
use crate::{any_from, any_texts};

pub mod code;
#[cfg_attr(not(any(feature = "custom-dtypes", test)), path = "no_custom.rs")]
mod custom;
mod source;
mod spellings;
mod text;

pub use code::CUSTOM_BEGIN;
pub use text::{code_name, write_dtype, write_string};

/// Returns the name of `dtype`, as [`write_dtype`] writes it. Common names fit a small string,
/// which is not allocated.
///
/// # Errors
/// The errors of [`write_dtype`].
///
/// # Examples
/// ```
/// use ferrite_core::value::dtype;
/// use ferrite_core::abi::DLDataType;
///
/// # fn main() -> ferrite_core::Result<()> {
/// let dtype = DLDataType::parse(b"float32x4")?;
/// assert_eq!((dtype.bits, dtype.lanes), (32, 4));
/// assert_eq!(dtype::to_string(dtype)?.as_str(), Some("float32x4"));
/// # Ok(())
/// # }
/// ```
///
/// # Upstream
/// `TVMFFIDataTypeToString`.
pub fn to_string(dtype: DLDataType) -> Result<String> {
    let mut cell = MaybeUninit::uninit();
    write_string(dtype, &mut cell)?;
    // SAFETY: after success the cell is a string, owned by this function alone.
    Ok(unsafe { String::from_cell(cell) })
}

any_from!(DLDataType);

// SAFETY: `view` gives the record that the ABI defines for type index 5, and only such a cell is
// read as a dtype.
unsafe impl AnyCompatible for DLDataType {
    any_texts!("DataType", "DataType");

    fn view(&self) -> AnyView<'_> {
        // Padding must be zero, since equality compares whole words.
        let mut payload = TVMFFIAnyPayload { v_uint64: 0 };
        payload.v_dtype = *self;
        AnyView::plain(type_index::DATA_TYPE, payload)
    }

    fn into_any(self) -> Any {
        // SAFETY: a dtype is plain data, so there is no reference to hand over.
        unsafe { Any::from_raw(*self.view().as_raw()) }
    }

    /// Accepts a dtype or its name. As upstream, any other string is a ValueError.
    fn try_from_view(value: AnyView<'_>) -> Result<Option<DLDataType>> {
        if value.type_index() == type_index::DATA_TYPE {
            // SAFETY: the type index says that the payload holds a dtype.
            return Ok(Some(unsafe { value.as_raw().payload.v_dtype }));
        }
        value.bytes_of_string().map(DLDataType::parse).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOAT32: DLDataType = DLDataType { code: 2, bits: 32, lanes: 1 };

    #[test]
    fn a_dtype_goes_through_any() {
        let any = FLOAT32.into_any();
        assert_eq!(any.type_index(), type_index::DATA_TYPE);
        assert_eq!(any.get::<DLDataType>().unwrap(), FLOAT32);
    }

    #[test]
    fn text_converts() {
        assert_eq!(AnyView::from(c"float32").get::<DLDataType>().unwrap(), FLOAT32);
    }

    #[test]
    fn text_that_names_no_dtype_is_a_value_error() {
        let error = AnyView::from(c"flot32").try_get::<DLDataType>().unwrap_err();
        assert_eq!(error.kind_bytes(), b"ValueError");
        assert_eq!(error.message_bytes(), b"unknown dtype `flot32`");
    }

    #[test]
    fn other_values_do_not_convert() {
        assert!(AnyView::from(1i64).try_get::<DLDataType>().unwrap().is_none());
    }

    #[test]
    fn unused_payload_bytes_are_zero() {
        let any = FLOAT32.into_any();
        // SAFETY: every payload is eight initialized bytes.
        assert_eq!(unsafe { any.as_raw().payload.v_bytes }[4..], [0; 4]);
    }
}
