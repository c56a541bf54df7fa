//! Error types of a program: with `?` in functions that other languages call, and into the error
//! types of Rust.

use ferrite::{Error, ErrorKind, Function, Result, UserError};
use std::error::Error as StdError;
use std::fmt;
use std::num::ParseIntError;

/// The error of a shop, with the kinds that Python knows.
#[derive(Debug)]
enum ShopError {
    SoldOut,
    Price(ParseIntError),
}

impl fmt::Display for ShopError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShopError::SoldOut => f.write_str("sold out"),
            ShopError::Price(_) => f.write_str("the price is not a number"),
        }
    }
}

impl StdError for ShopError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            ShopError::SoldOut => None,
            ShopError::Price(error) => Some(error),
        }
    }
}

impl UserError for ShopError {
    fn kind(&self) -> &str {
        match self {
            ShopError::SoldOut => "shop.SoldOut",
            ShopError::Price(_) => "ValueError",
        }
    }
}

/// An error with a conversion that the program writes itself.
struct Gone;

impl From<Gone> for Error {
    fn from(_: Gone) -> Error {
        ferrite::error::Error::new("KeyError", format_args!("gone"))
    }
}

fn price(text: &str) -> Result<i64, ShopError> {
    if text.is_empty() { Err(ShopError::SoldOut) } else { text.parse().map_err(ShopError::Price) }
}

#[test]
fn an_error_of_ones_own_passes_the_question_mark() -> Result<()> {
    let twice = Function::from_typed(|text: &str| -> Result<i64> { Ok(2 * price(text)?) })?;
    assert_eq!(twice.call::<i64>(("4",))?, 8);
    let error = twice.call::<i64>(("x",)).unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (ErrorKind::ValueError, "the price is not a number")
    );
    let cause = error.cause().expect("a cause");
    assert_eq!(cause.to_string(), "RuntimeError: invalid digit found in string");
    assert_eq!(twice.call::<i64>(("",)).unwrap_err().to_string(), "shop.SoldOut: sold out");
    Ok(())
}

#[test]
fn a_function_returns_an_error_of_ones_own() -> Result<()> {
    let price = Function::from_typed(price)?;
    assert_eq!(price.call::<i64>(("",)).unwrap_err().to_string(), "shop.SoldOut: sold out");
    Ok(())
}

#[test]
fn conversions_of_ones_own_stay() {
    let gone = || -> Result<()> { Err(Gone)? };
    assert_eq!(gone().unwrap_err().kind(), ErrorKind::KeyError);
}

#[test]
fn errors_pass_into_those_of_rust() {
    let boxed = || -> Result<i64, Box<dyn StdError>> {
        Ok(Function::global("no.such.function")?.call::<i64>(())?)
    };
    let error = boxed().unwrap_err();
    let back = Error::from(error);
    assert_eq!(back.kind(), ErrorKind::ValueError, "{back}");
}

#[test]
fn boxed_errors_keep_their_causes() {
    let boxed: Box<dyn StdError + Send + Sync> = Box::new(price("x").unwrap_err());
    let error = Error::from(boxed);
    assert_eq!(error.to_string(), "RuntimeError: the price is not a number");
    assert_eq!(
        error.cause().map(|cause| cause.message().to_owned()).as_deref(),
        Some("invalid digit found in string")
    );
}

#[test]
fn poisoned_locks_and_closed_channels_are_errors() {
    let lock = std::sync::Mutex::new(1);
    let poisoned = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _held = lock.lock();
        panic!("while it is held");
    }));
    assert!(poisoned.is_err());
    let read = || -> Result<i32> { Ok(*lock.lock()?) };
    assert_eq!(read().unwrap_err().kind(), ErrorKind::RuntimeError);
    let (sender, receiver) = std::sync::mpsc::channel();
    drop(receiver);
    let send = || -> Result<()> { Ok(sender.send(1)?) };
    assert_eq!(send().unwrap_err().message(), "sending on a closed channel");
}
