//! Writes packets: sequences of values, errors, elements of tensors.

use ferrite_core::abi::{DLDataType, DLDevice, type_index};

use super::{Closed, OBJECT_REF, Stream, code};

/// Whether objects are sent. Servers in builds without `alloc` send none, and write None for them.
const HAS_OBJECTS: bool = cfg!(feature = "alloc");

/// A value of a sequence.
#[derive(Clone, Copy, Debug)]
pub enum Item<'a> {
    /// No value.
    None,
    /// A type index with eight bytes: integers, floats, handles, dtypes and devices.
    Word(i32, u64),
    /// A raw string or byte array, by its type index.
    Bytes(i32, &'a [u8]),
    /// A String or Bytes object, by its type index, with its content.
    Object(i32, &'a [u8]),
    /// The handle of an object of the server.
    ObjectRef(u64),
    /// A contiguous tensor.
    Tensor(TensorItem<'a>),
}

/// A contiguous tensor in a sequence.
#[derive(Clone, Copy, Debug)]
pub struct TensorItem<'a> {
    /// Handle of the data.
    pub data: u64,
    /// Device, without the number of a session.
    pub device: DLDevice,
    /// Element type.
    pub dtype: DLDataType,
    /// Extents.
    pub shape: &'a [i64],
    /// Distance in bytes from the start of the data to the first element.
    pub byte_offset: u64,
}

impl<'a> Item<'a> {
    /// Creates an integer.
    pub const fn int(value: i64) -> Item<'a> {
        Item::Word(type_index::INT, value as u64)
    }

    /// Creates an opaque pointer: a handle.
    pub const fn pointer(handle: u64) -> Item<'a> {
        Item::Word(type_index::OPAQUE_PTR, handle)
    }

    /// Creates a raw string.
    pub const fn string(text: &'a [u8]) -> Item<'a> {
        Item::Bytes(type_index::RAW_STR, text)
    }

    /// Creates a device.
    pub fn device(device: DLDevice) -> Item<'a> {
        let (low, high) = (device.device_type as u32, device.device_id as u32);
        Item::Word(type_index::DEVICE, u64::from(low) | u64::from(high) << 32)
    }

    /// Creates an element type.
    pub fn dtype(dtype: DLDataType) -> Item<'a> {
        Item::Word(type_index::DATA_TYPE, u64::from(u32::from_le_bytes(dtype_bytes(dtype))))
    }

    /// Returns the number of bytes on the wire, with the type index.
    fn size(&self) -> u64 {
        4 + match self {
            Item::None => 0,
            Item::Word(..) => 8,
            Item::Bytes(_, bytes) => 8 + bytes.len() as u64,
            Item::Object(..) | Item::ObjectRef(_) if !HAS_OBJECTS => 0,
            Item::Object(_, bytes) => 12 + bytes.len() as u64,
            Item::ObjectRef(_) => 12,
            Item::Tensor(tensor) => 32 + size_of_val(tensor.shape) as u64,
        }
    }

    fn write(&self, stream: &mut impl Stream) -> Result<(), Closed> {
        match *self {
            Item::None => put_i32(stream, type_index::NONE),
            Item::Word(index, word) => {
                put_i32(stream, index)?;
                put_u64(stream, word)
            }
            Item::Bytes(index, bytes) => {
                put_i32(stream, index)?;
                put_bytes(stream, bytes)
            }
            Item::Object(..) | Item::ObjectRef(_) if !HAS_OBJECTS => {
                put_i32(stream, type_index::NONE)
            }
            Item::Object(index, bytes) => {
                put_i32(stream, index)?;
                put_i32(stream, index)?;
                put_bytes(stream, bytes)
            }
            Item::ObjectRef(handle) => {
                put_i32(stream, OBJECT_REF)?;
                put_i32(stream, OBJECT_REF)?;
                put_u64(stream, handle)
            }
            Item::Tensor(ref tensor) => {
                put_i32(stream, type_index::DL_TENSOR_PTR)?;
                tensor.write(stream)
            }
        }
    }
}

impl TensorItem<'_> {
    /// Returns the number of bytes on the wire.
    pub fn size(&self) -> u64 {
        32 + size_of_val(self.shape) as u64
    }

    /// Writes the tensor, without a type index.
    ///
    /// # Errors
    /// [`Closed`] if the peer is gone.
    pub fn write(&self, stream: &mut impl Stream) -> Result<(), Closed> {
        put_u64(stream, self.data)?;
        put_i32(stream, self.device.device_type)?;
        put_i32(stream, self.device.device_id)?;
        put_i32(stream, self.shape.len() as i32)?;
        stream.write(&dtype_bytes(self.dtype))?;
        for extent in self.shape {
            put_u64(stream, *extent as u64)?;
        }
        put_u64(stream, self.byte_offset)
    }
}

fn dtype_bytes(dtype: DLDataType) -> [u8; 4] {
    let [low, high] = dtype.lanes.to_le_bytes();
    [dtype.code, dtype.bits, low, high]
}

#[cfg_attr(not(feature = "speed"), inline(never))]
fn put_i32(stream: &mut impl Stream, value: i32) -> Result<(), Closed> {
    stream.write(&value.to_le_bytes())
}

#[cfg_attr(not(feature = "speed"), inline(never))]
fn put_u64(stream: &mut impl Stream, value: u64) -> Result<(), Closed> {
    stream.write(&value.to_le_bytes())
}

fn put_bytes(stream: &mut impl Stream, bytes: &[u8]) -> Result<(), Closed> {
    put_u64(stream, bytes.len() as u64)?;
    stream.write(bytes)
}

/// Writes length and code of a packet with `content_bytes` bytes of content.
fn put_head(stream: &mut impl Stream, code: i32, content_bytes: u64) -> Result<(), Closed> {
    put_u64(stream, content_bytes.saturating_add(4))?;
    put_i32(stream, code)
}

/// Sends a packet: `prefix`, which precedes the sequence of some requests, and a sequence.
///
/// # Errors
/// [`Closed`] if the peer is gone.
pub fn send(
    stream: &mut impl Stream,
    code: i32,
    prefix: &[u8],
    items: &[Item<'_>],
) -> Result<(), Closed> {
    let sequence: u64 = items.iter().map(Item::size).sum();
    put_head(stream, code, sequence + 4 + prefix.len() as u64)?;
    stream.write(prefix)?;
    put_i32(stream, items.len() as i32)?;
    for item in items {
        item.write(stream)?;
    }
    stream.flush()
}

/// Sends an error, `KIND: message`. An empty kind leaves the message alone.
///
/// # Errors
/// [`Closed`] if the peer is gone.
pub fn send_exception(stream: &mut impl Stream, kind: &[u8], message: &[u8]) -> Result<(), Closed> {
    let separator: &[u8] = if kind.is_empty() { b"" } else { b": " };
    let length = (kind.len() + separator.len() + message.len()) as u64;
    put_head(stream, code::EXCEPTION, 16 + length)?;
    put_i32(stream, 1)?;
    put_i32(stream, type_index::RAW_STR)?;
    put_u64(stream, length)?;
    for part in [kind, separator, message] {
        stream.write(part)?;
    }
    stream.flush()
}

/// Sends length and code of a packet with raw bytes. The caller writes the bytes and flushes.
///
/// # Errors
/// [`Closed`] if the peer is gone.
pub fn send_bytes(stream: &mut impl Stream, code: i32, bytes: u64) -> Result<(), Closed> {
    put_head(stream, code, bytes)
}
