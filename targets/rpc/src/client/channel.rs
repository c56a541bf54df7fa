//! Buffered reads and writes over a transport, which keep the reason of a failure.
#![forbid(unsafe_code)]

use core::time::Duration;
use std::boxed::Box;
use std::time::Instant;

use ferrite_core::error::{Error, Result};
use ferrite_core::platform::memory::Buffer;

use super::errors;
use super::transport::{self, Transport};
use crate::wire::{Closed, Stream};

/// Size of the buffer of each direction. Larger pieces bypass it. Miri fills it byte by byte.
const BUFFER_BYTES: usize = if cfg!(miri) { 64 } else { 16 * 1024 };

/// A transport with a buffer for each direction.
pub(super) struct Channel {
    transport: Box<dyn Transport>,
    output: Buffer<u8>,
    input: Buffer<u8>,
    /// Part of `input` that has not been read.
    unread: core::ops::Range<usize>,
    /// The time until which an answer must begin.
    deadline: Option<Instant>,
    limit: Option<Duration>,
    /// Reason why the stream failed.
    failure: Option<Error>,
}

impl Channel {
    /// Creates the buffers.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn new(transport: Box<dyn Transport>) -> Result<Channel> {
        let mut input = Buffer::new();
        input.try_resize(BUFFER_BYTES, 0)?;
        Ok(Channel {
            transport,
            output: Buffer::try_with_capacity(BUFFER_BYTES)?,
            input,
            unread: 0..0,
            deadline: None,
            limit: None,
            failure: None,
        })
    }

    /// Sets the longest time that an answer may take to begin, and each later read may wait.
    ///
    /// # Errors
    /// Errors of the transport.
    pub(super) fn set_time_limit(&mut self, limit: Option<Duration>) -> Result<()> {
        self.limit = limit;
        self.transport.set_time_limit(limit)
    }

    /// Begins to wait for an answer.
    pub(super) fn start_waiting(&mut self) {
        self.deadline = self.limit.and_then(|limit| Instant::now().checked_add(limit));
    }

    /// Ends the wait: the answer has begun.
    pub(super) fn stop_waiting(&mut self) {
        self.deadline = None;
    }

    /// Takes the reason of a failure.
    pub(super) fn take_failure(&mut self) -> Error {
        self.failure.take().unwrap_or_else(errors::closed)
    }

    fn fail(&mut self, error: Error) -> Closed {
        // The first failure is the cause of later ones.
        self.failure.get_or_insert(error);
        Closed
    }

    fn send(&mut self, bytes: &[u8]) -> core::result::Result<(), Closed> {
        let sent = self.transport.write(bytes);
        sent.map_err(|error| self.fail(error))
    }

    /// Reads at least one byte into `target`, or into the input buffer if `target` is small.
    fn receive(&mut self, target: &mut [u8]) -> core::result::Result<usize, Closed> {
        if self.unread.is_empty() && target.len() < BUFFER_BYTES {
            let count = self.transport.read(&mut self.input);
            let count = self.checked(count, BUFFER_BYTES)?;
            self.unread = 0..count;
        }
        if self.unread.is_empty() {
            let count = self.transport.read(target);
            return self.checked(count, target.len());
        }
        let unread = &self.input[self.unread.clone()];
        let count = unread.len().min(target.len());
        target[..count].copy_from_slice(&unread[..count]);
        self.unread.start += count;
        Ok(count)
    }

    /// Checks the result of a read of the transport.
    fn checked(
        &mut self,
        read: Result<usize>,
        capacity: usize,
    ) -> core::result::Result<usize, Closed> {
        let is_late = self.deadline.is_some_and(|deadline| Instant::now() > deadline);
        match read {
            Ok(0) => Err(self.fail(transport::gone())),
            Ok(_) if is_late => Err(self.fail(transport::late())),
            Ok(count) if count <= capacity => Ok(count),
            Ok(_) => Err(self.fail(errors::closed())),
            Err(error) => Err(self.fail(error)),
        }
    }
}

impl Stream for Channel {
    fn read(&mut self, mut target: &mut [u8]) -> core::result::Result<(), Closed> {
        while !target.is_empty() {
            let count = self.receive(target)?;
            target = &mut target[count..];
        }
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> core::result::Result<(), Closed> {
        if self.output.len() + bytes.len() > BUFFER_BYTES {
            self.flush()?;
        }
        if bytes.len() >= BUFFER_BYTES {
            return self.send(bytes);
        }
        // The capacity suffices, so this cannot fail.
        self.output.try_extend_from_slice(bytes).map_err(|refused| self.fail(refused.into()))
    }

    fn flush(&mut self) -> core::result::Result<(), Closed> {
        let output = core::mem::take(&mut self.output);
        let sent = if output.is_empty() { Ok(()) } else { self.send(&output) };
        self.output = output;
        self.output.clear();
        sent
    }
}
