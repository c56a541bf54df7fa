//! The kinds of error as an enum, for `match` and for the macros that create errors.
#![forbid(unsafe_code)]

use core::fmt;

use super::{Error, kind};

macro_rules! error_kinds {
    ($($(#[$meta:meta])* $kind:ident = $text:expr;)*) => {
        /// The kind of an [`Error`]: the name of Python's exception class, or
        /// [`Other`](ErrorKind::Other).
        ///
        /// Clients may raise errors of kinds that are not listed here; their name is
        /// [`Error::kind_bytes`]. Python raises the class that is registered for the name, and
        /// RuntimeError for names that are not registered.
        ///
        /// # Examples
        /// ```
        /// use ferrite_core::{Any, error::ErrorKind};
        ///
        /// let error = Any::from(1.5).get::<bool>().unwrap_err();
        /// match error.kind() {
        ///     ErrorKind::TypeError => assert_eq!(error.message(), "Cannot convert from type `float` to `bool`"),
        ///     other => panic!("unexpected {other}"),
        /// }
        /// ```
        ///
        /// # Upstream
        /// `ErrorKind` of the crate `tvm-ffi`, a string with constants.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[non_exhaustive]
        pub enum ErrorKind {
            $($(#[$meta])* $kind,)*
            /// A kind that is not in this list.
            Other,
        }

        impl ErrorKind {
            /// Returns the name of the kind. Errors that are created with the kind `Other` are
            /// `RuntimeError`s.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(ErrorKind::$kind => $text,)*
                    ErrorKind::Other => kind::RUNTIME_ERROR,
                }
            }

            /// Returns the kind with this name, or [`Other`](ErrorKind::Other).
            fn of(name: &[u8]) -> ErrorKind {
                $(
                    if name == $text.as_bytes() {
                        return ErrorKind::$kind;
                    }
                )*
                ErrorKind::Other
            }
        }
    };
}

error_kinds! {
    /// A value has the wrong type.
    TypeError = kind::TYPE_ERROR;
    /// A value has the right type but is invalid.
    ValueError = kind::VALUE_ERROR;
    /// An index is out of bounds.
    IndexError = kind::INDEX_ERROR;
    /// A key is missing.
    KeyError = kind::KEY_ERROR;
    /// An attribute is missing.
    AttributeError = kind::ATTRIBUTE_ERROR;
    /// Any other failure outside the library.
    RuntimeError = kind::RUNTIME_ERROR;
    /// An internal check failed.
    InternalError = kind::INTERNAL_ERROR;
    /// Out of memory.
    MemoryError = kind::MEMORY_ERROR;
    /// A condition that the program relies on does not hold.
    AssertionError = "AssertionError";
    /// A number is too large for the type that it is converted to.
    OverflowError = "OverflowError";
    /// A division by zero.
    ZeroDivisionError = "ZeroDivisionError";
    /// The operation is not implemented.
    NotImplementedError = "NotImplementedError";
    /// A file or another service of the operating system failed.
    OSError = "OSError";
    /// Bytes are not valid in the expected encoding.
    UnicodeDecodeError = "UnicodeDecodeError";
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl AsRef<str> for ErrorKind {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

/// Passes the name of a kind to a function that takes names, such as [`Error::at`].
impl AsRef<[u8]> for ErrorKind {
    fn as_ref(&self) -> &[u8] {
        self.as_str().as_bytes()
    }
}

impl Error {
    /// Returns the kind of the error.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::{error, error::ErrorKind};
    ///
    /// assert_eq!(error!(KeyError, "no {}", "x").kind(), ErrorKind::KeyError);
    /// assert_eq!(error!("MyError", "mine").kind(), ErrorKind::Other);
    /// ```
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::of(self.kind_bytes())
    }

    /// Borrows the message of the error. Errors of C code may have messages in other encodings:
    /// returns only the part before the first byte that is not UTF-8.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::Error;
    ///
    /// assert_eq!(Error::new("ValueError", format_args!("{} is odd", 3)).message(), "3 is odd");
    /// ```
    pub fn message(&self) -> &str {
        self.message_bytes().utf8_chunks().next().map_or("", |chunk| chunk.valid())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn kinds_are_recognised_by_name() {
        assert_eq!(crate::error!(OSError, "x").kind(), ErrorKind::OSError);
        assert_eq!(crate::error!(OSError, "x").kind_bytes(), b"OSError");
        assert_eq!(crate::error!("MyError", "x").kind(), ErrorKind::Other);
        assert_eq!(ErrorKind::OverflowError.to_string(), "OverflowError");
    }

    #[test]
    fn a_message_ends_before_what_is_no_text() {
        assert_eq!(Error::from_bytes(b"K", b"a\xffb", b"").message(), "a");
        assert_eq!(Error::from_bytes(b"K", b"", b"").message(), "");
    }
}
