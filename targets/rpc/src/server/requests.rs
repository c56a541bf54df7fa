//! Serves requests that are a sequence of values: reads it, does what it asks, answers.

use ferrite_core::abi::{DLDataType, DLDevice, type_index};
use ferrite_core::value::device::kind;
use ferrite_core::{Any, Function};

use super::arguments::{Arguments, memory_bytes};
use super::failure::{Failure, refused, too_long};
use super::handles::Content;
use super::host::{Access, Host};
use super::results::handle_value;
use super::session::{Session, State};
use super::{copies, devices};
use crate::wire::{Packet, VERSION, code};

/// Element type of data whose elements the server does not know.
const BYTE: DLDataType = DLDataType { code: 1, bits: 8, lanes: 1 };

const CPU: DLDevice = DLDevice { device_type: kind::CPU, device_id: 0 };

/// Packs the types of values as [`Arguments::check`] reads them.
const fn types(list: &[i32]) -> u16 {
    let (mut packed, mut at) = (0, list.len());
    while at != 0 {
        at -= 1;
        packed = packed << 4 | list[at] as u16;
    }
    packed
}

/// The types of the first values of requests, by code.
static TYPES: [u16; 13] = {
    use type_index::{DATA_TYPE, DEVICE, DL_TENSOR_PTR, INT, OPAQUE_PTR, RAW_STR};
    [
        types(&[RAW_STR]),                                  // GET_GLOBAL
        types(&[OPAQUE_PTR]),                               // FREE_HANDLE
        types(&[DEVICE]),                                   // SET_DEVICE
        types(&[DEVICE, INT]),                              // GET_ATTRIBUTE
        types(&[DEVICE, INT, INT, DATA_TYPE]),              // ALLOCATE_DATA
        types(&[DEVICE, OPAQUE_PTR]),                       // FREE_DATA
        types(&[DEVICE, OPAQUE_PTR]),                       // SYNCHRONIZE
        types(&[DL_TENSOR_PTR, DL_TENSOR_PTR, OPAQUE_PTR]), // COPY_AMONG_REMOTE
        types(&[DL_TENSOR_PTR, RAW_STR]),                   // ALLOCATE_TENSOR
        types(&[DEVICE]),                                   // CREATE_STREAM
        types(&[DEVICE, OPAQUE_PTR]),                       // FREE_STREAM
        types(&[DEVICE, OPAQUE_PTR]),                       // SET_STREAM
        types(&[DEVICE]),                                   // GET_STREAM
    ]
};

/// The outcome of the part of a request that has its arguments, for the part that changes the table
/// of handles.
struct Step {
    /// Handle of the function of a call.
    function: u64,
    value: Any,
    device: DLDevice,
    /// Handle or size.
    word: u64,
}

impl Step {
    /// Sets the value of the answer. A function, since the release of the value before would be
    /// inlined at each place.
    #[cfg_attr(not(feature = "speed"), inline(never))]
    fn put(&mut self, value: Any) {
        self.value = value;
    }
}

impl Session {
    /// Serves a request, of which the code was read.
    pub(super) fn request<H: Host>(
        &mut self,
        code: i32,
        packet: &mut Packet<'_, H>,
        access: &dyn Access,
    ) -> Result<(), Failure> {
        let is_new = matches!(self.state, State::New);
        #[cfg(feature = "devices")]
        if let State::Remote(session) = &self.state {
            let left = packet.left();
            return Ok(access.forward(session, packet.take_rest(), code, left)?);
        }
        let mut function = 0;
        match code {
            code::INIT_SERVER if is_new => check_version(packet)?,
            _ if is_new || code == code::INIT_SERVER => {
                return Err(refused!(
                    "RuntimeError: the session must begin once",
                    "RuntimeError: begin once"
                ));
            }
            code::CALL_FUNCTION => function = packet.next_u64(),
            code::COPY_FROM_REMOTE => return copies::to_client(packet, &self.handles),
            code::COPY_TO_REMOTE => return copies::from_client(packet, &self.handles),
            code::GET_GLOBAL..=code::GET_STREAM => {}
            _ => {
                return Err(refused!(
                    "ValueError: unknown code of a packet",
                    "ValueError: unknown code"
                ));
            }
        }
        let mut step = Step { function, value: Any::NONE, device: CPU, word: 0 };
        self.with_arguments(code, packet, access, &mut step)?;
        self.finish(code, &mut step)?;
        let value = step.value;
        self.answer(packet.stream(), &value, code == code::CALL_FUNCTION)
    }

