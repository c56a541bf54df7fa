//! Checked reads from one packet.

use ferrite_core::abi::{DLDataType, DLDevice};

use super::{Closed, Stream};

/// Size of the pieces in which bytes are skipped.
const SKIP_BYTES: usize = if cfg!(feature = "alloc") { 4096 } else { 32 };

/// The reason why reading a packet failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The stream ended or failed.
    Closed,
    /// The packet ends before its content, or has bytes after it.
    Malformed,
}

impl From<Closed> for Fault {
    fn from(_: Closed) -> Fault {
        Fault::Closed
    }
}

/// A tensor up to its shape: the fields that precede it in a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorHead {
    /// Handle of the data.
    pub data: u64,
    /// Device, without the number of a session.
    pub device: DLDevice,
    /// Number of dimensions, whose extents follow.
    pub ndim: u32,
    /// Element type.
    pub dtype: DLDataType,
}

/// A packet that is being read.
///
/// Reads of integers return 0 after a fault, and the first fault is kept: a reader checks it once,
/// by [`check`](Packet::check) or [`finish`](Packet::finish), before it uses what was read.
pub struct Packet<'a, S: Stream> {
    stream: &'a mut S,
    left: u64,
    fault: Option<Fault>,
}

impl<'a, S: Stream> Packet<'a, S> {
    /// Reads the length of the next packet. Skips packets without content.
    ///
    /// # Errors
    /// [`Closed`] if the stream ends.
    pub fn begin(stream: &'a mut S) -> Result<Packet<'a, S>, Closed> {
        let mut length = [0; 8];
        loop {
            stream.read(&mut length)?;
            let left = u64::from_le_bytes(length);
            if left != 0 {
                return Ok(Packet { stream, left, fault: None });
            }
        }
    }

    /// Returns the number of bytes that have not been read.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Borrows the stream.
    pub fn stream(&mut self) -> &mut S {
        self.stream
    }

    /// Returns the stream to whomever reads all bytes that are left.
    #[cfg(feature = "devices")]
    pub(crate) fn take_rest(&mut self) -> &mut S {
        self.left = 0;
        self.stream
    }

    /// Returns the first fault.
    ///
    /// # Errors
    /// Malformed if the packet is shorter than what was read. Closed if the stream ended.
    pub fn check(&self) -> Result<(), Fault> {
        self.fault.map_or(Ok(()), Err)
    }

    /// Checks that the packet was read without a fault and completely.
    ///
    /// # Errors
    /// Those of [`check`](Packet::check), and Malformed if bytes are left.
    pub fn finish(&self) -> Result<(), Fault> {
        self.check()?;
        if self.left == 0 { Ok(()) } else { Err(Fault::Malformed) }
    }

    fn fail(&mut self, fault: Fault) {
        self.fault = self.fault.or(Some(fault));
    }

    /// Fills `target` from the packet. Changes nothing after a fault.
    #[cfg_attr(not(feature = "speed"), inline(never))]
    pub fn next_bytes(&mut self, target: &mut [u8]) {
        match self.left.checked_sub(target.len() as u64) {
            _ if self.fault.is_some() => {}
            None => self.fail(Fault::Malformed),
            Some(left) => {
                self.left = left;
                if self.stream.read(target).is_err() {
                    self.fail(Fault::Closed);
                }
            }
        }
    }

    /// Reads a 32-bit integer. Returns 0 after a fault.
    #[cfg_attr(not(feature = "speed"), inline(never))]
    pub fn next_i32(&mut self) -> i32 {
        let mut bytes = [0; 4];
        self.next_bytes(&mut bytes);
        i32::from_le_bytes(bytes)
    }

    /// Reads a 64-bit integer. Returns 0 after a fault.
    #[cfg_attr(not(feature = "speed"), inline(never))]
    pub fn next_u64(&mut self) -> u64 {
        let mut bytes = [0; 8];
        self.next_bytes(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    /// Reads a length or size of data. Returns 0 after a fault, and the maximum for more than the
    /// address space.
    pub fn next_size(&mut self) -> usize {
        usize::try_from(self.next_u64()).unwrap_or(usize::MAX)
    }

    /// Reads a tensor up to its shape. Its `ndim` extents of eight bytes and the byte offset, which
    /// follow, are in the packet; otherwise `ndim` is 0, and there is a fault.
    #[cfg_attr(not(feature = "speed"), inline(never))]
    pub fn next_tensor(&mut self) -> TensorHead {
        let data = self.next_u64();
        let device = DLDevice { device_type: self.next_i32(), device_id: self.next_i32() };
        let mut ndim = self.next_i32() as u32;
        let [code, bits, low, high] = self.next_i32().to_le_bytes();
        // Negative numbers are larger than what is left, too.
        if self.left / 8 <= u64::from(ndim) {
            self.fail(Fault::Malformed);
            ndim = 0;
        }
        let dtype = DLDataType { code, bits, lanes: u16::from_le_bytes([low, high]) };
        TensorHead { data, device, ndim, dtype }
    }

    /// Fills `target` from the packet.
    ///
    /// # Errors
    /// Those of [`check`](Packet::check).
    pub fn read(&mut self, target: &mut [u8]) -> Result<(), Fault> {
        self.next_bytes(target);
        self.check()
    }

    /// Reads a 32-bit integer.
    ///
    /// # Errors
    /// Those of [`check`](Packet::check).
    pub fn i32(&mut self) -> Result<i32, Fault> {
        let number = self.next_i32();
        self.check()?;
        Ok(number)
    }

    /// Reads a 64-bit integer.
    ///
    /// # Errors
    /// Those of [`check`](Packet::check).
    pub fn u64(&mut self) -> Result<u64, Fault> {
        let number = self.next_u64();
        self.check()?;
        Ok(number)
    }

    /// Reads the length of a string or of bytes, which the packet must contain.
    ///
    /// # Errors
    /// Those of [`check`](Packet::check); Malformed if the packet is shorter.
    pub fn length(&mut self) -> Result<usize, Fault> {
        let length = self.next_size();
        if length as u64 > self.left {
            self.fail(Fault::Malformed);
        }
        self.check()?;
        Ok(length)
    }

    /// Reads a device.
    ///
    /// # Errors
    /// Those of [`check`](Packet::check).
    pub fn device(&mut self) -> Result<DLDevice, Fault> {
        Ok(DLDevice { device_type: self.i32()?, device_id: self.i32()? })
    }

    /// Reads a tensor up to its shape, as [`next_tensor`](Packet::next_tensor) does.
    ///
    /// # Errors
    /// Malformed if the packet is shorter, or the number of dimensions is negative. Closed if the
    /// stream ends.
    pub fn tensor(&mut self) -> Result<TensorHead, Fault> {
        let head = self.next_tensor();
        self.check()?;
        Ok(head)
    }

    /// Skips bytes.
    ///
    /// # Errors
    /// Malformed if the packet is shorter. Closed if the stream ends.
    pub fn skip(&mut self, bytes: u64) -> Result<(), Fault> {
        if bytes > self.left {
            self.fail(Fault::Malformed);
        }
        self.check()?;
        self.drop_bytes(bytes).map_err(|_| Fault::Closed)
    }

    /// Skips the rest of the packet, also after a fault of its content.
    ///
    /// # Errors
    /// [`Closed`] if the stream ends, or has ended before.
    pub fn skip_rest(&mut self) -> Result<(), Closed> {
        if self.fault == Some(Fault::Closed) {
            return Err(Closed);
        }
        self.drop_bytes(self.left)
    }

    fn drop_bytes(&mut self, mut bytes: u64) -> Result<(), Closed> {
        let mut piece = [0; SKIP_BYTES];
        while bytes != 0 {
            let some = bytes.min(SKIP_BYTES as u64);
            self.stream.read(piece.get_mut(..some as usize).ok_or(Closed)?)?;
            (self.left, bytes) = (self.left.saturating_sub(some), bytes - some);
        }
        Ok(())
    }
}
