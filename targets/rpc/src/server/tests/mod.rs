//! A client in memory, and tests of a session by the packets that it sends.

mod calls;
mod data;
mod devices;
mod hostile;

use std::string::String;
use std::vec::Vec;

use ferrite_core::abi::{DLDataType, DLDevice, TVMFFIAny, type_index};
use ferrite_core::{Any, AnyView, Function, Result, Tensor, error};

use super::*;
use crate::wire::code;
use crate::wire::testing::Memory;
use crate::wire::{Closed, Item, Packet, Stream, TensorItem, VERSION, send};

const CPU: DLDevice = DLDevice { device_type: 1, device_id: 0 };
const FLOAT32: DLDataType = DLDataType { code: 2, bits: 32, lanes: 1 };

/// Maximum number of bytes of arguments.
const MOST_BYTES: usize = 1 << 16;

#[derive(Default)]
struct TestHost {
    stream: Memory,
    memory: Vec<u64>,
    /// Bytes of the largest request for memory.
    most_asked: usize,
}

impl Stream for TestHost {
    fn read(&mut self, target: &mut [u8]) -> core::result::Result<(), Closed> {
        self.stream.read(target)
    }

    fn write(&mut self, bytes: &[u8]) -> core::result::Result<(), Closed> {
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> core::result::Result<(), Closed> {
        self.stream.flush()
    }
}

impl Host for TestHost {
    type Memory = Vec<u64>;

    fn take_memory(&mut self, bytes: usize) -> Option<Vec<u64>> {
        self.most_asked = self.most_asked.max(bytes);
        let mut memory = core::mem::take(&mut self.memory);
        memory.resize(bytes.div_ceil(8), u64::MAX);
        (bytes <= MOST_BYTES).then_some(memory)
    }