    /// Reads the sequence of a request into memory of the host, and does what needs it.
    fn with_arguments<H: Host>(
        &self,
        code: i32,
        packet: &mut Packet<'_, H>,
        access: &dyn Access,
        step: &mut Step,
    ) -> Result<(), Failure> {
        let count = packet.next_i32() as u32;
        let bytes = memory_bytes(count, packet.left())?;
        let mut memory = packet.stream().take_memory(bytes).ok_or_else(|| too_long(bytes))?;
        let has_handles = code >= code::FREE_HANDLE;
        let outcome = Arguments::read(packet, count, &self.handles, memory.as_mut(), has_handles)
            .and_then(|arguments| self.begin(code, &arguments, access, step));
        packet.stream().return_memory(memory);
        outcome
    }

    /// Does what needs the arguments of a request.
    fn begin(
        &self,
        code: i32,
        arguments: &Arguments<'_>,
        access: &dyn Access,
        step: &mut Step,
    ) -> Result<(), Failure> {
        if let Some(types) = TYPES.get((code - code::GET_GLOBAL) as usize) {
            arguments.check(*types)?;
        }
        (step.device, step.word) = (arguments.device(0), arguments.word(1));
        match code {
            code::CALL_FUNCTION => {
                let function = self.handles.object(step.function, type_index::FUNCTION)?;
                if let Some(function) = function.as_class::<Function>() {
                    step.put(function.call_packed(arguments.views())?);
                }
            }
            code::GET_GLOBAL => {
                step.put(match access.find(arguments.string(0))? {
                    Some(function) => Any::from(function),
                    None => handle_value(0),
                });
            }
            code::INIT_SERVER => step.put(devices::construct(arguments, access)?),
            code::FREE_HANDLE => step.word = arguments.word(0),
            code::COPY_AMONG_REMOTE => self.copy(arguments)?,
            code::ALLOCATE_TENSOR => {
                let scope = arguments.string(1);
                // Builds for boards save the comparison: clients send None for plain memory.
                if !(scope.is_empty() || (cfg!(feature = "alloc") && scope == b"global")) {
                    return Err(refused!(
                        "ValueError: memory has no such scope",
                        "ValueError: scope"
                    ));
                }
                let region = arguments.region(0)?;
                (step.device, step.word) = (arguments.tensor_device(0)?, region.bytes as u64);
            }
            _ => {}
        }
        Ok(())
    }

    /// Copies between two tensors, whose data is that of handles.
    fn copy(&self, arguments: &Arguments<'_>) -> Result<(), Failure> {
        let (from, to) = (arguments.region(0)?, arguments.region(1)?);
        if from.bytes != to.bytes {
            return Err(refused!(
                "ValueError: a copy between tensors of different sizes",
                "ValueError: sizes"
            ));
        }
        if from.bytes == 0 {
            return Ok(());
        }
        if from.place.is_null() || to.place.is_null() {
            return Err(refused!("ValueError: a tensor has no data"));
        }
        devices::copy(from, to, arguments.word(2), &self.handles)
    }

    /// Does what changes the table of handles, and sets the value of the answer.
    fn finish(&mut self, code: i32, step: &mut Step) -> Result<(), Failure> {
        let (device, word) = (step.device, step.word);
        let handle = match code {
            code::INIT_SERVER => {
                self.state = devices::state_of(core::mem::take(&mut step.value));
                return Ok(());
            }
            code::SET_DEVICE => return devices::make_current(device),
            code::FREE_HANDLE => return self.handles.remove(word, code),
            code::FREE_DATA => {
                // Refuses data of another device.
                self.handles.region(word, device)?;
                return self.handles.remove(word, code);
            }
            code::GET_ATTRIBUTE => {
                step.put(devices::attribute(device, word as i64)?);
                return Ok(());
            }
            code::ALLOCATE_DATA | code::ALLOCATE_TENSOR => self.allocate(device, word)?,
            code::SYNCHRONIZE | code::CREATE_STREAM..=code::GET_STREAM => {
                self.stream_request(code, device, word)?
            }
            _ => return Ok(()),
        };
        step.put(handle_value(handle));
        Ok(())
    }

    fn allocate(&mut self, device: DLDevice, bytes: u64) -> Result<u64, Failure> {
        self.handles.add_data(bytes)?;
        let data = devices::allocate(&[bytes as i64], BYTE, device);
        // What was counted is given back if there is no memory.
        let data = data.inspect_err(|_| self.handles.remove_data(bytes))?;
        self.handles.insert(Content::Data(data)).inspect_err(|_| self.handles.remove_data(bytes))
    }
}

/// Reads and checks the version of the protocol.
fn check_version<H: Host>(packet: &mut Packet<'_, H>) -> Result<(), Failure> {
    let mut version = [0; VERSION.len()];
    if packet.next_size() == version.len() {
        packet.next_bytes(&mut version);
    }
    packet.check()?;
    if version == VERSION {
        Ok(())
    } else {
        Err(refused!(
            "RuntimeError: the server speaks version 0.8.0 of the protocol",
            "RuntimeError: version 0.8.0"
        ))
    }
}
