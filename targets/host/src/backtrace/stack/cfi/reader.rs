//! Reader for the binary format of call frame information. Each method returns `None` if too few
//! bytes are left.
#![forbid(unsafe_code)]

/// The bytes that are left to read, and their address.
#[derive(Clone)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    /// Address of the next byte in memory.
    pub address: usize,
}

impl<'a> Reader<'a> {
    /// Creates a reader that begins at `address`, in `bytes` that begin at address `start`.
    pub(super) fn at(bytes: &'a [u8], start: usize, address: usize) -> Option<Reader<'a>> {
        let bytes = bytes.get(address.checked_sub(start)?..)?;
        Some(Reader { bytes, address })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns a reader over the next `count` bytes, and skips them.
    pub(super) fn take(&mut self, count: usize) -> Option<Reader<'a>> {
        let (bytes, rest) = self.bytes.split_at_checked(count)?;
        let taken = Reader { bytes, address: self.address };
        self.bytes = rest;
        self.address = self.address.wrapping_add(count);
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.bytes.try_into().ok()
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn i32(&mut self) -> Option<i32> {
        self.array().map(i32::from_le_bytes)
    }

    fn i64(&mut self) -> Option<i64> {
        self.array().map(i64::from_le_bytes)
    }

    /// Reads an unsigned LEB128 number.
    pub(super) fn uleb(&mut self) -> Option<u64> {
        self.leb().map(|(value, _, _)| value)
    }

    /// Reads a signed LEB128 number.
    pub(super) fn sleb(&mut self) -> Option<i64> {
        let (value, bits, last) = self.leb()?;
        let negative = last & 0x40 != 0 && bits < u64::BITS;
        Some(if negative { value | (u64::MAX << bits) } else { value }.cast_signed())
    }

    fn leb(&mut self) -> Option<(u64, u32, u8)> {
        let (mut value, mut bits) = (0u64, 0);
        loop {
            let byte = self.u8()?;
            value |= u64::from(byte & 0x7f).checked_shl(bits).unwrap_or(0);
            bits = bits.checked_add(7)?;
            if byte & 0x80 == 0 {
                return Some((value, bits, byte));
            }
        }
    }

    /// Reads the bytes up to the next zero, and skips the zero.
    pub(super) fn text(&mut self) -> Option<&'a [u8]> {
        let len = self.bytes.iter().position(|byte| *byte == 0)?;
        let text = self.take(len)?.bytes;
        self.u8()?;
        Some(text)
    }

    /// Reads a pointer in an encoding used by loaded modules: absolute, or relative to its own
    /// address.
    pub(super) fn pointer(&mut self, encoding: u8) -> Option<usize> {
        let base = match encoding & 0x70 {
            0x00 => 0,
            0x10 => self.address,
            _ => return None,
        };
        let value = match encoding & 0x0f {
            0x00 | 0x04 | 0x0c => self.i64()? as usize,
            0x02 => usize::from(self.u16()?),
            0x03 => self.u32()? as usize,
            0x0a => i64::from(self.u16()?.cast_signed()) as usize,
            0x0b => i64::from(self.i32()?) as usize,
            _ => return None,
        };
        // The indirection bit is ignored, since only pointers that are not dereferenced have it.
        Some(base.wrapping_add(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(bytes: &[u8]) -> Reader<'_> {
        Reader::at(bytes, 0x1000, 0x1000).unwrap()
    }

    #[test]
    fn numbers_of_any_length_are_read() {
        assert_eq!(reader(&[0xe5, 0x8e, 0x26]).uleb(), Some(624_485));
        assert_eq!(reader(&[0x78]).sleb(), Some(-8));
        assert_eq!(reader(&[0x80, 0x7f]).sleb(), Some(-128));
        assert_eq!(reader(&[0x3f]).sleb(), Some(63));
        assert_eq!(reader(&[0xff; 12]).uleb(), None);
    }

    #[test]
    fn pointers_are_relative_to_themselves_or_to_nothing() {
        assert_eq!(reader(&[0xfc, 0xff, 0xff, 0xff]).pointer(0x1b), Some(0x0ffc));
        assert_eq!(reader(&8u64.to_le_bytes()).pointer(0x00), Some(8));
        assert_eq!(reader(&[0; 8]).pointer(0x3b), None);
        assert_eq!(reader(&[0; 3]).pointer(0x1b), None);
    }

    #[test]
    fn nothing_is_read_outside() {
        assert!(Reader::at(b"abc", 0x1000, 0x0fff).is_none());
        assert!(Reader::at(b"abc", 0x1000, 0x1004).is_none());
        assert!(reader(b"abc").take(4).is_none() && reader(b"abc").text().is_none());
        assert_eq!(reader(b"zR\0x").text(), Some(&b"zR"[..]));
    }
}
