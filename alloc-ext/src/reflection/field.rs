//! Fields of reflected classes: where they lie, how they are read and written, and what is told about them.

use core::ffi::{c_int, c_void};
use core::mem::ManuallyDrop;

use ferrite_core::abi::{TVMFFIAny, TVMFFIByteArray, TVMFFIFieldGetter, TVMFFIFieldInfo, TVMFFIFieldSetter};
use ferrite_core::any::AnyView;
use ferrite_core::convert::{AnyCompatible, TypeText};
use ferrite_core::error::Result;
use ferrite_core::{export, raised_error, type_table};

/// A field of a class. Made by [`field!`].
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

/// A field of a record, its type checked: `field!(Record<EnumContent>, content.int_index: i64, "_int_index", INT)`.
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
    /// A read-only field without a default. `T` must be what lies at the offset.
    pub(crate) const fn new<T: AnyCompatible + Clone>(
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
            text: T::TEXT,
        }
    }

    /// With these flags. A default that they announce is None.
    pub(crate) const fn with_flags(self, flags: i32) -> Field {
        Field { flags, ..self }
    }

    /// With documentation.
    pub(crate) const fn with_doc(self, doc: &'static str) -> Field {
        Field { doc, ..self }
    }

    /// Adds the field to a type.
    ///
    /// # Errors
    /// MemoryError; those of [`type_table::register_field`].
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
        // SAFETY: the texts live through the call; the setter is a C function, as the flags say.
        unsafe { type_table::register_field(type_index, &info) }
    }
}

/// A text as the ABI passes it; null when empty.
pub(crate) fn text(text: &str) -> TVMFFIByteArray {
    bytes(text.as_bytes())
}

/// Bytes as the ABI passes them; null when empty.
pub(crate) fn bytes(bytes: &[u8]) -> TVMFFIByteArray {
    let data = if bytes.is_empty() { core::ptr::null() } else { bytes.as_ptr().cast() };
    TVMFFIByteArray { data, size: bytes.len() }
}

/// Reads a field of type `T`.
///
/// # Safety
/// `field` is the address of a `T` in a live object, `result` valid for a write.
pub(crate) unsafe extern "C" fn get<T: AnyCompatible + Clone>(
    field: *mut c_void,
    result: *mut TVMFFIAny,
) -> c_int {
    // SAFETY: the caller vouches for the field; the copied bits are not dropped, since the object owns them.
    let held = ManuallyDrop::new(unsafe { field.cast::<T>().read() });
    // SAFETY: the caller vouches for the result, which owns the value from here.
    unsafe { result.write(T::clone(&held).into_any().into_raw()) };
    0
}

/// Converts a value to `T` and puts it in a field.
///
/// # Safety
/// `field` is the address of a `T` in a live object that nobody else uses now, `value` a valid value.
pub(crate) unsafe extern "C" fn set<T: AnyCompatible>(field: *mut c_void, value: *const TVMFFIAny) -> c_int {
    // SAFETY: the caller vouches for the value.
    match unsafe { AnyView::from_raw(value.read()) }.get::<T>() {
        Ok(value) => {
            // SAFETY: the caller vouches for the field; what it held is dropped once.
            drop(unsafe { field.cast::<T>().replace(value) });
            0
        }
        Err(error) => {
            raised_error::set(error);
            -1
        }
    }
}
