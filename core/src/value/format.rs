//! `defmt` formatting of values: the device sends encoded bytes, and the host renders them as text.
#![forbid(unsafe_code)]

use ::defmt::{Format, Formatter, write};

use crate::abi::{DLDataType, DLDevice, type_index};
use crate::names::type_table;
use crate::value::{device, dtype};
use crate::{Any, AnyView, Bytes, Error, Shape, String};

/// Returns the bytes as a string, or a question mark if they are not UTF-8.
fn text(bytes: &[u8]) -> &str {
    core::str::from_utf8(bytes).unwrap_or("?")
}

/// Formats the error as `KIND: message`.
impl Format for Error {
    fn format(&self, to: Formatter<'_>) {
        write!(to, "{=str}: {=str}", text(self.kind_bytes()), text(self.message_bytes()));
    }
}

/// Formats numbers and strings by value and other objects by their type key, as `Debug` does.
impl Format for AnyView<'_> {
    fn format(&self, to: Formatter<'_>) {
        match self.type_index() {
            type_index::NONE => write!(to, "None"),
            type_index::INT => write!(to, "{=i64}", self.payload_bits().cast_signed()),
            type_index::BOOL => write!(to, "{=bool}", self.payload_bits() != 0),
            type_index::FLOAT => write!(to, "{=f64}", f64::from_bits(self.payload_bits())),
            index => match self.bytes_of_string() {
                Some(bytes) => write!(to, "\"{=str}\"", text(bytes)),
                None => write!(to, "<{=str}>", text(type_table::type_key_of(index))),
            },
        }
    }
}

impl Format for Any {
    fn format(&self, to: Formatter<'_>) {
        self.view().format(to);
    }
}

impl Format for String {
    fn format(&self, to: Formatter<'_>) {
        write!(to, "{=str}", text(self.as_bytes()));
    }
}

impl Format for Bytes {
    fn format(&self, to: Formatter<'_>) {
        write!(to, "{=[u8]:a}", self.as_bytes());
    }
}

impl Format for Shape {
    fn format(&self, to: Formatter<'_>) {
        write!(to, "{}", self.as_slice());
    }
}

/// Formats the name of the code, the bits and the lanes: `float32`, `int8x4`. Unlike
/// [`write_dtype`](dtype::write_dtype), has no special cases.
impl Format for DLDataType {
    fn format(&self, to: Formatter<'_>) {
        write!(to, "{=str}{=u8}", dtype::code_name(self.code).unwrap_or("?"), self.bits);
        if self.lanes != 1 {
            write!(to, "x{=u16}", self.lanes);
        }
    }
}

/// Formats the device as `name:id`, such as `cpu:0`.
impl Format for DLDevice {
    fn format(&self, to: Formatter<'_>) {
        write!(
            to,
            "{=str}:{=i32}",
            device::type_name(self.device_type).unwrap_or("?"),
            self.device_id
        );
    }
}
