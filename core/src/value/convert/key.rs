//! Keys of look-ups in maps: the key type itself, or a string for keys that are strings.

use super::AnyCompatible;
use crate::error::Result;
use crate::value::any::{Any, AnyView};
use crate::value::string;

/// A lookup key of maps with keys of type `K`: a `K`, or a `str` if keys are strings.
#[diagnostic::on_unimplemented(message = "`{Self}` is not a key of a map whose keys are `{K}`")]
pub trait KeyOf<K> {
    /// Calls `look` with a view of the key.
    ///
    /// # Safety
    /// `look` must not retain the value: the object of a long text lies on the stack.
    ///
    /// # Errors
    /// The errors of `look`.
    unsafe fn with_key<R>(&self, look: impl FnOnce(AnyView<'_>) -> Result<R>) -> Result<R>;
}

impl<K: AnyCompatible> KeyOf<K> for K {
    #[inline(always)]
    unsafe fn with_key<R>(&self, look: impl FnOnce(AnyView<'_>) -> Result<R>) -> Result<R> {
        look(self.view())
    }
}

macro_rules! texts {
    ($($key:ty: $($name:ty),*;)*) => {$($(
        impl KeyOf<$key> for $name {
            unsafe fn with_key<R>(&self, look: impl FnOnce(AnyView<'_>) -> Result<R>) -> Result<R> {
                string::with_view(self, look)
            }
        }
    )*)*};
}

texts! {
    string::String: str;
    Any: str;
}

#[cfg(feature = "alloc")]
texts! {
    string::String: alloc::string::String;
    alloc::string::String: str, alloc::string::String;
    alloc::boxed::Box<str>: str, alloc::boxed::Box<str>;
}

impl KeyOf<char> for char {
    unsafe fn with_key<R>(&self, look: impl FnOnce(AnyView<'_>) -> Result<R>) -> Result<R> {
        string::with_view(self.encode_utf8(&mut [0; 4]), look)
    }
}
