//! Values of answers, which packets contain behind their type index. Every length and count is
//! checked, and memory for a string grows while its bytes arrive.
#![forbid(unsafe_code)]

use ferrite_core::abi::{DLDataType, DLDevice, type_index};
use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;

use super::errors::Read;
use crate::wire::{Fault, OBJECT_REF, Packet, Stream, TensorHead};

/// Maximum number of dimensions of a tensor in an answer.
const MAX_DIMENSIONS: u32 = 64;

/// Size of the pieces in which strings are read.
const PIECE_BYTES: usize = 64 * 1024;

/// A value of an answer.
#[derive(Debug)]
pub(super) enum Value {
    None,
    Int(i64),
    Bool(bool),
    Float(f64),
    Pointer(u64),
    DataType(DLDataType),
    Device(DLDevice),
    Tensor(TensorAnswer),
    String(Buffer<u8>),
    Bytes(Buffer<u8>),
}

/// A tensor in an answer. Its device has no session mask.
#[derive(Debug)]
pub(super) struct TensorAnswer {
    pub(super) head: TensorHead,
    pub(super) shape: Buffer<i64>,
    pub(super) byte_offset: u64,
}

impl Value {
    /// Returns a handle, which is zero if the value is none.
    pub(super) fn handle(&self) -> Option<u64> {
        match self {
            Value::None => Some(0),
            Value::Pointer(handle) => Some(*handle),
            Value::Int(handle) => Some(handle.cast_unsigned()),
            _ => None,
        }
    }
}

/// Reads a sequence of exactly `N` values.
///
/// # Errors
/// Malformed for another number; those of [`value`].
pub(super) fn exactly<const N: usize>(packet: &mut Packet<'_, impl Stream>) -> Read<[Value; N]> {
    if count(packet)? as usize != N {
        return Err(Fault::Malformed.into());
    }
    let mut values = [const { Value::None }; N];
    for place in &mut values {
        *place = value(packet)?;
    }
    Ok(values)
}

/// Reads the number of values of a sequence.
///
/// # Errors
/// Malformed for a negative number; Closed.
pub(super) fn count(packet: &mut Packet<'_, impl Stream>) -> Read<u32> {
    Ok(u32::try_from(packet.i32()?).map_err(|_| Fault::Malformed)?)
}

/// Reads a value of a sequence.
///
/// # Errors
/// Malformed for an unknown type or a packet that ends before; Closed; MemoryError.
pub(super) fn value(packet: &mut Packet<'_, impl Stream>) -> Read<Value> {
    Ok(match packet.i32()? {
        type_index::NONE => Value::None,
        type_index::INT => Value::Int(packet.u64()?.cast_signed()),
        type_index::BOOL => Value::Bool(packet.u64()? != 0),
        type_index::FLOAT => Value::Float(f64::from_bits(packet.u64()?)),
        type_index::OPAQUE_PTR => Value::Pointer(packet.u64()?),
        type_index::DATA_TYPE => Value::DataType(dtype(packet.u64()?)),
        type_index::DEVICE => Value::Device(packet.device()?),
        type_index::DL_TENSOR_PTR => Value::Tensor(tensor(packet)?),
        type_index::RAW_STR => Value::String(text(packet)?),
        type_index::BYTE_ARRAY_PTR => Value::Bytes(text(packet)?),
        type_index::SMALL_STR | type_index::SMALL_BYTES | type_index::STATIC_OBJECT_BEGIN.. => {
            object(packet)?
        }
        _ => return Err(Fault::Malformed.into()),
    })
}

/// Converts a data type, which takes eight bytes.
fn dtype(word: u64) -> DLDataType {
    let [code, bits, low, high, ..] = word.to_le_bytes();
    DLDataType { code, bits, lanes: u16::from_le_bytes([low, high]) }
}

/// Reads an object: strings and bytes whole, and the handle of any other.
fn object(packet: &mut Packet<'_, impl Stream>) -> Read<Value> {
    Ok(match packet.i32()? {
        OBJECT_REF => Value::Pointer(packet.u64()?),
        type_index::STR => Value::String(text(packet)?),
        type_index::BYTES => Value::Bytes(text(packet)?),
        _ => return Err(Fault::Malformed.into()),
    })
}

fn tensor(packet: &mut Packet<'_, impl Stream>) -> Read<TensorAnswer> {
    let head = packet.tensor()?;
    if head.ndim > MAX_DIMENSIONS {
        return Err(Fault::Malformed.into());
    }
    let mut shape = Buffer::new();
    reserve(shape.try_reserve(head.ndim as usize))?;
    for _ in 0..head.ndim {
        reserve(shape.try_push(packet.u64()?.cast_signed()))?;
    }
    Ok(TensorAnswer { head, shape, byte_offset: packet.u64()? })
}

