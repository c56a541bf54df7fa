//! Streams whose queued commands may use device memory, so that memory that is freed on one stream
//! can be reused without a wait of the host: a [`barrier`](UsedStreams::barrier) orders the streams
//! first.
//!
//! Streams that this library creates are ordered by events. Handles of other libraries may dangle
//! once they are not current, so a barrier never uses them: if such a stream was used, it waits for
//! the device, as the drivers' own functions for freeing memory do.

use core::ffi::c_void;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;

/// A command queue of a driver; null is the default stream.
type Stream = *mut c_void;
/// A mark in a stream, for which other streams wait.
type Event = NonNull<c_void>;

/// Operations of a driver on the streams of a device, which must be current on the calling thread.
pub(crate) trait StreamDriver {
    /// Returns `true` if commands on the stream are being recorded instead of queued.
    ///
    /// # Safety
    /// The stream must be null or belong to the device.
    unsafe fn is_recording(&self, stream: Stream) -> bool;

    /// Creates an event.
    ///
    /// # Errors
    /// Errors of the driver; InternalError if it returns null.
    fn create_event(&self, timing: bool) -> Result<Event>;

    /// Destroys an event. Streams that wait for it still do.
    ///
    /// # Safety
    /// The event must come from `create_event`, and must not be used afterwards.
    unsafe fn destroy_event(&self, event: Event);

    /// Records an event in a stream. Waits that were queued before keep their earlier record.
    ///
    /// # Errors
    /// Errors of the driver.
    ///
    /// # Safety
    /// The event must belong to the device, and the stream must be null or belong to it.
    unsafe fn record(&self, event: Event, stream: Stream) -> Result<()>;

    /// Makes later commands of a stream wait for the last record of an event.
    ///
    /// # Errors
    /// Errors of the driver.
    ///
    /// # Safety
    /// The event must belong to a device of the driver, and the stream must be null or belong to
    /// this device.
    unsafe fn wait(&self, event: Event, stream: Stream) -> Result<()>;

    /// Waits for all commands of the device.
    ///
    /// # Errors
    /// Errors of the driver.
    fn finish(&self) -> Result<()>;
}

/// Streams of a device that were used.
pub(crate) struct UsedStreams {
    /// Stream used last: the fast path of [`note`](UsedStreams::note).
    last: AtomicPtr<c_void>,
    lists: Mutex<StreamLists>,
}

struct StreamLists {
    own: Buffer<OwnStream>,
    foreign: Foreign,
    /// Event that orders streams, created on the first use, and destroyed with the last own stream.
    event: Option<Event>,
}

// SAFETY: drivers accept their handles on any thread.
unsafe impl Send for StreamLists {}

/// A stream that this library created.
#[derive(Clone, Copy)]
struct OwnStream {
    handle: Stream,
    /// Whether the default stream is ordered after all of its commands.
    is_settled: bool,
}

/// Streams of other libraries, whose handles are only compared.
#[derive(Clone, Copy)]
enum Foreign {
    None,
    One(Stream),
    Several,
}

impl UsedStreams {
    /// Creates the record of a device on which only the default stream was used.
    pub(crate) const fn new() -> UsedStreams {
        UsedStreams {
            last: AtomicPtr::new(ptr::null_mut()),
            lists: Mutex::new(StreamLists {
                own: Buffer::new(),
                foreign: Foreign::None,
                event: None,
            }),
        }
    }

    fn lists(&self) -> MutexGuard<'_, StreamLists> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that commands are about to be queued on a stream.
    #[inline]
    pub(crate) fn note(&self, stream: Stream) {
        if !ptr::eq(self.last.load(Ordering::Relaxed), stream) {
            self.note_other(stream);
        }
    }

    #[cold]
    fn note_other(&self, stream: Stream) {
        let mut lists = self.lists();
        self.last.store(stream, Ordering::Relaxed);
        if stream.is_null() {
            return;
        }
        if let Some(own) = lists.find(stream) {
            own.is_settled = false;
            return;
        }
        lists.foreign = match lists.foreign {
            Foreign::None => Foreign::One(stream),
            Foreign::One(known) if ptr::eq(known, stream) => Foreign::One(known),
            _ => Foreign::Several,
        };
    }

    /// Adds a stream that this library created.
    ///
    /// # Errors
    /// MemoryError.
    pub(crate) fn add(&self, stream: Stream) -> Result<()> {
        Ok(self.lists().own.try_push(OwnStream { handle: stream, is_settled: true })?)
    }

