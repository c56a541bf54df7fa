//! Metal streams: command queues whose command buffers run in order.
//!
//! A kernel that fails does so asynchronously, after its launch. From then on, launches on its
//! stream do nothing until a caller waits for the stream and receives the error.

use core::ptr::NonNull;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use block2::RcBlock;
use ferrite_core::error::{Error, Result};
use objc2::rc::Retained;
use objc2::runtime::ProtocolObject;
use objc2_metal::{
    MTLCommandBuffer, MTLCommandEncoder, MTLCommandQueue, MTLComputeCommandEncoder, MTLDevice,
};

use super::failure;
use crate::owned::Owned;

type CommandBuffer = ProtocolObject<dyn MTLCommandBuffer>;
type Handler = RcBlock<dyn Fn(NonNull<CommandBuffer>)>;

/// Progress of a stream's commands.
struct Completion {
    /// Whether there is an unreported failure. Launches read it without the lock.
    has_failed: AtomicBool,
    progress: Mutex<Progress>,
    changed: Condvar,
}

struct Progress {
    /// Number of completed command buffers.
    completed: u64,
    /// First failure that was not reported yet.
    failure: Option<Error>,
}

impl Completion {
    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a completed command buffer. Called by a thread of the framework, in the order of the
    /// buffers.
    fn complete(&self, commands: &CommandBuffer) {
        let failure = failure::of_commands(commands);
        let mut progress = self.progress();
        progress.completed += 1;
        if let (Some(failure), None) = (failure, &progress.failure) {
            progress.failure = Some(failure);
            self.has_failed.store(true, Ordering::Release);
        }
        self.changed.notify_all();
    }

    /// Waits until `committed` command buffers are complete.
    ///
    /// # Errors
    /// InternalError if a command failed and the failure was not reported yet.
    fn wait(&self, committed: u64) -> Result<()> {
        let mut progress = self.progress();
        while progress.completed < committed {
            progress = self.changed.wait(progress).unwrap_or_else(PoisonError::into_inner);
        }
        self.has_failed.store(false, Ordering::Release);
        progress.failure.take().map_or(Ok(()), Err)
    }
}

/// A stream: a command queue, and the progress of its commands.
pub(super) struct Stream {
    queue: Retained<ProtocolObject<dyn MTLCommandQueue>>,
    /// Number of committed command buffers.
    committed: AtomicU64,
    completion: &'static Completion,
    /// Completion handler (an Objective-C block) that passes completed command buffers to
    /// [`Completion::complete`].
    handler: Handler,
}

// SAFETY: command queues may be used from any thread. The handler captures a reference to a
// shareable value, and blocks count their references atomically.
unsafe impl Send for Stream {}
// SAFETY: as for Send.
unsafe impl Sync for Stream {}

impl Stream {
    /// Creates a stream. It is never freed, since completion handlers refer to it.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn new(device: &ProtocolObject<dyn MTLDevice>) -> Result<&'static Stream> {
        let Some(queue) = device.newCommandQueue() else {
            return Err(failure::missing("command queue"));
        };
        let completion = Completion {
            has_failed: AtomicBool::new(false),
            progress: Mutex::new(Progress { completed: 0, failure: None }),
            changed: Condvar::new(),
        };
        // SAFETY: the value is never freed.
        let completion: &'static Completion =
            unsafe { Owned::new(completion)?.into_raw().as_ref() };
        // SAFETY: the framework passes a command buffer that is valid during the call.
        let handler = RcBlock::new(move |commands: NonNull<CommandBuffer>| unsafe {
            completion.complete(commands.as_ref());
        });
        let stream = Stream { queue, committed: AtomicU64::new(0), completion, handler };
        // SAFETY: as above.
        Ok(unsafe { Owned::new(stream)?.into_raw().as_ref() })
    }

    /// Returns `true` if a command failed and the failure was not reported yet.
    #[inline]
    pub(super) fn has_failed(&self) -> bool {
        self.completion.has_failed.load(Ordering::Acquire)
    }

    /// Returns a command buffer of the queue, to be passed to [`commit`](Stream::commit).
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn commands(&self) -> Result<Retained<CommandBuffer>> {
        let Some(commands) = self.queue.commandBuffer() else {
            return Err(failure::missing("command buffer"));
        };
        // SAFETY: the handler accepts a command buffer, and the framework retains the handler.
        unsafe { commands.addCompletedHandler(RcBlock::as_ptr(&self.handler)) };
        Ok(commands)
    }

    /// Commits a command buffer to the queue.
    pub(super) fn commit(&self, commands: &CommandBuffer) {
        // Counted first, since the buffer may complete immediately.
        self.committed.fetch_add(1, Ordering::Relaxed);
        commands.commit();
    }

    /// Commits a command buffer, and waits for it and all previous ones.
    ///
    /// # Errors
    /// InternalError if a command failed and the failure was not reported yet.
    pub(super) fn finish(&self, commands: &CommandBuffer) -> Result<()> {
        self.commit(commands);
        self.synchronize()
    }

    /// Waits for all committed command buffers.
    ///
    /// # Errors
    /// Same errors as [`finish`](Stream::finish).
    pub(super) fn synchronize(&self) -> Result<()> {
        self.completion.wait(self.committed.load(Ordering::Relaxed))
    }
}

/// Passes a compute encoder to `body`, and ends the encoding.
///
/// # Errors
/// MemoryError.
pub(super) fn encode(
    commands: &CommandBuffer,
    body: impl FnOnce(&ProtocolObject<dyn MTLComputeCommandEncoder>),
) -> Result<()> {
    let Some(encoder) = commands.computeCommandEncoder() else {
        return Err(failure::missing("command encoder"));
    };
    body(&encoder);
    encoder.endEncoding();
    Ok(())
}
