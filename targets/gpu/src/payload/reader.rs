//! Bounds-checked reader of little-endian payloads.
#![forbid(unsafe_code)]

use ferrite_core::abi::DLDataType;
use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{plain_ensure, plain_error};

/// A range of a payload's bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    pub(super) start: usize,
    pub(super) len: usize,
}

/// Returns the bytes of a span; empty if it is not within them.
pub(super) fn at(bytes: &[u8], span: Span) -> &[u8] {
    bytes.get(span.start..span.start + span.len).unwrap_or_default()
}

/// A position in a payload, and the end of the readable range.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    kind: &'static str,
    bytes: &'a [u8],
    position: usize,
    end: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(kind: &'static str, bytes: &'a [u8]) -> Reader<'a> {
        Reader { kind, bytes, position: 0, end: bytes.len() }
    }

    /// Returns a reader of a span.
    pub(super) fn within(&self, span: Span) -> Reader<'a> {
        Reader { position: span.start, end: span.start + span.len, ..*self }
    }

    pub(super) fn kind(&self) -> &'static str {
        self.kind
    }

    /// Returns the whole payload.
    pub(super) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    pub(super) fn text(&self, span: Span) -> &'a [u8] {
        at(self.bytes, span)
    }

    fn left(&self) -> usize {
        self.end - self.position
    }

    /// Reads `len` bytes; `what` names them in error messages.
    pub(super) fn take(&mut self, len: usize, what: &str) -> Result<Span> {
        if len > self.left() {
            return Err(plain_error!(
                INTERNAL_ERROR,
                "Malformed {} module: {} at offset {} needs {} bytes but {} are left",
                self.kind,
                what,
                self.position,
                len,
                self.left()
            ));
        }
        let span = Span { start: self.position, len };
        self.position += len;
        Ok(span)
    }

    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N]> {
        let span = self.take(N, what)?;
        Ok(self.text(span).first_chunk().copied().unwrap_or([0; N]))
    }

    pub(super) fn u32(&mut self, what: &str) -> Result<u32> {
        self.array(what).map(u32::from_le_bytes)
    }

    /// Reads a 64-bit size. It saturates on 32-bit targets, where a larger size exceeds the
    /// remaining bytes in any case.
    fn size(&mut self, what: &str) -> Result<usize> {
        let number = u64::from_le_bytes(self.array(what)?);
        Ok(usize::try_from(number).unwrap_or(usize::MAX))
    }

    /// Reads the number of elements that follow, each of which takes at least `least_bytes` bytes.
    pub(super) fn count(&mut self, what: &str, least_bytes: usize) -> Result<usize> {
        let (count, position) = (self.size(what)?, self.position);
        plain_ensure!(
            count <= self.left() / least_bytes,
            INTERNAL_ERROR,
            "Malformed {} module: {} at offset {} is {} but {} bytes are left",
            self.kind,
            what,
            position - 8,
            count,
            self.left()
        );
        Ok(count)
    }

    /// Reads a length and that many bytes.
    pub(super) fn span(&mut self, what: &str) -> Result<Span> {
        let len = self.size(what)?;
        self.take(len, what)
    }

    /// Reads a length and that many bytes of UTF-8, as strings that are passed to user callbacks
    /// must be.
    pub(super) fn name(&mut self, what: &str) -> Result<Span> {
        let span = self.span(what)?;
        plain_ensure!(
            core::str::from_utf8(self.text(span)).is_ok(),
            INTERNAL_ERROR,
            "Malformed {} module: {} at offset {} is not UTF-8",
            self.kind,
            what,
            span.start
        );
        Ok(span)
    }

    /// Reads a number of elements and the elements, each of which takes at least `least_bytes`
    /// bytes.
    pub(super) fn list<T>(
        &mut self,
        what: &str,
        least_bytes: usize,
        element: impl Fn(&mut Self) -> Result<T>,
    ) -> Result<Buffer<T>> {
        let count = self.count(what, least_bytes)?;
        let mut list = Buffer::try_with_capacity(count)?;
        for _ in 0..count {
            list.try_push(element(self)?)?;
        }
        Ok(list)
    }

    pub(super) fn dtype(&mut self) -> Result<DLDataType> {
        let [code, bits, lanes @ ..] = self.array::<4>("parameter type")?;
        Ok(DLDataType { code, bits, lanes: u16::from_le_bytes(lanes) })
    }

    /// Returns an error if any bytes remain.
    pub(super) fn end(&self) -> Result<()> {
        plain_ensure!(
            self.left() == 0,
            INTERNAL_ERROR,
            "Malformed {} module: {} bytes are left at offset {}",
            self.kind,
            self.left(),
            self.position
        );
        Ok(())
    }
}