    /// Makes the default stream wait for the commands of a stream that this library created. Until
    /// the stream is used again, barriers leave it out.
    ///
    /// # Safety
    /// The stream must belong to the device, and no other thread may use it meanwhile.
    pub(crate) unsafe fn settle(&self, driver: &impl StreamDriver, stream: Stream) {
        let mut lists = self.lists();
        // Its next use is noted.
        self.last.store(ptr::null_mut(), Ordering::Relaxed);
        if lists.find(stream).is_none_or(|own| own.is_settled) {
            return;
        }
        let ordered = lists.event(driver).and_then(|event| {
            // SAFETY: the caller guarantees the stream.
            unsafe { order(driver, event, stream, ptr::null_mut()) }
        });
        if let Some(own) = lists.find(stream) {
            own.is_settled = ordered.is_ok();
        }
    }

    /// Removes a stream that is being destroyed. The default stream waits for its commands.
    ///
    /// # Safety
    /// Same requirements as [`settle`](UsedStreams::settle).
    pub(crate) unsafe fn remove(&self, driver: &impl StreamDriver, stream: Stream) {
        // SAFETY: as the caller guarantees.
        unsafe { self.settle(driver, stream) };
        let mut lists = self.lists();
        lists.own.retain(|own| !ptr::eq(own.handle, stream));
        if lists.own.is_empty()
            && let Some(event) = lists.event.take()
        {
            // SAFETY: the event is owned.
            unsafe { driver.destroy_event(event) };
        }
    }

    /// Orders the streams: commands that are queued from now on, on any of them, run after all
    /// commands queued so far. Blocks only if another library's stream was used, or if a driver
    /// cannot order two streams.
    ///
    /// # Errors
    /// Errors of the driver: memory that commands use must not be reused.
    ///
    /// # Safety
    /// `current` must be null or belong to the device, and must not be recording.
    pub(crate) unsafe fn barrier(&self, driver: &impl StreamDriver, current: Stream) -> Result<()> {
        let mut lists = self.lists();
        let is_ordered = match lists.foreign {
            Foreign::Several => false,
            Foreign::One(stream) if !ptr::eq(stream, current) => false,
            // SAFETY: the caller guarantees the current stream.
            _ => unsafe { lists.order(driver, current) }.is_ok(),
        };
        if is_ordered { Ok(()) } else { driver.finish() }
    }
}

impl StreamLists {
    fn find(&mut self, stream: Stream) -> Option<&mut OwnStream> {
        self.own.as_mut_slice().iter_mut().find(|own| ptr::eq(own.handle, stream))
    }

    /// Returns the event that orders streams.
    ///
    /// # Errors
    /// Errors of the driver.
    fn event(&mut self, driver: &impl StreamDriver) -> Result<Event> {
        match self.event {
            Some(event) => Ok(event),
            None => Ok(*self.event.insert(driver.create_event(false)?)),
        }
    }

    /// Makes the current stream wait for the other streams, and these for the current stream.
    ///
    /// # Safety
    /// Same requirements as [`UsedStreams::barrier`].
    unsafe fn order(&mut self, driver: &impl StreamDriver, current: Stream) -> Result<()> {
        if current.is_null() && self.own.iter().all(|own| own.is_settled) {
            return Ok(());
        }
        let event = self.event(driver)?;
        let own = self.own.iter().filter(|own| !own.is_settled).map(|own| own.handle);
        let is_other = |stream: &Stream| {
            // SAFETY: the default stream, or one that is in the list until it is destroyed.
            !ptr::eq(*stream, current) && !unsafe { driver.is_recording(*stream) }
        };
        let others = || own.clone().chain([ptr::null_mut()]).filter(is_other);
        // SAFETY: as above; the caller guarantees the current stream.
        unsafe {
            others().try_for_each(|other| order(driver, event, other, current))?;
            driver.record(event, current)?;
            others().try_for_each(|other| driver.wait(event, other))
        }
    }
}

/// Makes later commands of `after` wait for the commands queued on `before`, also in a recording.
///
/// # Errors
/// Errors of the driver.
///
/// # Safety
/// Both streams must be null or belong to the device.
pub(crate) unsafe fn order_streams(
    driver: &impl StreamDriver,
    before: Stream,
    after: Stream,
) -> Result<()> {
    let event = driver.create_event(false)?;
    // SAFETY: the caller guarantees the streams; the event is new.
    unsafe {
        let ordered = order(driver, event, before, after);
        driver.destroy_event(event);
        ordered
    }
}

/// Makes later commands of `after` wait for the commands queued on `before`, by an event.
///
/// # Errors
/// Errors of the driver.
///
/// # Safety
/// The event must belong to the device; both streams must be null or belong to it.
unsafe fn order(
    driver: &impl StreamDriver,
    event: Event,
    before: Stream,
    after: Stream,
) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe { driver.record(event, before).and_then(|()| driver.wait(event, after)) }
}
