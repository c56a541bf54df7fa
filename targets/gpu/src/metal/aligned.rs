//! Ranges of buffers aligned for copies by the Metal driver: start and length are multiples of 4.
#![forbid(unsafe_code)]

/// Alignment of copies in bytes.
pub const UNIT: usize = 4;

/// An aligned range of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aligned {
    /// Offset of the first byte.
    pub start: usize,
    /// Length in bytes.
    pub bytes: usize,
    /// Number of bytes before the requested range.
    pub before: usize,
}

impl Aligned {
    /// Returns the smallest aligned range that covers `bytes` bytes at `offset`. It lies within the
    /// buffer, whose length is a multiple of the alignment.
    pub fn around(offset: usize, bytes: usize) -> Aligned {
        let before = offset % UNIT;
        Aligned { start: offset - before, bytes: (before + bytes).next_multiple_of(UNIT), before }
    }

    /// Returns `true` if the range consists of nothing but the `bytes` requested bytes.
    pub fn is_exact(&self, bytes: usize) -> bool {
        self.before == 0 && self.bytes == bytes
    }
}

#[cfg(test)]
mod tests {
    use super::Aligned;

    #[test]
    fn the_range_around_is_the_smallest_aligned_one() {
        for offset in 0..9 {
            for bytes in 1..10 {
                let around = Aligned::around(offset, bytes);
                let end = around.start + around.bytes;
                assert!(around.start.is_multiple_of(4) && around.bytes.is_multiple_of(4));
                assert!(around.start <= offset && offset - around.start < 4, "{offset} {bytes}");
                assert!(end >= offset + bytes && end - (offset + bytes) < 4, "{offset} {bytes}");
                assert_eq!(around.before, offset - around.start);
                assert_eq!(around.is_exact(bytes), (offset | bytes).is_multiple_of(4));
            }
        }
    }
}
