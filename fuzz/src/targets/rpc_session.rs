//! Fuzzes a session of the server of remote procedure calls: sequences of requests, well-formed,
//! changed in a few bytes, and arbitrary ones, whose handles are those of earlier answers.

use ferrite_core::abi::{DLDataType, DLDevice, type_index};
use ferrite_core::tensor::TensorRef;
use ferrite_core::{Any, AnyView, Function, Result, Tensor, error};
use ferrite_rpc::server::{Access, End, Host, Limits, Session};
use ferrite_rpc::wire::{Closed, Item, Packet, Stream, TensorItem, VERSION, code, send};

/// Maximum number of requests of an input.
const MOST_REQUESTS: usize = 64;
/// Maximum number of bytes of arguments.
const MOST_BYTES: usize = 1 << 16;
/// Limits of the session.
const LIMITS: Limits = Limits { handles: 32, data_bytes: 1 << 20 };

/// The functions of the session, by name.
const FUNCTIONS: [&[u8]; 6] = [b"first", b"touch", b"make", b"text", b"call", b"fail"];

/// The server's end of a connection in memory.
#[derive(Default)]
struct Connection {
    input: Vec<u8>,
    at: usize,
    output: Vec<u8>,
    memory: Vec<u64>,
}

impl Stream for Connection {
    fn read(&mut self, target: &mut [u8]) -> core::result::Result<(), Closed> {
        let end = self.at.checked_add(target.len()).ok_or(Closed)?;
        target.copy_from_slice(self.input.get(self.at..end).ok_or(Closed)?);
        self.at = end;
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> core::result::Result<(), Closed> {
        self.output.extend_from_slice(bytes);
        Ok(())
    }
}

impl Host for Connection {
    type Memory = Vec<u64>;

    fn take_memory(&mut self, bytes: usize) -> Option<Vec<u64>> {
        if bytes > MOST_BYTES {
            return None;
        }
        // Exactly what was asked for, so that the address sanitizer finds what is beyond it.
        let mut memory = core::mem::take(&mut self.memory);
        memory.resize(bytes.div_ceil(8), 0x5A5A_5A5A_5A5A_5A5A);
        memory.shrink_to_fit();
        Some(memory)
    }

