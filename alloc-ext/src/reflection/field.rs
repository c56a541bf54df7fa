//! Static descriptions of the fields of reflected classes, with generic getters and setters.

use core::ffi::{c_int, c_void};
use core::mem::ManuallyDrop;

use ferrite_core::abi::{
    TVMFFIAny, TVMFFIByteArray, TVMFFIFieldGetter, TVMFFIFieldInfo, TVMFFIFieldSetter,
};
use ferrite_core::call::export;
use ferrite_core::error::{Result, raised_error};
use ferrite_core::names::type_table;
use ferrite_core::value::any::AnyView;
use ferrite_core::value::convert::{FromAny, IntoAny, TypeText};

/// Static description of a field. Created by [`field!`].
#[derive(Clone, Copy)]
pub(crate) struct Field {
    name: &'static str,
    doc: &'static str,
    flags: i32,
    static_type: i32,
    offset: usize,
    size: usize,
    alignment: usize,
    getter: TVMFFIFieldGetter,
    setter: TVMFFIFieldSetter,
    text: &'static TypeText,
}

/// Describes a field of a record, and checks its type at compile time:
/// `field!(Record<EnumContent>, content.int_index: i64, "_int_index", INT)`.
macro_rules! field {
    ($record:ty, $($member:ident).+ : $type:ty, $name:literal, $static_type:expr) => {{
        const fn checked(record: &$record) -> &$type {
            &record.$($member).+
        }
        let _ = checked;
        $crate::reflection::field::Field::new::<$type>(
            $name,
            ::core::mem::offset_of!($record, $($member).+),
            $static_type,
        )
    }};
}
pub(crate) use field;

impl Field {
    /// Describes a field without flags and without a default. The field at the offset must be a
    /// `T`.
    pub(crate) const fn new<T: FromAny + IntoAny + Clone>(
        name: &'static str,
        offset: usize,
        static_type: i32,
    ) -> Field {
        Field {
            name,
            doc: "",
            flags: 0,
            static_type,
            offset,
            size: size_of::<T>(),
            alignment: align_of::<T>(),
            getter: get::<T>,
            setter: set::<T>,
            text: T::TYPE,
        }
    }

    /// Sets the flags. If they include a default, its value is None.
    pub(crate) const fn with_flags(self, flags: i32) -> Field {
        Field { flags, ..self }
    }

    /// Sets the documentation string.
    pub(crate) const fn with_doc(self, doc: &'static str) -> Field {
        Field { doc, ..self }
    }

    /// Registers the field for a type.
    ///
    /// # Errors
    /// MemoryError; errors of [`type_table::register_field`].
    pub(crate) fn register(&self, type_index: i32) -> Result<()> {
        let metadata = export::metadata_text(&|out| self.text.write_schema(out))?;
        let info = TVMFFIFieldInfo {
            name: text(self.name),
            doc: text(self.doc),
            metadata: bytes(metadata.as_bytes()),
            flags: i64::from(self.flags),
            size: self.size as i64,
            alignment: self.alignment as i64,
            offset: self.offset as i64,
            getter: Some(self.getter),
            setter: self.setter as *mut c_void,
            default_value_or_factory: *AnyView::NONE.as_raw(),
            field_static_type_index: self.static_type,
        };
        // SAFETY: the strings outlive the call; the setter is a C function, as the flags say.
        unsafe { type_table::register_field(type_index, &info) }
    }
}

/// Borrows a string as a C byte array, whose pointer is null if the string is empty.
pub(crate) fn text(text: &str) -> TVMFFIByteArray {
    bytes(text.as_bytes())
}

/// Borrows bytes as a C byte array, whose pointer is null if there are none.
pub(crate) fn bytes(bytes: &[u8]) -> TVMFFIByteArray {
    let data = if bytes.is_empty() { core::ptr::null() } else { bytes.as_ptr().cast() };
    TVMFFIByteArray { data, size: bytes.len() }
}

/// Field getter: reads a field of type `T`. Returns 0, or -1 with MemoryError raised.
///
/// # Safety
/// `field` must be the address of a `T` in a live object, and `result` valid for writing.
pub(crate) unsafe extern "C" fn get<T: IntoAny + Clone>(
    field: *mut c_void,
    result: *mut TVMFFIAny,
) -> c_int {
    // SAFETY: the caller guarantees the field; the bitwise copy is not dropped, since the object
    // owns the value.
    let held = ManuallyDrop::new(unsafe { field.cast::<T>().read() });
    match T::clone(&held).try_into_any() {
        Ok(value) => {
            // SAFETY: the caller guarantees the result cell, which owns the value from here.
            unsafe { result.write(value.into_raw()) };
            0
        }
        Err(error) => {
            raised_error::set(error);
            -1
        }
    }
}

/// Field setter: converts a value to `T` and stores it in a field. Returns 0, or -1 with TypeError
/// raised.
///
/// # Safety
/// `field` must be the address of a `T` in a live object without concurrent use, and `value` a
/// valid value.
pub(crate) unsafe extern "C" fn set<T: FromAny>(
    field: *mut c_void,
    value: *const TVMFFIAny,
) -> c_int {
    // SAFETY: the caller guarantees the value.
    match unsafe { AnyView::from_raw(value.read()) }.get::<T>() {
        Ok(value) => {
            // SAFETY: the caller guarantees the field; its old value is dropped once.
            drop(unsafe { field.cast::<T>().replace(value) });
            0
        }
        Err(error) => {
            raised_error::set(error);
            -1
        }
    }
}
