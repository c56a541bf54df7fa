//! Serialisation of payloads.
#![forbid(unsafe_code)]

use ferrite_core::Bytes;
use ferrite_core::abi::DLDataType;
use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;

/// Writer of a payload. The fields are written in the order of the layout.
pub struct Writer(Buffer<u8>);

impl Writer {
    /// Creates an empty payload.
    #[expect(clippy::new_without_default, reason = "a payload is never empty")]
    pub const fn new() -> Writer {
        Writer(Buffer::new())
    }

    /// Writes a count.
    ///
    /// # Errors
    /// MemoryError.
    pub fn count(&mut self, count: usize) -> Result<()> {
        Ok(self.0.try_extend_from_slice(&(count as u64).to_le_bytes())?)
    }

    /// Writes a byte string, preceded by its length.
    ///
    /// # Errors
    /// MemoryError.
    pub fn text(&mut self, text: &[u8]) -> Result<()> {
        self.count(text.len())?;
        Ok(self.0.try_extend_from_slice(text)?)
    }

    /// Writes a 32-bit word.
    ///
    /// # Errors
    /// MemoryError.
    pub fn word(&mut self, word: u32) -> Result<()> {
        Ok(self.0.try_extend_from_slice(&word.to_le_bytes())?)
    }

    /// Writes a parameter type.
    ///
    /// # Errors
    /// MemoryError.
    pub fn dtype(&mut self, dtype: DLDataType) -> Result<()> {
        let [low, high] = dtype.lanes.to_le_bytes();
        Ok(self.0.try_extend_from_slice(&[dtype.code, dtype.bits, low, high])?)
    }

    /// Writes the key and the name of a kernel. The three lists of its FunctionInfo must follow.
    ///
    /// # Errors
    /// MemoryError.
    pub fn kernel_name(&mut self, name: &[u8]) -> Result<()> {
        self.text(name)?;
        self.text(name)
    }

    /// Writes a shader: flags and SPIR-V words, nested in a byte string.
    ///
    /// # Errors
    /// MemoryError.
    pub fn shader(&mut self, flags: u32, words: &[u8]) -> Result<()> {
        self.count(12 + words.len())?;
        self.word(flags)?;
        self.count(words.len() / 4)?;
        Ok(self.0.try_extend_from_slice(words)?)
    }

    /// Returns the finished payload.
    ///
    /// # Errors
    /// MemoryError.
    pub fn finish(self) -> Result<Bytes> {
        Bytes::new(&self.0)
    }
}
