//! Values as text for programmers: objects are shown by a global function, or by the key of their
//! type.
#![forbid(unsafe_code)]

use core::fmt;

use crate::abi::type_index;
use crate::call::function::Function;
use crate::names::type_table;
use crate::platform::text::Lossy;
use crate::value::any::{Any, AnyView};
use crate::value::string;

impl AnyView<'_> {
    /// Asks the library for the readable representation of an object. Returns `None` in builds
    /// without it, and if it fails.
    fn repr(self) -> Option<string::String> {
        self.object_ptr()?;
        Function::global("ffi.ReprPrint").ok()?.call_packed(&[self]).ok()?.get().ok()
    }
}

/// Shows the content: numbers and strings by themselves, objects as upstream's `repr` does where
/// the library has that function, and otherwise by the key of their type.
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

#[cfg(test)]
mod tests {
    extern crate std;
    use crate::error::Result;
    use crate::{Any, Function, String};
    use std::format;

    #[test]
    fn values_are_shown_by_their_content() -> Result<()> {
        let text = Any::new(String::new("a \"text\"\n")?);
        for (value, shown) in [
            (Any::NONE, "None"),
            (Any::from(-7i64), "-7"),
            (Any::from(true), "true"),
            (Any::from(false), "false"),
            (Any::from(2.5f64), "2.5"),
            (text, r#""a \"text\"\n""#),
        ] {
            assert_eq!(
                (format!("{value:?}"), format!("{:?}", value.view())),
                (shown.into(), shown.into())
            );
        }
        Ok(())
    }

    #[test]
    fn objects_are_shown_by_their_type_unless_a_function_shows_them() -> Result<()> {
        let shape = Any::new(crate::value::shape::Shape::from_slice(&[2, 3])?);
        assert_eq!(format!("{shape:?}"), "<ffi.Shape>");
        Function::set_global(
            "ffi.ReprPrint",
            &Function::from_typed(|_: Any| String::new("(2, 3)"))?,
            true,
        )?;
        assert_eq!(format!("{shape:?}"), "(2, 3)");
        Ok(())
    }
}
