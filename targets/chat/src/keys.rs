//! Values of `mlc-chat-config.json` by key, with errors that name the key.
#![forbid(unsafe_code)]

use ferrite::{Result, bail, error};
use serde::Deserialize;
use serde_json::{Map, Value};

/// Name of the file in a model's folder.
pub(crate) const FILE: &str = "mlc-chat-config.json";

/// A JSON object of the file, with its path for messages.
pub(crate) struct Keys<'a> {
    object: &'a Map<String, Value>,
    path: String,
}

impl<'a> Keys<'a> {
    /// Returns the keys of the whole file.
    pub(crate) fn new(object: &'a Map<String, Value>) -> Keys<'a> {
        Keys { object, path: String::new() }
    }

    /// Returns a required value.
    ///
    /// # Errors
    /// KeyError if it is missing; ValueError for a value of another type.
    pub(crate) fn required<T: for<'d> Deserialize<'d>>(&self, key: &str) -> Result<T> {
        self.optional(key)?
            .ok_or_else(|| error!(KeyError, "{FILE} lacks the key `{}`", self.at(key)))
    }

    /// Returns a value; `None` if it is missing or null.
    ///
    /// # Errors
    /// ValueError for a value of another type.
    pub(crate) fn optional<T: for<'d> Deserialize<'d>>(&self, key: &str) -> Result<Option<T>> {
        match self.object.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => T::deserialize(value)
                .map(Some)
                .map_err(|error| error!(ValueError, "{FILE}: `{}`: {error}", self.at(key))),
        }
    }

    /// Returns a number of tokens; `None` if it is missing or -1.
    ///
    /// # Errors
    /// ValueError for a value of another type, and for other numbers below `least`.
    pub(crate) fn tokens(&self, key: &str, least: i64) -> Result<Option<usize>> {
        match self.optional::<i64>(key)? {
            None | Some(-1) => Ok(None),
            Some(count) if (least..=i64::from(i32::MAX)).contains(&count) => {
                Ok(usize::try_from(count).ok())
            }
            Some(count) => bail!(
                ValueError,
                "{FILE}: `{}` is {count}, which must be at least {least}",
                self.at(key)
            ),
        }
    }

    /// Returns a number in a range.
    ///
    /// # Errors
    /// ValueError for a value of another type, and for numbers outside the range.
    pub(crate) fn number(&self, key: &str, default: f32, range: (f32, f32)) -> Result<f32> {
        let number = self.optional::<f32>(key)?.unwrap_or(default);
        if number < range.0 || number > range.1 {
            bail!(
                ValueError,
                "{FILE}: `{}` is {number}, which must be between {} and {}",
                self.at(key),
                range.0,
                range.1
            );
        }
        Ok(number)
    }

    /// Returns the object of a key.
    ///
    /// # Errors
    /// KeyError if it is missing; ValueError if the value is not an object.
    pub(crate) fn object(&'a self, key: &str) -> Result<Keys<'a>> {
        match self.object.get(key) {
            None | Some(Value::Null) => bail!(KeyError, "{FILE} lacks the key `{}`", self.at(key)),
            Some(Value::Object(object)) => Ok(Keys { object, path: format!("{}.", self.at(key)) }),
            Some(Value::String(name)) => bail!(
                ValueError,
                "{FILE}: `{}` is the name `{name}`, but must be an object: `mlc_llm gen_config` of a current release writes it",
                self.at(key)
            ),
            Some(_) => bail!(ValueError, "{FILE}: `{}` must be an object", self.at(key)),
        }
    }

    fn at(&self, key: &str) -> String {
        format!("{}{key}", self.path)
    }
}
