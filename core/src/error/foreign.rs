//! Conversions of the errors of Rust's standard library, for `?`. The kinds are those that Python
//! has for the same failures.
#![forbid(unsafe_code)]

use super::{Error, ErrorKind};

/// Implements `From` for error types, whose text becomes the message.
macro_rules! foreign_errors {
    ($($(#[$meta:meta])* $error:ty => $kind:ident;)*) => {$(
        $(#[$meta])*
        impl From<$error> for Error {
            #[cold]
            fn from(error: $error) -> Error {
                Error::new(ErrorKind::$kind.as_str(), format_args!("{error}"))
            }
        }
    )*};
}

foreign_errors! {
    /// The kind that `int("x")` raises in Python.
    core::num::ParseIntError => ValueError;
    /// The kind that `float("x")` raises in Python.
    core::num::ParseFloatError => ValueError;
    core::str::ParseBoolError => ValueError;
    core::char::ParseCharError => ValueError;
    core::char::CharTryFromError => ValueError;
    core::num::TryFromIntError => OverflowError;
    /// A ValueError, the base class of Python's UnicodeDecodeError.
    core::str::Utf8Error => ValueError;
    core::array::TryFromSliceError => ValueError;
    core::ffi::FromBytesWithNulError => ValueError;
    core::ffi::FromBytesUntilNulError => ValueError;
    core::net::AddrParseError => ValueError;
    core::fmt::Error => RuntimeError;
    core::alloc::LayoutError => MemoryError;
    core::char::TryFromCharError => ValueError;
    core::char::DecodeUtf16Error => ValueError;
    core::cell::BorrowError => RuntimeError;
    core::cell::BorrowMutError => RuntimeError;
}

impl From<core::convert::Infallible> for Error {
    fn from(never: core::convert::Infallible) -> Error {
        match never {}
    }
}

#[cfg(feature = "alloc")]
foreign_errors! {
    alloc::string::FromUtf8Error => ValueError;
    alloc::string::FromUtf16Error => ValueError;
    alloc::ffi::NulError => ValueError;
    alloc::ffi::IntoStringError => ValueError;
    alloc::ffi::FromVecWithNulError => ValueError;
    alloc::collections::TryReserveError => MemoryError;
}

#[cfg(feature = "std")]
mod of_std {
    use super::*;
    use crate::error::user;
    use std::boxed::Box;

    foreign_errors! {
        std::env::VarError => KeyError;
        std::time::SystemTimeError => ValueError;
        std::sync::mpsc::RecvError => RuntimeError;
        std::sync::mpsc::TryRecvError => RuntimeError;
        std::sync::mpsc::RecvTimeoutError => RuntimeError;
        std::thread::AccessError => RuntimeError;
        std::path::StripPrefixError => ValueError;
        std::env::JoinPathsError => ValueError;
    }

    /// The kinds that `open` raises in Python. Errors of this library that passed through `std::io`
    /// are as they were.
    impl From<std::io::Error> for Error {
        #[cold]
        fn from(error: std::io::Error) -> Error {
            match error.downcast::<Error>() {
                Ok(own) => own,
                Err(error) if error.kind() == std::io::ErrorKind::OutOfMemory => {
                    user::wrap(ErrorKind::MemoryError.as_str(), &error)
                }
                Err(error) => user::wrap(ErrorKind::OSError.as_str(), &error),
            }
        }
    }

    impl From<Error> for std::io::Error {
        fn from(error: Error) -> std::io::Error {
            std::io::Error::other(error)
        }
    }

    /// Another thread panicked while it held the lock.
    impl<T> From<std::sync::PoisonError<T>> for Error {
        #[cold]
        fn from(error: std::sync::PoisonError<T>) -> Error {
            user::wrap(ErrorKind::RuntimeError.as_str(), &error)
        }
    }

    /// The receiver was dropped.
    impl<T> From<std::sync::mpsc::SendError<T>> for Error {
        #[cold]
        fn from(error: std::sync::mpsc::SendError<T>) -> Error {
            user::wrap(ErrorKind::RuntimeError.as_str(), &error)
        }
    }

    /// Implements `From` for boxed errors: an error of this library stays as it is, others become
    /// RuntimeErrors with their causes.
    macro_rules! boxed_errors {
        ($($error:ty),*) => {$(
            impl From<Box<$error>> for Error {
                #[cold]
                fn from(error: Box<$error>) -> Error {
                    match error.downcast::<Error>() {
                        Ok(own) => *own,
                        Err(error) => user::wrap(ErrorKind::RuntimeError.as_str(), &*error),
                    }
                }
            }
        )*};
    }

    boxed_errors!(dyn core::error::Error, dyn core::error::Error + Send + Sync);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Result;

    fn kind_of<T>(outcome: Result<T>) -> ErrorKind {
        outcome.map(drop).unwrap_err().kind()
    }

    #[test]
    fn errors_of_core_have_pythons_kinds() {
        let parse = |text: &str| -> Result<i64> { Ok(text.parse::<i64>()?) };
        let error = parse("x1").unwrap_err();
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::ValueError, "invalid digit found in string")
        );
        assert_eq!(parse("-7").unwrap(), -7);
        assert_eq!(
            kind_of((|| -> Result<u8> { Ok(u8::try_from(300i64)?) })()),
            ErrorKind::OverflowError
        );
        assert_eq!(
            kind_of((|| -> Result<()> {
                Ok(core::str::from_utf8(core::hint::black_box(&[0xff])).map(drop)?)
            })()),
            ErrorKind::ValueError
        );
    }

    #[cfg(feature = "std")]
    #[test]
    fn errors_of_this_library_pass_through_std() {
        let missing = std::fs::read("/nowhere/at/all").map_err(Error::from).unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::OSError);
        let through_io = Error::from(std::io::Error::from(crate::error!(KeyError, "x")));
        assert_eq!((through_io.kind(), through_io.message()), (ErrorKind::KeyError, "x"));
        let boxed: std::boxed::Box<dyn core::error::Error + Send + Sync> =
            crate::error!(TypeError, "y").into();
        assert_eq!(Error::from(boxed).kind(), ErrorKind::TypeError);
    }
}
