//! Writing of payloads.
#![forbid(unsafe_code)]

use ferrite_core::Bytes;
use ferrite_core::abi::DLDataType;
use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;

/// A payload that is being written, piece by piece in the order of its layout.
pub struct Writer(Buffer<u8>);

impl Writer {
    /// An empty payload.
    #[expect(clippy::new_without_default, reason = "a payload is never empty")]
    pub const fn new() -> Writer {
        Writer(Buffer::new())
    }

    /// Writes a count.
    ///
    /// # Errors
    /// Here and below, MemoryError.
    pub fn count(&mut self, count: usize) -> Result<()> {
        Ok(self.0.try_extend_from_slice(&(count as u64).to_le_bytes())?)
    }

    /// Writes a text or code with its length.
    ///
    /// # Errors
    /// MemoryError.
    pub fn text(&mut self, text: &[u8]) -> Result<()> {
        self.count(text.len())?;
        Ok(self.0.try_extend_from_slice(text)?)
    }

    /// Writes 32 bits.
    ///
    /// # Errors
    /// MemoryError.
    pub fn word(&mut self, word: u32) -> Result<()> {
        Ok(self.0.try_extend_from_slice(&word.to_le_bytes())?)
    }

    /// Writes the type of a parameter.
    ///
    /// # Errors
    /// MemoryError.
    pub fn dtype(&mut self, dtype: DLDataType) -> Result<()> {
        let [low, high] = dtype.lanes.to_le_bytes();
        Ok(self.0.try_extend_from_slice(&[dtype.code, dtype.bits, low, high])?)
    }

    /// Writes the key and the name of a kernel, after which come the three lists.
    ///
    /// # Errors
    /// MemoryError.
    pub fn kernel_name(&mut self, name: &[u8]) -> Result<()> {
        self.text(name)?;
        self.text(name)
    }

    /// Writes a shader: flags and SPIR-V words, as a text of their own.
    ///
    /// # Errors
    /// MemoryError.
    pub fn shader(&mut self, flags: u32, words: &[u8]) -> Result<()> {
        self.count(12 + words.len())?;
        self.word(flags)?;
        self.count(words.len() / 4)?;
        Ok(self.0.try_extend_from_slice(words)?)
    }

    /// The payload.
    ///
    /// # Errors
    /// MemoryError.
    pub fn finish(self) -> Result<Bytes> {
        Bytes::new(&self.0)
    }
}
