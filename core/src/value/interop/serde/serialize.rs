//! `Serialize` of values.

use serde_core::ser::{Error as _, Serialize, SerializeMap as _, SerializeSeq as _, Serializer};

use super::refusals::{MAX_DEPTH, integer_of, no_form, too_deep};
use crate::abi::{DLDataType, DLDevice, type_index};
use crate::value::any::{Any, AnyView};
use crate::value::convert::{AnyCompatible, entries_of};
use crate::value::shape::Shape;
use crate::value::string::{Bytes, String};
use crate::value::{device, dtype, sequence};

/// A value and the depth at which it is nested.
struct Nested<'a>(&'a Any, usize);

impl Serialize for Nested<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Nested(value, depth) = *self;
        if depth > MAX_DEPTH {
            return Err(custom(too_deep()));
        }
        let view = value.as_view();
        match value.type_index() {
            type_index::NONE => serializer.serialize_unit(),
            type_index::BOOL => serializer.serialize_bool(read(value)?),
            type_index::INT => serializer.serialize_i64(read(value)?),
            type_index::FLOAT => serializer.serialize_f64(read(value)?),
            type_index::SMALL_STR | type_index::STR => serializer.serialize_str(text(view)?),
            type_index::SMALL_BYTES | type_index::BYTES => {
                serializer.serialize_bytes(view.bytes_of_bytes().unwrap_or_default())
            }
            type_index::DATA_TYPE => read::<DLDataType, _>(value)?.serialize(serializer),
            type_index::DEVICE => read::<DLDevice, _>(value)?.serialize(serializer),
            type_index::SHAPE => read::<Shape, _>(value)?.serialize(serializer),
            type_index::BIG_INT => serializer.serialize_i128(integer_of(value).map_err(custom)?),
            type_index::ARRAY | type_index::LIST => {
                let mut elements = serializer.serialize_seq(sequence::len(view))?;
                for element in (0..).map_while(|index| sequence::element(view, index).transpose()) {
                    elements.serialize_element(&Nested(&element.map_err(custom)?, depth + 1))?;
                }
                elements.end()
            }
            type_index::MAP | type_index::DICT => {
                let entries = entries_of(view).map_err(custom)?.unwrap_or_default();
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in &entries {
                    map.serialize_entry(&Nested(key, depth + 1), &Nested(value, depth + 1))?;
                }
                map.end()
            }
            _ => Err(custom(no_form(value.view()))),
        }
    }
}

fn read<T: AnyCompatible, E: serde_core::ser::Error>(value: &Any) -> Result<T, E> {
    value.get().map_err(custom)
}

/// Converts an error of the library to one of the format, with the same message.
fn custom<E: serde_core::ser::Error>(error: crate::Error) -> E {
    E::custom(error.message())
}

fn text<'a, E: serde_core::ser::Error>(view: &'a AnyView<'_>) -> Result<&'a str, E> {
    core::str::from_utf8(view.bytes_of_string().unwrap_or_default()).map_err(E::custom)
}

/// The content of numbers, strings, bytes, shapes, data types, devices and containers. Other
/// objects raise TypeError.
///
/// # Examples
/// ```
/// use ferrite_core::Any;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let value = Any::try_new((1, vec![0.5], "x", None::<i64>))?;
/// assert_eq!(serde_json::to_string(&value)?, r#"[1,[0.5],"x",null]"#);
/// # Ok(())
/// # }
/// ```
impl Serialize for Any {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Nested(self, 0).serialize(serializer)
    }
}

/// A string. Bytes that are not UTF-8 are an error.
impl Serialize for String {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(core::str::from_utf8(self.as_bytes()).map_err(S::Error::custom)?)
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.as_bytes())
    }
}

/// A sequence of extents.
impl Serialize for Shape {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_slice().serialize(serializer)
    }
}

/// The name of the data type, such as `float32`.
impl Serialize for DLDataType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        dtype::to_string(*self).map_err(custom)?.serialize(serializer)
    }
}

/// The name of the device, such as `cuda:1`.
impl Serialize for DLDevice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        device::to_string(*self).map_err(custom)?.serialize(serializer)
    }
}