/// Reads a length and bytes.
fn text(packet: &mut Packet<'_, impl Stream>) -> Read<Buffer<u8>> {
    let length = packet.length()?;
    let mut text = Buffer::new();
    while text.len() < length {
        let begin = text.len();
        let end = length.min(begin + PIECE_BYTES);
        reserve(text.try_resize(end, 0))?;
        packet.read(&mut text[begin..])?;
    }
    Ok(text)
}

/// Converts a failed allocation to the error after which the session goes on.
fn reserve(
    outcome: core::result::Result<(), ferrite_core::platform::memory::AllocError>,
) -> Read<()> {
    let outcome: Result<()> = outcome.map_err(Into::into);
    Ok(outcome?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::errors::Refusal;
    use crate::wire::testing::Memory;
    use std::vec::Vec;

    const ONE: &[u8] = &1i32.to_le_bytes();

    /// Reads a sequence of one value, and checks that nothing is left.
    fn read(content: &[u8]) -> core::result::Result<Value, Fault> {
        let mut bytes = (content.len() as u64).to_le_bytes().to_vec();
        bytes.extend_from_slice(content);
        let mut stream = Memory::new(&bytes);
        let mut packet = Packet::begin(&mut stream)?;
        let outcome = exactly::<1>(&mut packet).and_then(|[value]| {
            packet.finish()?;
            Ok(value)
        });
        outcome.map_err(|refusal| match refusal {
            Refusal::Broken(fault) => fault,
            Refusal::Error(error) => panic!("{error}"),
        })
    }

    fn tensor_content(ndim: i32) -> Vec<u8> {
        [
            ONE,
            &7i32.to_le_bytes(),
            &9u64.to_le_bytes(),
            &[1, 0, 0, 0, 0, 0, 0, 0],
            &ndim.to_le_bytes(),
            &[2, 32, 1, 0],
            &3i64.to_le_bytes(),
            &4i64.to_le_bytes(),
            &16u64.to_le_bytes(),
        ]
        .concat()
    }

    #[test]
    fn values_of_each_type_are_read() {
        let int = [ONE, ONE, &(-5i64).to_le_bytes()].concat();
        assert!(matches!(read(&int), Ok(Value::Int(-5))));
        let string = [ONE, &8i32.to_le_bytes(), &2u64.to_le_bytes(), b"a\0"].concat();
        assert!(matches!(read(&string), Ok(Value::String(text)) if *text == *b"a\0"));
        let object = [ONE, &115i32.to_le_bytes(), &115i32.to_le_bytes(), &[7; 8]].concat();
        assert!(matches!(read(&object), Ok(Value::Pointer(0x0707_0707_0707_0707))));
        let dtype = [ONE, &5i32.to_le_bytes(), &[2, 32, 1, 0, 9, 9, 9, 9]].concat();
        let float32 = DLDataType { code: 2, bits: 32, lanes: 1 };
        assert!(matches!(read(&dtype), Ok(Value::DataType(dtype)) if dtype == float32));
        let Ok(Value::Tensor(tensor)) = read(&tensor_content(2)) else { panic!("no tensor") };
        assert_eq!((tensor.head.data, &*tensor.shape, tensor.byte_offset), (9, &[3, 4][..], 16));
    }

    #[test]
    fn every_truncation_of_a_tensor_is_malformed() {
        let tensor = tensor_content(2);
        for end in 1..tensor.len() {
            assert_eq!(read(&tensor[..end]).err(), Some(Fault::Malformed), "{end} bytes");
        }
        let longer = [&tensor[..], b"x"].concat();
        assert_eq!(read(&longer).err(), Some(Fault::Malformed));
    }

    #[test]
    fn absurd_counts_and_types_are_malformed() {
        for content in [
            (-1i32).to_le_bytes().to_vec(),
            i32::MAX.to_le_bytes().to_vec(),
            [ONE, &10i32.to_le_bytes(), &[0; 8]].concat(),
            [ONE, &(-2i32).to_le_bytes(), &[0; 8]].concat(),
            [ONE, &71i32.to_le_bytes(), &71i32.to_le_bytes(), &[0; 8]].concat(),
            [ONE, &8i32.to_le_bytes(), &u64::MAX.to_le_bytes()].concat(),
            tensor_content(-1),
            tensor_content(i32::MAX),
            [&tensor_content(65)[..], &[0; 65 * 8]].concat(),
        ] {
            assert_eq!(read(&content).err(), Some(Fault::Malformed), "{content:?}");
        }
    }
}
