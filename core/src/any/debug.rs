//! Values as text for programmers.
#![forbid(unsafe_code)]

use core::fmt;

use super::{Any, AnyView};
use crate::function::Function;
use crate::text::Lossy;
use crate::{string, type_index, type_table};

impl AnyView<'_> {
    /// Asks the library for the readable form of an object. Returns `None` in builds without it, and if it fails.
    fn repr(self) -> Option<string::String> {
        self.object_ptr()?;
        Function::global("ffi.ReprPrint").ok()?.call_packed(&[self]).ok()?.get().ok()
    }
}

/// Shows the content: numbers and strings by themselves, objects as upstream's `repr` does where the library has that
/// function, and otherwise by the key of their type.
impl fmt::Debug for AnyView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.type_index() {
            type_index::NONE => f.write_str("None"),
            type_index::INT => write!(f, "{}", self.payload_bits() as i64),
            type_index::BOOL => write!(f, "{}", self.payload_bits() != 0),
            type_index::FLOAT => write!(f, "{}", f64::from_bits(self.payload_bits())),
            index => {
                if let Some(text) = self.bytes_of_string() {
                    return write!(f, "{:?}", Lossy(text));
                }
                match self.repr() {
                    Some(repr) => write!(f, "{repr}"),
                    None => write!(f, "<{}>", Lossy(type_table::type_key_of(index))),
                }
            }
        }
    }
}

impl fmt::Debug for Any {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.view().fmt(f)
    }
}
