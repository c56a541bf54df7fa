use std::vec::Vec;

use ferrite_core::abi::{DLDataType, DLDevice, type_index};

use super::testing::Memory;
use super::*;

const CPU: DLDevice = DLDevice { device_type: 1, device_id: 0 };
const FLOAT32: DLDataType = DLDataType { code: 2, bits: 32, lanes: 1 };

fn sent(code: i32, prefix: &[u8], items: &[Item<'_>]) -> Vec<u8> {
    let mut stream = Memory::default();
    send(&mut stream, code, prefix, items).unwrap();
    assert_eq!(stream.flushes, 1, "one flush for a packet");
    stream.output
}

#[test]
fn the_length_of_a_packet_counts_its_content() {
    let shape = [2, 3];
    let tensor = TensorItem { data: 7, device: CPU, dtype: FLOAT32, shape: &shape, byte_offset: 8 };
    let items = [
        Item::None,
        Item::int(-1),
        Item::string(b"abc"),
        Item::Object(type_index::STR, b"a\0b"),
        Item::ObjectRef(9),
        Item::Tensor(tensor),
        Item::device(CPU),
        Item::dtype(FLOAT32),
    ];
    let bytes = sent(code::CALL_FUNCTION, &[0; 8], &items);
    assert_eq!(bytes.len() as u64, 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()));
}

#[test]
fn sequences_have_the_bytes_of_tvm() {
    let bytes = sent(code::RETURN, b"", &[Item::int(1), Item::string(b"ok")]);
    let expected = [
        &34u64.to_le_bytes()[..],
        &4i32.to_le_bytes(),
        &2i32.to_le_bytes(),
        &1i32.to_le_bytes(),
        &1u64.to_le_bytes(),
        &8i32.to_le_bytes(),
        &2u64.to_le_bytes(),
        b"ok",
    ];
    assert_eq!(bytes, expected.concat());
}

#[test]
fn exceptions_begin_with_their_kind() {
    let mut stream = Memory::default();
    send_exception(&mut stream, b"ValueError", b"no").unwrap();
    assert!(stream.output.ends_with(b"ValueError: no"));
    let length = u64::from_le_bytes(stream.output[..8].try_into().unwrap());
    assert_eq!(length as usize, stream.output.len() - 8);
    let mut stream = Memory::default();
    send_exception(&mut stream, b"", b"RuntimeError: no").unwrap();
    assert!(stream.output.ends_with(b"\x10\0\0\0\0\0\0\0RuntimeError: no"));
}

#[test]
fn reads_end_with_the_packet() {
    let mut stream = Memory::new(b"\x06\0\0\0\0\0\0\0abcdefgh");
    let mut packet = Packet::begin(&mut stream).unwrap();
    assert_eq!(packet.i32(), Ok(i32::from_le_bytes(*b"abcd")));
    assert_eq!(packet.finish(), Err(Fault::Malformed));
    assert_eq!(packet.skip(1), Ok(()));
    assert_eq!(packet.u64(), Err(Fault::Malformed));
    // A fault stays, and later reads return zeros.
    assert_eq!(packet.next_i32(), 0);
    assert_eq!(packet.check(), Err(Fault::Malformed));
    assert_eq!(packet.skip(1), Err(Fault::Malformed));
    assert_eq!(packet.skip_rest(), Ok(()));
    assert_eq!(packet.finish(), Err(Fault::Malformed));
    assert_eq!(stream.at, 14);
}

#[test]
fn empty_packets_are_skipped() {
    let mut stream = Memory::new(&[0; 16]);
    assert!(Packet::begin(&mut stream).is_err());
    let mut stream = Memory::new(b"\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0x");
    assert_eq!(Packet::begin(&mut stream).unwrap().left(), 1);
}

#[test]
fn lengths_beyond_the_packet_are_malformed() {
    for length in [9u64, u64::MAX, 1 << 63] {
        let mut input = 16u64.to_le_bytes().to_vec();
        input.extend(length.to_le_bytes());
        input.extend([0; 8]);
        let mut stream = Memory::new(&input);
        let mut packet = Packet::begin(&mut stream).unwrap();
        assert_eq!(packet.length(), Err(Fault::Malformed), "{length}");
    }
}

#[test]
fn tensors_are_read_as_they_were_written() {
    let shape = [2, 3];
    let item = TensorItem { data: 7, device: CPU, dtype: FLOAT32, shape: &shape, byte_offset: 8 };
    let mut stream = Memory::default();
    stream.input.extend(item.size().to_le_bytes());
    item.write(&mut stream).unwrap();
    assert_eq!(item.size(), stream.output.len() as u64);
    stream.input.append(&mut stream.output);
    let mut packet = Packet::begin(&mut stream).unwrap();
    let head = packet.tensor().unwrap();
    assert_eq!(head, TensorHead { data: 7, device: CPU, ndim: 2, dtype: FLOAT32 });
    assert_eq!((packet.u64(), packet.u64(), packet.u64()), (Ok(2), Ok(3), Ok(8)));
    assert_eq!(packet.finish(), Ok(()));
}

#[test]
fn dimensions_beyond_the_packet_are_malformed() {
    for ndim in [-1i32, 1, i32::MAX] {
        let mut input = 36u64.to_le_bytes().to_vec();
        input.extend([0; 16]);
        input.extend(ndim.to_le_bytes());
        input.extend([0; 16]);
        let mut stream = Memory::new(&input);
        let mut packet = Packet::begin(&mut stream).unwrap();
        assert_eq!(packet.tensor(), Err(Fault::Malformed), "{ndim}");
    }
}

#[test]
fn a_stream_that_ends_inside_a_packet_is_closed() {
    let mut stream = Memory::new(b"\x08\0\0\0\0\0\0\0abc");
    let mut packet = Packet::begin(&mut stream).unwrap();
    assert_eq!(packet.i32(), Err(Fault::Closed));
}
