//! Sessions: a connection, used by one thread at a time, and the handles that were released.
#![forbid(unsafe_code)]

use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ferrite_core::abi::{DLDataType, DLDevice, type_index};
use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{Any, AnyView, ensure};

use super::arguments::Arguments;
use super::channel::Channel;
use super::connection::{Answer, Connection};
use super::decode::{self, Value};
use super::errors::{self, Read};
use super::mask;
use super::result::from_answer;
use crate::wire::{Fault, Item, Stream, TensorItem, VERSION, code, send, send_bytes};

/// Name of the server's function that limits the size of packets.
const PACKET_LIMIT: &[u8] = b"tvm.rpc.server.GetCRTMaxPacketSize";

/// Bytes of the packet of a copy besides the content: code, tensor of one dimension, length.
const COPY_HEAD_BYTES: u64 = 4 + 40 + 8;

/// A session with a server. Shared by everything that belongs to the server, and closed with the
/// last of it.
pub(super) struct Connected {
    connection: Mutex<Connection>,
    /// Handles that were released while another thread used the connection.
    released: Mutex<Buffer<u64>>,
    is_open: AtomicBool,
    /// Number of the session in the table.
    number: AtomicU8,
    /// Most bytes in the packet of a copy; zero before the first copy.
    packet_bytes: AtomicU64,
    /// Process that connected. A child process shares the stream, but must not use it.
    process: u32,
}

impl Connected {
    /// Creates a session on a stream whose handshake is complete.
    pub(super) fn new(channel: Channel) -> Connected {
        Connected {
            connection: Mutex::new(Connection::new(channel)),
            released: Mutex::new(Buffer::new()),
            is_open: AtomicBool::new(true),
            number: AtomicU8::new(u8::MAX),
            packet_bytes: AtomicU64::new(0),
            process: std::process::id(),
        }
    }