    fn return_memory(&mut self, memory: Vec<u64>) {
        self.memory = memory;
    }
}

/// The functions of the tests.
struct TestFunctions;

fn first(arguments: &[AnyView<'_>]) -> Result<Any> {
    arguments.first().map_or(Ok(Any::NONE), |view| view.to_owned())
}

fn fail(_: &[AnyView<'_>]) -> Result<Any> {
    Err(error!(IndexError, "as asked"))
}

fn sum(arguments: &[AnyView<'_>]) -> Result<Any> {
    let tensor: ferrite_core::tensor::TensorView<'_> = arguments[0].get_in_place()?;
    Ok(Any::from(tensor.as_slice::<f32>()?.iter().fold(0.0, |sum, x| sum + f64::from(*x))))
}

fn numbers(_: &[AnyView<'_>]) -> Result<Any> {
    Ok(Any::from(Tensor::from_slice(&[1.0f32, 2.0, 3.0], &[3])?))
}

/// Returns the middle of a tensor as a view with a byte offset.
fn middle(_: &[AnyView<'_>]) -> Result<Any> {
    let whole = Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0], &[4])?;
    let (mut shape, mut strides) = ([2i64], [1i64]);
    let mut view = *whole.dl_tensor();
    (view.shape, view.strides, view.byte_offset) = (shape.as_mut_ptr(), strides.as_mut_ptr(), 4);
    // SAFETY: two elements from the second one on are inside of the tensor.
    Ok(Any::from(unsafe { whole.create_unsafe_view(&view) }?))
}

/// Returns a tensor with a stride of 0: a million elements in four bytes.
fn broadcast(_: &[AnyView<'_>]) -> Result<Any> {
    let one = Tensor::from_slice(&[1.0f32], &[1])?;
    let (mut shape, mut strides) = ([1_000_000i64], [0i64]);
    let mut view = *one.dl_tensor();
    (view.shape, view.strides) = (shape.as_mut_ptr(), strides.as_mut_ptr());
    // SAFETY: every element is the first one.
    Ok(Any::from(unsafe { one.create_unsafe_view(&view) }?))
}

fn pointer(_: &[AnyView<'_>]) -> Result<Any> {
    Ok(handle_value_of(8))
}

/// Returns an opaque pointer.
fn handle_value_of(address: u64) -> Any {
    let mut cell = TVMFFIAny::NONE;
    (cell.type_index, cell.payload.v_uint64) = (type_index::OPAQUE_PTR, address);
    // SAFETY: plain data.
    unsafe { Any::from_raw(cell) }
}

/// Returns the type index of its argument.
fn index(arguments: &[AnyView<'_>]) -> Result<Any> {
    Ok(Any::from(i64::from(arguments[0].type_index())))
}

impl Access for TestFunctions {
    fn find(&self, name: &[u8]) -> Result<Option<Function>> {
        let function: fn(&[AnyView<'_>]) -> Result<Any> = match name {
            b"first" => first,
            b"fail" => fail,
            b"sum" => sum,
            b"numbers" => numbers,
            b"middle" => middle,
            b"broadcast" => broadcast,
            b"pointer" => pointer,
            b"index" => index,
            b"secret" => return Err(error!("PermissionError", "not allowed")),
            _ => return Ok(None),
        };
        Function::from_packed(function).map(Some)
    }
}

/// A value of an answer.
#[derive(Debug, PartialEq)]
enum Value {
    None,
    Word(i32, u64),
    Bytes(i32, Vec<u8>),
    /// Data, shape and byte offset of a tensor.
    Tensor(u64, Vec<u64>, u64),
}

/// An answer of the server.
#[derive(Debug, PartialEq)]
enum Answer {
    Values(Vec<Value>),
    Exception(String),
    Data(Vec<u8>),
}

impl Answer {
    #[track_caller]
    fn error(self) -> String {
        match self {
            Answer::Exception(text) => text,
            other => panic!("{other:?}"),
        }
    }

    /// Returns the handle in an answer that is only a handle, or a call's object.
    #[track_caller]
    fn handle(self) -> u64 {
        match self {
            Answer::Values(values) => match values.last() {
                Some(Value::Word(type_index::OPAQUE_PTR, handle)) => *handle,
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    }

    /// Returns the result of a call beside its type index.
    #[track_caller]
    fn value(self) -> Value {
        match self {
            Answer::Values(mut values) if values.len() == 2 => values.remove(1),
            other => panic!("{other:?}"),
        }
    }
}

fn none() -> Answer {
    Answer::Values(std::vec![Value::None])
}

/// A client and a session of the server.
struct Peer {
    session: Session,
    host: TestHost,
}

impl Peer {
    fn new() -> Peer {
        let limits = Limits { handles: 100, data_bytes: 1 << 20 };
        Peer { session: Session::new(limits), host: TestHost::default() }
    }

    /// Returns a peer after InitServer.
    fn begun() -> Peer {
        let mut peer = Peer::new();
        assert_eq!(peer.init(VERSION, &[]), none());
        peer
    }

    /// Sends bytes. Returns the end of the service and what it wrote.
    fn send_bytes(&mut self, bytes: &[u8]) -> (End, Vec<u8>) {
        self.host.stream = Memory::new(bytes);
        let end = self.session.serve(&mut self.host, &TestFunctions);
        (end, core::mem::take(&mut self.host.stream.output))
    }

    /// Sends one packet and returns its answer. The session must want another packet.
    #[track_caller]
    fn ask_bytes(&mut self, packet: &[u8]) -> Answer {
        let (end, output) = self.send_bytes(packet);
        assert_eq!(end, End::Closed, "the session goes on");
        assert_eq!(self.host.stream.at, packet.len(), "the packet was read");
        assert_eq!(self.host.stream.flushes, 1, "one answer");
        parse(&output)
    }

    #[track_caller]
    fn ask(&mut self, code: i32, prefix: &[u8], items: &[Item<'_>]) -> Answer {
        self.ask_bytes(&packet(code, prefix, items))
    }

    #[track_caller]
    fn init(&mut self, version: &[u8], items: &[Item<'_>]) -> Answer {
        let prefix = [&(version.len() as u64).to_le_bytes(), version].concat();
        self.ask(code::INIT_SERVER, &prefix, items)
    }

    #[track_caller]
    fn find(&mut self, name: &str) -> u64 {
        self.ask(code::GET_GLOBAL, b"", &[Item::string(name.as_bytes())]).handle()
    }

    #[track_caller]
    fn call(&mut self, name: &str, items: &[Item<'_>]) -> Answer {
        let function = self.find(name);
        assert_ne!(function, 0, "{name}");
        let answer = self.ask(code::CALL_FUNCTION, &function.to_le_bytes(), items);
        assert_eq!(self.free(function), none());
        answer
    }

    #[track_caller]
    fn free(&mut self, handle: u64) -> Answer {
        self.ask(code::FREE_HANDLE, b"", &[Item::pointer(handle)])
    }

    #[track_caller]
    fn allocate(&mut self, device: DLDevice, bytes: i64) -> Answer {
        let items = [Item::device(device), Item::int(bytes), Item::int(64), Item::dtype(FLOAT32)];
        self.ask(code::ALLOCATE_DATA, b"", &items)
    }

    #[track_caller]
    fn write(&mut self, tensor: &TensorItem<'_>, bytes: &[u8]) -> Answer {
        self.ask_bytes(&copy_packet(code::COPY_TO_REMOTE, tensor, bytes.len() as u64, bytes))
    }

    #[track_caller]
    fn read(&mut self, tensor: &TensorItem<'_>, bytes: u64) -> Answer {
        self.ask_bytes(&copy_packet(code::COPY_FROM_REMOTE, tensor, bytes, b""))
    }
}

fn packet(code: i32, prefix: &[u8], items: &[Item<'_>]) -> Vec<u8> {
    let mut stream = Memory::default();
    send(&mut stream, code, prefix, items).unwrap();
    stream.output
}

fn with_length(content: &[u8]) -> Vec<u8> {
    [&(content.len() as u64).to_le_bytes(), content].concat()
}

fn copy_packet(code: i32, tensor: &TensorItem<'_>, bytes: u64, data: &[u8]) -> Vec<u8> {
    let mut stream = Memory::default();
    tensor.write(&mut stream).unwrap();
    let content = [&code.to_le_bytes()[..], &stream.output, &bytes.to_le_bytes(), data];
    with_length(&content.concat())
}

fn floats(data: u64, shape: &[i64], byte_offset: u64) -> TensorItem<'_> {
    TensorItem { data, device: CPU, dtype: FLOAT32, shape, byte_offset }
}

fn parse(output: &[u8]) -> Answer {
    let mut stream = Memory::new(output);
    let mut packet = Packet::begin(&mut stream).unwrap();
    assert_eq!(packet.left() as usize, output.len() - 8, "the length of the answer");
    let answer = match packet.next_i32() {
        code::COPY_ACK => {
            let mut data = std::vec![0; packet.left() as usize];
            packet.next_bytes(&mut data);
            Answer::Data(data)
        }
        code => {
            let count = packet.next_i32();
            let mut values: Vec<_> = (0..count).map(|_| parse_value(&mut packet)).collect();
            match (code, values.pop()) {
                (code::EXCEPTION, Some(Value::Bytes(8, text))) => {
                    Answer::Exception(String::from_utf8(text).unwrap())
                }
                (code::RETURN, Some(last)) => {
                    values.push(last);
                    Answer::Values(values)
                }
                other => panic!("{other:?}"),
            }
        }
    };
    packet.finish().unwrap();
    answer
}

fn parse_value(packet: &mut Packet<'_, Memory>) -> Value {
    let index = packet.next_i32();
    match index {
        type_index::NONE => Value::None,
        type_index::RAW_STR | type_index::BYTE_ARRAY_PTR | type_index::STR => {
            if index == type_index::STR {
                assert_eq!(packet.next_i32(), index);
            }
            let mut bytes = std::vec![0; packet.length().unwrap()];
            packet.next_bytes(&mut bytes);
            Value::Bytes(index, bytes)
        }
        type_index::DL_TENSOR_PTR => {
            let head = packet.next_tensor();
            let shape = (0..head.ndim).map(|_| packet.next_u64()).collect();
            Value::Tensor(head.data, shape, packet.next_u64())
        }
        _ => Value::Word(index, packet.next_u64()),
    }
}
