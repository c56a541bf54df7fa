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

/// A packet that is being read. Reads fail at its end.
pub struct Packet<'a, S: Stream> {
    stream: &'a mut S,
    left: u64,
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
                return Ok(Packet { stream, left });
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

    /// Fills `target` from the packet.
    ///
    /// # Errors
    /// Malformed if the packet is shorter; nothing is read then. Closed if the stream ends.
    pub fn read(&mut self, target: &mut [u8]) -> Result<(), Fault> {
        let left = self.left.checked_sub(target.len() as u64).ok_or(Fault::Malformed)?;
        self.stream.read(target)?;
        self.left = left;
        Ok(())
    }

    /// Reads a 32-bit integer.
    ///
    /// # Errors
    /// Those of [`read`](Packet::read).
    #[cfg_attr(not(feature = "speed"), inline(never))]
    pub fn i32(&mut self) -> Result<i32, Fault> {
        let mut bytes = [0; 4];
        self.read(&mut bytes)?;
        Ok(i32::from_le_bytes(bytes))
    }

    /// Reads a 64-bit integer.
    ///
    /// # Errors
    /// Those of [`read`](Packet::read).
    #[cfg_attr(not(feature = "speed"), inline(never))]
    pub fn u64(&mut self) -> Result<u64, Fault> {
        let mut bytes = [0; 8];
        self.read(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Reads the length of a string or of bytes, which the packet must contain.
    ///
    /// # Errors
    /// Malformed if the packet is shorter. Closed if the stream ends.
    pub fn length(&mut self) -> Result<usize, Fault> {
        let length = self.u64()?;
        if length > self.left {
            return Err(Fault::Malformed);
        }
        usize::try_from(length).map_err(|_| Fault::Malformed)
    }

    /// Reads a device.
    ///
    /// # Errors
    /// Those of [`read`](Packet::read).
    pub fn device(&mut self) -> Result<DLDevice, Fault> {
        Ok(DLDevice { device_type: self.i32()?, device_id: self.i32()? })
    }

    /// Reads a tensor up to its shape. Its `ndim` extents of eight bytes and the byte offset, which
    /// follow, are in the packet.
    ///
    /// # Errors
    /// Malformed if the packet is shorter, or the number of dimensions is negative. Closed if the
    /// stream ends.
    #[cfg_attr(not(feature = "speed"), inline(never))]
    pub fn tensor(&mut self) -> Result<TensorHead, Fault> {
        let (data, device, ndim) = (self.u64()?, self.device()?, self.i32()?);
        let mut dtype = [0; 4];
        self.read(&mut dtype)?;
        let [code, bits, low, high] = dtype;
        let dtype = DLDataType { code, bits, lanes: u16::from_le_bytes([low, high]) };
        let ndim = u32::try_from(ndim).map_err(|_| Fault::Malformed)?;
        if self.left < 8 * u64::from(ndim) + 8 {
            return Err(Fault::Malformed);
        }
        Ok(TensorHead { data, device, ndim, dtype })
    }

    /// Skips bytes.
    ///
    /// # Errors
    /// Malformed if the packet is shorter. Closed if the stream ends.
    pub fn skip(&mut self, bytes: u64) -> Result<(), Fault> {
        if bytes > self.left {
            return Err(Fault::Malformed);
        }
        let end = self.left - bytes;
        let mut piece = [0; SKIP_BYTES];
        while self.left > end {
            let some = usize::try_from(self.left - end).unwrap_or(SKIP_BYTES).min(SKIP_BYTES);
            match piece.get_mut(..some) {
                Some(piece) => self.read(piece)?,
                None => break,
            }
        }
        Ok(())
    }

    /// Checks that the packet has been read completely.
    ///
    /// # Errors
    /// Malformed if bytes are left.
    pub fn finish(&self) -> Result<(), Fault> {
        if self.left == 0 { Ok(()) } else { Err(Fault::Malformed) }
    }
}
