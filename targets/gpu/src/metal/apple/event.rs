//! Metal events: counters that one stream increments and for which other streams wait.

use core::ffi::c_void;
use core::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ferrite_core::error::Result;
use objc2::rc::{Retained, autoreleasepool};
use objc2::runtime::ProtocolObject;
use objc2_metal::{MTLCommandBuffer, MTLDevice, MTLSharedEvent};

use super::device::Device;
use super::failure;
use crate::owned::Owned;

/// A Metal event: a shared event of the framework as counter, and its last record.
struct Event {
    counter: Retained<ProtocolObject<dyn MTLSharedEvent>>,
    last: Mutex<Record>,
}

/// The last record of an event.
struct Record {
    /// Counter value of the record; 0 if the event was not recorded.
    value: u64,
    commands: Option<Retained<ProtocolObject<dyn MTLCommandBuffer>>>,
}

// SAFETY: any thread may wait for a committed command buffer, and a mutex guards the record.
unsafe impl Send for Record {}

impl Event {
    fn last(&self) -> MutexGuard<'_, Record> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Device {
    /// Creates an event.
    ///
    /// # Errors
    /// MemoryError.
    pub(in super::super) fn create_event(&self) -> Result<NonNull<c_void>> {
        let Some(counter) = self.metal().newSharedEvent() else {
            return Err(failure::missing("event"));
        };
        let event = Event { counter, last: Mutex::new(Record { value: 0, commands: None }) };
        Ok(Owned::new(event)?.into_raw().cast())
    }

    /// Records an event in a stream.
    ///
    /// # Errors
    /// MemoryError.
    ///
    /// # Safety
    /// The event must be live; the stream must be null or belong to this device.
    pub(in super::super) unsafe fn record_event(
        &self,
        event: NonNull<c_void>,
        stream: *mut c_void,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        let (event, stream) = unsafe { (event.cast::<Event>().as_ref(), self.stream(stream)) };
        autoreleasepool(|_| {
            let commands = stream.commands()?;
            let mut last = event.last();
            last.value += 1;
            commands.encodeSignalEvent_value(event.counter.as_ref(), last.value);
            stream.commit(&commands);
            last.commands = Some(commands);
            Ok(())
        })
    }

    /// Makes a stream wait for an event.
    ///
    /// # Errors
    /// MemoryError.
    ///
    /// # Safety
    /// The event must be live; the stream must be null or belong to this device.
    pub(in super::super) unsafe fn wait_for_event(
        &self,
        event: NonNull<c_void>,
        stream: *mut c_void,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        let (event, stream) = unsafe { (event.cast::<Event>().as_ref(), self.stream(stream)) };
        autoreleasepool(|_| {
            let commands = stream.commands()?;
            commands.encodeWaitForEvent_value(event.counter.as_ref(), event.last().value);
            stream.commit(&commands);
            Ok(())
        })
    }
}

/// Frees an event. Queued commands that wait for it keep its counter alive.
///
/// # Safety
/// The event must come from `create_event`, and must not be used afterwards.
pub(in super::super) unsafe fn free_event(event: NonNull<c_void>) {
    if !crate::forks::is_child() {
        // SAFETY: the caller's promise.
        drop(unsafe { Owned::<Event>::from_raw(event.cast()) });
    }
}

/// Waits for an event.
///
/// # Errors
/// InternalError if the commands before it failed.
///
/// # Safety
/// The event must be live.
pub(in super::super) unsafe fn synchronize_event(event: NonNull<c_void>) -> Result<()> {
    // SAFETY: the caller's promise.
    let event = unsafe { event.cast::<Event>().as_ref() };
    let Some(commands) = event.last().commands.clone() else { return Ok(()) };
    commands.waitUntilCompleted();
    failure::of_commands(&commands).map_or(Ok(()), Err)
}