    fn return_memory(&mut self, memory: Vec<u64>) {
        self.memory = memory;
    }
}

fn first(arguments: &[AnyView<'_>]) -> Result<Any> {
    arguments.first().map_or(Ok(Any::NONE), |view| AnyView::to_owned(*view))
}

/// Reads and writes each byte of each argument.
fn touch(arguments: &[AnyView<'_>]) -> Result<Any> {
    let mut sum = 0u64;
    for argument in arguments {
        if let Some(tensor) = TensorRef::from_view(argument) {
            let bytes = tensor.size_bytes().expect("a size that was checked");
            assert!(tensor.is_contiguous());
            for at in 0..bytes {
                // SAFETY: the bytes of a tensor may be written, unless the server is wrong.
                unsafe {
                    let byte = tensor.first_byte().add(at);
                    *byte = (*byte).wrapping_add(1);
                    sum += u64::from(*byte);
                }
            }
        }
        for content in [argument.bytes_of_string(), argument.bytes_of_bytes()].iter().flatten() {
            sum += content.iter().map(|byte| u64::from(*byte)).sum::<u64>();
        }
    }
    Ok(Any::from(sum as i64))
}

/// Makes a tensor of as many bytes as the argument says.
fn make(arguments: &[AnyView<'_>]) -> Result<Any> {
    let bytes = arguments.first().map_or(Ok(0), |view| view.get::<i64>())?.rem_euclid(512);
    let dtype = DLDataType { code: 1, bits: 8, lanes: 1 };
    Ok(Any::from(Tensor::empty(&[bytes], dtype, CPU)?))
}

fn text(_: &[AnyView<'_>]) -> Result<Any> {
    Any::try_new("a string with a zero\0 byte")
}

/// Calls the function that is the first argument with the others.
fn call(arguments: &[AnyView<'_>]) -> Result<Any> {
    let Some((function, others)) = arguments.split_first() else { return Ok(Any::NONE) };
    // Not this function again, whose nesting the library limits.
    if others.first().is_some_and(|view| view.type_index() == type_index::FUNCTION) {
        return Ok(Any::NONE);
    }
    function.get::<Function>()?.call_packed(others)
}

fn fail(_: &[AnyView<'_>]) -> Result<Any> {
    Err(error!(IndexError, "as asked"))
}

/// The body of a function.
type Body = fn(&[AnyView<'_>]) -> Result<Any>;

struct Functions;

impl Access for Functions {
    fn find(&self, name: &[u8]) -> Result<Option<Function>> {
        let bodies: [Body; 6] = [first, touch, make, text, call, fail];
        match FUNCTIONS.iter().position(|known| *known == name) {
            Some(at) => Function::from_packed(bodies[at]).map(Some),
            None => Ok(None),
        }
    }
}

const CPU: DLDevice = DLDevice { device_type: 1, device_id: 0 };

/// The rest of an input. Reads zeros at its end.
struct Source<'a>(&'a [u8]);

impl Source<'_> {
    fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((byte, rest)) => {
                self.0 = rest;
                *byte
            }
            None => 0,
        }
    }

    /// Returns a number, often small or at the limit of a type.
    fn number(&mut self) -> u64 {
        let byte = self.byte();
        match byte >> 5 {
            0..=3 => u64::from(byte & 31),
            4 => u64::from(byte & 31) * 37,
            5 => u64::MAX - u64::from(byte & 31),
            6 => 1 << (byte & 31) << (self.byte() & 31),
            _ => u64::from_le_bytes(core::array::from_fn(|_| self.byte())),
        }
    }

    /// Returns a handle of an earlier answer, or any number.
    fn handle(&mut self, handles: &[u64]) -> u64 {
        let byte = self.byte();
        match handles.len() {
            0 => self.number(),
            _ if byte >= 0xF0 => self.number(),
            count => handles[usize::from(byte) % count],
        }
    }

    fn device(&mut self) -> DLDevice {
        match self.byte() {
            0xF0.. => {
                DLDevice { device_type: self.number() as i32, device_id: self.number() as i32 }
            }
            _ => CPU,
        }
    }

    fn bytes(&mut self) -> Vec<u8> {
        (0..self.byte() % 64).map(|_| self.byte()).collect()
    }

    fn shape(&mut self) -> Vec<i64> {
        (0..self.byte() % 4).map(|_| self.number() as i64).collect()
    }
}

/// Runs the target on an input.
pub fn run(input: &[u8]) {
    let mut client = Client {
        source: Source(input),
        handles: Vec::new(),
        connection: Connection::default(),
        session: Session::new(LIMITS),
    };
    let prefix = [&(VERSION.len() as u64).to_le_bytes(), VERSION].concat();
    client.exchange(packet(code::INIT_SERVER, &prefix, &[]));
    for _ in 0..MOST_REQUESTS {
        if client.source.0.is_empty() {
            break;
        }
        let mut packet = client.request();
        client.change(&mut packet);
        if client.exchange(packet) != End::Closed {
            break;
        }
    }
}

fn packet(code: i32, prefix: &[u8], items: &[Item<'_>]) -> Vec<u8> {
    let mut connection = Connection::default();
    send(&mut connection, code, prefix, items).expect("memory does not close");
    connection.output
}

/// The client of a session.
struct Client<'a> {
    source: Source<'a>,
    /// Handles of answers, also freed ones.
    handles: Vec<u64>,
    connection: Connection,
    session: Session,
}

impl Client<'_> {
    /// Makes a request of the input's next bytes.
    fn request(&mut self) -> Vec<u8> {
        let choice = self.source.byte();
        match i32::from(choice % 24) {
            code @ (code::COPY_FROM_REMOTE | code::COPY_TO_REMOTE) => self.copy(code),
            code::GET_GLOBAL => {
                let name = FUNCTIONS[usize::from(choice) / 24 % FUNCTIONS.len()];
                packet(code::GET_GLOBAL, b"", &[Item::string(name)])
            }
            0 => {
                let content = self.source.bytes();
                [&(content.len() as u64).to_le_bytes(), &content[..]].concat()
            }
            code => self.sequence(if code > 21 { code::CALL_FUNCTION } else { code }),
        }
    }

    /// Makes a copy of part of a tensor.
    fn copy(&mut self, code: i32) -> Vec<u8> {
        let shape = self.source.shape();
        let tensor = TensorItem {
            data: self.source.handle(&self.handles),
            device: self.source.device(),
            dtype: DLDataType { code: 1, bits: 8, lanes: 1 },
            shape: &shape,
            byte_offset: self.source.number(),
        };
        let mut connection = Connection::default();
        tensor.write(&mut connection).expect("memory does not close");
        let mut content = [&code.to_le_bytes()[..], &connection.output].concat();
        if code == code::COPY_TO_REMOTE {
            let data = self.source.bytes();
            content.extend((data.len() as u64).to_le_bytes());
            content.extend(data);
        } else {
            content.extend(self.source.number().to_le_bytes());
        }
        [&(content.len() as u64).to_le_bytes(), &content[..]].concat()
    }

    /// Makes a request that is a sequence of the types that it has, or of others.
    fn sequence(&mut self, code: i32) -> Vec<u8> {
        use type_index::{DATA_TYPE, DEVICE, DL_TENSOR_PTR, INT, OPAQUE_PTR, RAW_STR};
        let types: Vec<i32> = match code {
            code::CALL_FUNCTION => {
                let count = self.source.byte() % 5;
                (0..count).map(|_| i32::from(self.source.byte() % 16)).collect()
            }
            code::FREE_HANDLE => vec![OPAQUE_PTR],
            code::GET_ATTRIBUTE => vec![DEVICE, INT],
            code::ALLOCATE_DATA => vec![DEVICE, INT, INT, DATA_TYPE],
            code::COPY_AMONG_REMOTE => vec![DL_TENSOR_PTR, DL_TENSOR_PTR, OPAQUE_PTR],
            code::ALLOCATE_TENSOR => vec![DL_TENSOR_PTR, RAW_STR],
            _ => vec![DEVICE, OPAQUE_PTR],
        };
        let prefix = match code {
            code::CALL_FUNCTION => self.source.handle(&self.handles).to_le_bytes().to_vec(),
            _ => Vec::new(),
        };
        let contents: Vec<_> =
            types.iter().map(|_| (self.source.shape(), self.source.bytes())).collect();
        let items: Vec<_> = types
            .iter()
            .zip(&contents)
            .map(|(index, (shape, bytes))| self.item(*index, shape, bytes))
            .collect();
        packet(code, &prefix, &items)
    }

    fn item<'i>(&mut self, index: i32, shape: &'i [i64], bytes: &'i [u8]) -> Item<'i> {
        match index {
            type_index::NONE => Item::None,
            type_index::OPAQUE_PTR => Item::pointer(self.source.handle(&self.handles)),
            type_index::DEVICE => Item::device(self.source.device()),
            type_index::DL_TENSOR_PTR => Item::Tensor(TensorItem {
                data: self.source.handle(&self.handles),
                device: self.source.device(),
                dtype: DLDataType { code: 1, bits: 8 << (self.source.byte() % 3), lanes: 1 },
                shape,
                byte_offset: self.source.number() % 64,
            }),
            type_index::RAW_STR | type_index::BYTE_ARRAY_PTR => Item::Bytes(index, bytes),
            10 => Item::Object(type_index::STR, bytes),
            11 => Item::Object(type_index::BYTES, bytes),
            12 => Item::Word(type_index::FUNCTION, self.source.handle(&self.handles)),
            13 => Item::Word(type_index::MODULE, self.source.handle(&self.handles)),
            14 => Item::ObjectRef(self.source.handle(&self.handles)),
            15 => Item::Word(self.source.number() as i32, self.source.number()),
            _ => Item::Word(index, self.source.number()),
        }
    }

    /// Changes a packet: some bytes of its content, its end, or its length.
    fn change(&mut self, packet: &mut Vec<u8>) {
        let choice = self.source.byte();
        if choice < 0xA0 {
            return;
        }
        let at = usize::from(self.source.byte());
        match choice % 4 {
            0 => packet.truncate(8 + at),
            1 => packet.extend(core::iter::repeat_n(choice, at % 16)),
            _ => {
                for _ in 0..choice % 3 + 1 {
                    let at = 8 + usize::from(self.source.byte());
                    if let Some(byte) = packet.get_mut(at) {
                        *byte = self.source.byte();
                    }
                }
            }
        }
        // Most changes keep the length right, so that the requests after it are read.
        if choice < 0xFA && packet.len() >= 8 {
            let length = (packet.len() - 8) as u64;
            packet[..8].copy_from_slice(&length.to_le_bytes());
        }
    }

    /// Sends a packet, and keeps the handles of its answer. Returns the end of the service.
    fn exchange(&mut self, packet: Vec<u8>) -> End {
        let has_length =
            packet.get(..8) == Some(&(packet.len().wrapping_sub(8) as u64).to_le_bytes());
        (self.connection.input, self.connection.at) = (packet, 0);
        let end = self.session.serve(&mut self.connection, &Functions);
        let output = core::mem::take(&mut self.connection.output);
        if has_length && self.connection.input.len() > 8 && end != End::Shutdown {
            assert_eq!(end, End::Closed, "a whole packet does not end the session");
            assert_eq!(self.connection.at, self.connection.input.len(), "it was read");
            self.keep_handles(&output);
        }
        end
    }

    fn keep_handles(&mut self, output: &[u8]) {
        let mut answer = Connection { input: output.to_vec(), ..Connection::default() };
        let mut packet = Packet::begin(&mut answer).expect("each packet has an answer");
        assert_eq!(packet.left() + 8, output.len() as u64, "one answer");
        let code = packet.next_i32();
        assert!(matches!(code, code::RETURN | code::EXCEPTION | code::COPY_ACK));
        // A handle is the last value of an answer.
        if code == code::RETURN && output.len() >= 28 {
            let (rest, handle) = output.split_at(output.len() - 8);
            if rest.ends_with(&type_index::OPAQUE_PTR.to_le_bytes()) {
                self.handles.push(u64::from_le_bytes(handle.try_into().expect("eight bytes")));
            }
        }
        if self.handles.len() > 64 {
            self.handles.remove(0);
        }
    }
}
