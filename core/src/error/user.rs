//! Error types of other crates as errors of this library: the trait by which `?` takes them, and
//! conversions with their causes.
//!
//! [`Error`] implements `core::error::Error`, so that it passes into `anyhow`, `Box<dyn Error>` and
//! the errors of `thiserror`. The language then allows no conversion from every type that
//! implements it, as `anyhow::Error` has, which does not implement it: a type asks for the
//! conversion by an empty `impl`.
#![forbid(unsafe_code)]

use core::error::Error as StdError;
use core::fmt::Write;

use super::{Error, compose, kind};

/// Maximum number of causes that an error stores. A faulty `source` may return itself.
const MOST_CAUSES: usize = 16;

/// An error type that `?` converts to an [`Error`]: an empty `impl` suffices.
///
/// The message is what `Display` writes, and the chain of `source` becomes the chain of causes,
/// which Python shows as `__cause__`. For an error type of another crate, use [`Error::wrap`].
///
/// # Examples
/// ```
/// use core::fmt;
/// use ferrite_core::Result;
/// use ferrite_core::error::UserError;
///
/// #[derive(Debug)]
/// enum ModelError {
///     NoLayer(String),
///     Empty,
/// }
///
/// impl fmt::Display for ModelError {
///     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
///         match self {
///             ModelError::NoLayer(name) => write!(f, "there is no layer `{name}`"),
///             ModelError::Empty => f.write_str("the model is empty"),
///         }
///     }
/// }
///
/// impl core::error::Error for ModelError {}
///
/// impl UserError for ModelError {
///     fn kind(&self) -> &str {
///         match self {
///             ModelError::NoLayer(_) => "KeyError",
///             ModelError::Empty => "ValueError",
///         }
///     }
/// }
///
/// fn units(model: &[(&str, i64)], name: &str) -> Result<i64, ModelError> {
///     if model.is_empty() {
///         return Err(ModelError::Empty);
///     }
///     let layer = model.iter().find(|layer| layer.0 == name);
///     layer.map(|layer| layer.1).ok_or(ModelError::NoLayer(name.into()))
/// }
///
/// fn twice_the_units() -> Result<i64> {
///     Ok(2 * units(&[("dense", 8)], "relu")?)
/// }
/// assert_eq!(twice_the_units().unwrap_err().to_string(), "KeyError: there is no layer `relu`");
/// ```
pub trait UserError: StdError {
    /// Returns the kind of the error: the name of a Python exception, or of a kind of one's own.
    /// `RuntimeError` by default.
    fn kind(&self) -> &str {
        kind::RUNTIME_ERROR
    }
}

impl<E: UserError> From<E> for Error {
    #[cold]
    fn from(error: E) -> Error {
        wrap(error.kind(), &error)
    }
}

impl Error {
    /// Creates a RuntimeError from an error of any type, with its causes, for types of other
    /// crates: `parse(text).map_err(Error::wrap)?`. Types of your own crate can implement
    /// [`UserError`].
    ///
    /// # Examples
    /// ```
    /// use core::time::Duration;
    /// use ferrite_core::{Error, Result};
    ///
    /// fn pause(seconds: f64) -> Result<Duration> {
    ///     Ok(Duration::try_from_secs_f64(seconds).map_err(Error::wrap)?)
    /// }
    /// assert!(pause(-1.0).unwrap_err().to_string().starts_with("RuntimeError: cannot convert"));
    /// ```
    #[cold]
    pub fn wrap(error: impl StdError) -> Error {
        wrap(kind::RUNTIME_ERROR, &error)
    }
}

/// Creates an error from the text and the causes of another one.
pub(super) fn wrap(kind: &str, error: &dyn StdError) -> Error {
    let own = Error::new(kind, format_args!("{error}"));
    match cause_of(error) {
        None => own,
        cause => own.with_cause_and_context(cause, None),
    }
}

/// Converts the sources of an error. An error of this library among them ends the chain, with the
/// causes that it has.
fn cause_of(error: &dyn StdError) -> Option<Error> {
    let mut sources = [None; MOST_CAUSES];
    let mut next = error.source();
    for source in &mut sources {
        *source = next;
        next = next.filter(|error| !error.is::<Error>()).and_then(StdError::source);
    }
    // From the innermost one outwards. Out of memory, the chain is shorter.
    sources.into_iter().flatten().rev().fold(None, |cause, source| {
        match source.downcast_ref::<Error>() {
            Some(own) => Some(own.clone()),
            None => match cause_text(source) {
                Some(outer) if cause.is_some() => Some(outer.with_cause_and_context(cause, None)),
                Some(outer) => Some(outer),
                None => cause,
            },
        }
    })
}

/// Creates a cause. It has no backtrace, which would be that of the conversion.
fn cause_text(source: &dyn StdError) -> Option<Error> {
    compose(kind::RUNTIME_ERROR.as_bytes(), &|out| {
        // A failing Display leaves the text that it has written so far.
        let _ = write!(out, "{source}");
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{ErrorKind, Result};
    use core::fmt;

    /// An error with a source: the index of the next one in a chain.
    #[derive(Debug)]
    enum Link {
        End(Error),
        Next(&'static Link),
    }

    impl fmt::Display for Link {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(if matches!(self, Link::End(_)) { "last" } else { "link" })
        }
    }

    impl StdError for Link {
        fn source(&self) -> Option<&(dyn StdError + 'static)> {
            match self {
                Link::End(error) => Some(error),
                Link::Next(link) => Some(*link),
            }
        }
    }

    impl UserError for Link {}

    static ENDLESS: Link = Link::Next(&ENDLESS);

    fn fail(link: Link) -> Result<()> {
        Err(link)?
    }

    fn chain(error: &Error) -> std::vec::Vec<std::string::String> {
        let mut chain = std::vec![std::string::ToString::to_string(error)];
        let mut next = error.cause();
        while let Some(cause) = next {
            chain.push(std::string::ToString::to_string(&cause));
            next = cause.cause();
        }
        chain
    }

    #[test]
    fn sources_become_causes() {
        let own = crate::error!(KeyError, "own")
            .with_cause_and_context(Some(crate::error!(OSError, "file")), None);
        let error = fail(Link::End(own)).unwrap_err();
        assert_eq!(chain(&error), ["RuntimeError: last", "KeyError: own", "OSError: file"]);
    }

    #[test]
    fn a_source_that_names_itself_ends() {
        let error = fail(Link::Next(&ENDLESS)).unwrap_err();
        assert_eq!(chain(&error).len(), 1 + MOST_CAUSES);
    }

    #[test]
    fn the_type_chooses_the_kind() {
        #[derive(Debug)]
        struct Bad(&'static str);
        impl fmt::Display for Bad {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bad")
            }
        }
        impl StdError for Bad {}
        impl UserError for Bad {
            fn kind(&self) -> &str {
                self.0
            }
        }
        assert_eq!(Error::from(Bad("ValueError")).kind(), ErrorKind::ValueError);
        assert_eq!(Error::from(Bad("shop.SoldOut")).kind_bytes(), b"shop.SoldOut");
        assert_eq!(Error::wrap(Bad("ValueError")).kind(), ErrorKind::RuntimeError);
    }
}