    /// Begins the session, with the constructor and its arguments that the server is to use.
    ///
    /// # Errors
    /// RPCError if the server is gone; the error of the server; ValueError for arguments that
    /// cannot be sent; MemoryError.
    pub(super) fn initialize(&self, constructor: &[AnyView<'_>]) -> Result<()> {
        let arguments = Arguments::new(self, constructor)?;
        let mut prefix = [0; 8 + VERSION.len()];
        prefix[..8].copy_from_slice(&(VERSION.len() as u64).to_le_bytes());
        prefix[8..].copy_from_slice(VERSION);
        let items = arguments.items()?;
        self.connection()?.round_trip(
            |channel| send(channel, code::INIT_SERVER, &prefix, &items),
            code::RETURN,
            skip,
        )
    }

    /// Sets the longest time that an answer may take to begin; `None` for no limit.
    ///
    /// # Errors
    /// RPCError if the session ended.
    pub(super) fn set_time_limit(&self, limit: Option<Duration>) -> Result<()> {
        self.connection()?.channel()?.set_time_limit(limit)
    }

    /// Sets the number of the session in the table.
    pub(super) fn set_number(&self, number: u8) {
        self.number.store(number, Ordering::Relaxed);
    }

    /// Returns the number of the session in the table.
    pub(super) fn number(&self) -> u8 {
        self.number.load(Ordering::Relaxed)
    }

    /// Locks the connection.
    ///
    /// # Errors
    /// RPCError in a child process of the one that connected.
    fn connection(&self) -> Result<MutexGuard<'_, Connection>> {
        ensure!(
            self.process == std::process::id(),
            "RPCError",
            "The RPC session belongs to the parent process"
        );
        Ok(self.connection.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Runs `exchange` on the connection, then frees the handles that were released meanwhile.
    pub(super) fn exchange<T>(
        &self,
        exchange: impl FnOnce(&mut Connection) -> Result<T>,
    ) -> Result<T> {
        let outcome = exchange(&mut *self.connection()?);
        self.free_released();
        outcome
    }

    /// Sends a request with a sequence of values. The answer is one value.
    ///
    /// # Errors
    /// RPCError if the session ended or ends; the error of the server; MemoryError.
    pub(super) fn ask(&self, code: i32, items: &[Item<'_>]) -> Result<Value> {
        self.exchange(|connection| connection.ask(code, items))
    }

    /// Sends a request whose answer is a handle.
    ///
    /// # Errors
    /// Those of [`ask`](Connected::ask).
    pub(super) fn ask_handle(&self, code: i32, items: &[Item<'_>]) -> Result<u64> {
        let answer = self.ask(code, items)?;
        answer
            .handle()
            .ok_or_else(|| errors::malformed(format_args!("no handle where one belongs")))
    }

    /// Looks up a global function of the server. Returns its handle, or zero if there is none.
    ///
    /// # Errors
    /// Those of [`ask`](Connected::ask).
    pub(super) fn find_function(&self, name: &[u8]) -> Result<u64> {
        self.ask_handle(code::GET_GLOBAL, &[Item::string(name)])
    }

    /// Calls a function of the server.
    ///
    /// # Errors
    /// ValueError for arguments that cannot be sent; RPCError if the session ended or ends; the
    /// error that the function raised, with its kind; MemoryError.
    pub(super) fn call(self: &Arc<Self>, function: u64, arguments: &[AnyView<'_>]) -> Result<Any> {
        let arguments = Arguments::new(self, arguments)?;
        let items = arguments.items()?;
        let answer = self.exchange(|connection| {
            let prefix = function.to_le_bytes();
            connection.round_trip(
                |channel| send(channel, code::CALL_FUNCTION, &prefix, &items),
                code::RETURN,
                result,
            )
        })?;
        from_answer(self, answer)
    }

    /// Copies main memory to the server, in as many packets as its limit demands.
    ///
    /// # Errors
    /// RPCError if the session ended or ends; the error of the server; MemoryError.
    pub(super) fn copy_to_server(self: &Arc<Self>, target: Place, content: &[u8]) -> Result<()> {
        let block = self.block_bytes()?;
        for (index, piece) in content.chunks(block).enumerate() {
            let extent = [piece.len() as i64];
            let target = target.piece(index * block, &extent);
            let send = |channel: &mut Channel| {
                let head = target.size() + 8;
                send_bytes(channel, code::COPY_TO_REMOTE, head + piece.len() as u64)?;
                target.write(channel)?;
                channel.write(&(piece.len() as u64).to_le_bytes())?;
                channel.write(piece)?;
                channel.flush()
            };
            self.exchange(|connection| connection.round_trip(send, code::RETURN, skip))?;
        }
        Ok(())
    }

    /// Copies data of the server to main memory, in as many packets as its limit demands.
    ///
    /// # Errors
    /// RPCError if the session ended or ends; the error of the server; MemoryError.
    pub(super) fn copy_from_server(
        self: &Arc<Self>,
        source: Place,
        content: &mut [u8],
    ) -> Result<()> {
        let block = self.block_bytes()?;
        for (index, piece) in content.chunks_mut(block).enumerate() {
            let extent = [piece.len() as i64];
            let source = source.piece(index * block, &extent);
            let send = |channel: &mut Channel| {
                send_bytes(channel, code::COPY_FROM_REMOTE, source.size() + 8)?;
                source.write(channel)?;
                channel.write(&extent[0].to_le_bytes())?;
                channel.flush()
            };
            let read = |answer: &mut Answer<'_>| {
                if answer.left() != piece.len() as u64 {
                    return Err(Fault::Malformed.into());
                }
                Ok(answer.read(piece)?)
            };
            self.exchange(|connection| connection.round_trip(send, code::COPY_ACK, read))?;
        }
        Ok(())
    }

    /// Copies `bytes` bytes between two places of the server.
    ///
    /// # Errors
    /// RPCError if the session ended or ends; the error of the server; MemoryError.
    pub(super) fn copy_on_server(
        &self,
        source: Place,
        target: Place,
        bytes: usize,
        stream: u64,
    ) -> Result<()> {
        let extent = [bytes as i64];
        let items = [
            Item::Tensor(source.piece(0, &extent)),
            Item::Tensor(target.piece(0, &extent)),
            Item::pointer(stream),
        ];
        self.ask(code::COPY_AMONG_REMOTE, &items).map(drop)
    }

    /// Returns the largest number of bytes that one packet of a copy may carry.
    fn block_bytes(self: &Arc<Self>) -> Result<usize> {
        let limit = match self.packet_bytes.load(Ordering::Relaxed) {
            0 => self.ask_packet_limit()?,
            limit => limit,
        };
        let Some(block @ 1..) = limit.checked_sub(COPY_HEAD_BYTES) else {
            return Err(errors::malformed(format_args!(
                "packets of at most {limit} bytes cannot carry a copy"
            )));
        };
        // A slice has at most half the address space.
        Ok(usize::try_from(block).unwrap_or(usize::MAX).min(usize::MAX / 2))
    }

    fn ask_packet_limit(self: &Arc<Self>) -> Result<u64> {
        let limit = match self.find_function(PACKET_LIMIT)? {
            0 => u64::MAX,
            function => {
                let limit = self.call(function, &[]);
                self.release(function);
                let limit: i64 = limit?.get()?;
                u64::try_from(limit).unwrap_or(0).max(1)
            }
        };
        self.packet_bytes.store(limit, Ordering::Relaxed);
        Ok(limit)
    }

    /// Releases a handle of the server: at once, or after the request that is in progress. Errors
    /// are ignored, since the server may be gone.
    pub(super) fn release(&self, handle: u64) {
        if handle == 0 || !self.is_open() {
            return;
        }
        // Without memory the server keeps the object until the session ends.
        let _ = self.released().try_push(handle);
        self.free_released();
    }

    fn released(&self) -> MutexGuard<'_, Buffer<u64>> {
        self.released.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Frees the released handles, unless another thread uses the connection: that thread frees
    /// them.
    fn free_released(&self) {
        while let Ok(mut connection) = self.connection.try_lock() {
            let Some(handle) = self.released().pop() else { return };
            let _ = connection.ask(code::FREE_HANDLE, &[Item::pointer(handle)]);
        }
    }

    /// Returns `true` until the session is closed in this process.
    pub(super) fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Relaxed) && self.process == std::process::id()
    }

    /// Ends the session. Waits for the request in progress.
    ///
    /// # Errors
    /// RPCError in a child process of the one that connected.
    pub(super) fn close(&self) -> Result<()> {
        self.connection()?.close();
        self.is_open.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// Removes the session mask of a device.
    ///
    /// # Errors
    /// ValueError for a device of this process or of another session.
    pub(super) fn strip_mask(&self, device: DLDevice) -> Result<DLDevice> {
        match mask::split(device.device_type) {
            Some((number, device_type)) if number == self.number() => {
                Ok(DLDevice { device_type, ..device })
            }
            Some((number, _)) => ferrite_core::bail!(
                ValueError,
                "Cannot pass a device of RPC session {number} to session {}",
                self.number()
            ),
            None => ferrite_core::bail!(
                ValueError,
                "Cannot pass a local device or a tensor of this process to an RPC session: copy the tensor to a device of the session"
            ),
        }
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        let connection = self.connection.get_mut().unwrap_or_else(PoisonError::into_inner);
        if self.process == std::process::id() {
            connection.close();
        } else {
            connection.abandon();
        }
    }
}

/// Data of the server: the beginning of a copy.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) data: u64,
    /// Device without session mask.
    pub(super) device: DLDevice,
    pub(super) offset: u64,
}

impl Place {
    /// Returns a piece of the data as a tensor of bytes, which begins `distance` bytes later.
    fn piece(self, distance: usize, extent: &[i64; 1]) -> TensorItem<'_> {
        TensorItem {
            data: self.data,
            device: self.device,
            dtype: DLDataType { code: 1, bits: 8, lanes: 1 },
            shape: extent,
            byte_offset: self.offset.saturating_add(distance as u64),
        }
    }
}

/// Skips the content of an answer.
fn skip(answer: &mut Answer<'_>) -> Read<()> {
    Ok(answer.skip(answer.left())?)
}

/// Reads the result of a call: a type index, and one or two values.
fn result(answer: &mut Answer<'_>) -> Read<(i32, Value, Value)> {
    let count = decode::count(answer)?;
    let (2 | 3, Value::Int(kind)) = (count, decode::value(answer)?) else {
        return Err(Fault::Malformed.into());
    };
    let kind = i32::try_from(kind).map_err(|_| Fault::Malformed)?;
    let first = decode::value(answer)?;
    let second = if count == 3 { decode::value(answer)? } else { Value::None };
    if count == 2 && kind == type_index::DL_TENSOR_PTR {
        // TVM's servers answer so to a function that returns an argument.
        let message = format_args!("The remote function returned a tensor that it does not own");
        return Err(errors::rpc(message).into());
    }
    let has_owner = matches!(kind, type_index::TENSOR | type_index::DL_TENSOR_PTR);
    if has_owner != (count == 3) { Err(Fault::Malformed.into()) } else { Ok((kind, first, second)) }
}
