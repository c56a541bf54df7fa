//! Values of a parsed document.
//!
//! The speed-optimised `ValueBuilder` caches keys and table layouts, since many JSON objects of a
//! document have the same keys. The size-optimised one has no caches.

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;

#[cfg(feature = "speed")]
mod fast;
#[cfg(not(feature = "speed"))]
mod small;

#[cfg(feature = "speed")]
pub(super) use fast::ValueBuilder;
#[cfg(not(feature = "speed"))]
pub(super) use small::ValueBuilder;

/// Builder of the values of a document, called by the parser in document order.
pub(in crate::json) trait Builder {
    /// Type of built values. The default value is null.
    type Value: Default + From<bool> + From<i64> + From<f64>;

    /// Builds a string from the first `len` bytes of a word, at most seven. None of them is zero;
    /// the other bytes of the word are arbitrary.
    fn short(word: u64, len: usize) -> Self::Value;

    /// Builds a string from `len` bytes of `text` at `start`, which contain no escapes. The string
    /// may be a key.
    ///
    /// # Errors
    /// MemoryError.
    fn literal(
        &mut self,
        text: &[u8],
        start: usize,
        len: usize,
        is_key: bool,
    ) -> Result<Self::Value>;

    /// Builds a string from its content, with escapes already decoded.
    ///
    /// # Errors
    /// MemoryError.
    fn unescaped(&mut self, content: &[u8]) -> Result<Self::Value>;

    /// Builds an array from the values at index `first` and above, and removes them from the
    /// buffer.
    ///
    /// # Errors
    /// MemoryError.
    fn array(&mut self, values: &mut Buffer<Self::Value>, first: usize) -> Result<Self::Value>;

    /// Builds an object from the alternating keys and values at index `first` and above, and
    /// removes them from the buffer. The last value of a repeated key wins.
    ///
    /// # Errors
    /// MemoryError.
    fn object(&mut self, values: &mut Buffer<Self::Value>, first: usize) -> Result<Self::Value>;
}
