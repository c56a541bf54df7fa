//! Errors of wgpu.
//!
//! Outside browsers, wgpu reports an error on the calling thread before the call returns, to the
//! handler that [`Reports::watch`] installs. The default handler would panic. The loss of a device
//! is reported once, to another handler.

use core::cell::Cell;
use std::sync::{Arc, OnceLock};

use ferrite_core::error::{Error, Result};
use ferrite_core::plain_error;
use ferrite_core::platform::unwind;

std::thread_local! {
    /// First error reported on this thread since the last check.
    static REPORTED: Cell<Option<Error>> = const { Cell::new(None) };
}

/// Takes the error reported on this thread; `None` if there is none, or if the thread is ending.
fn take() -> Option<Error> {
    REPORTED.try_with(Cell::take).ok().flatten()
}

fn report(error: wgpu::Error) {
    let error = convert(error);
    // A thread that is ending cannot report the error.
    let _ = REPORTED.try_with(|reported| {
        let first = reported.take().unwrap_or(error);
        reported.set(Some(first));
    });
}

#[cold]
fn convert(error: wgpu::Error) -> Error {
    match error {
        wgpu::Error::OutOfMemory { .. } => {
            plain_error!(MEMORY_ERROR, "The WebGPU device is out of memory")
        }
        wgpu::Error::Validation { description, .. } | wgpu::Error::Internal { description, .. } => {
            let description = description.trim_ascii();
            let cause =
                description.strip_prefix("Validation Error\n\nCaused by:\n").unwrap_or(description);
            plain_error!(INTERNAL_ERROR, "WebGPU Error: {}", cause.trim_ascii())
        }
    }
}

/// Error reports of one device.
pub(super) struct Reports {
    /// The driver's message about the loss of the device, if it was lost.
    loss: Arc<OnceLock<std::string::String>>,
}

impl Reports {
    /// Installs the error handlers of a new device.
    pub(super) fn watch(device: &wgpu::Device) -> Reports {
        let loss = Arc::new(OnceLock::new());
        device.on_uncaptured_error(Arc::new(report));
        let seen = Arc::clone(&loss);
        device.set_device_lost_callback(move |_, reason| {
            let _ = seen.set(reason);
        });
        Reports { loss }
    }

    /// Runs calls of wgpu. Converts the errors that they report, and their panics, into errors.
    ///
    /// # Errors
    /// RuntimeError if the device is lost; MemoryError if it is out of memory; InternalError for
    /// anything else.
    #[inline]
    pub(super) fn of<T>(&self, calls: impl FnOnce() -> T) -> Result<T> {
        self.check()?;
        drop(take());
        let value = unwind::catch(|| Ok(calls()));
        // The loss of the device explains all other errors.
        self.check()?;
        match take() {
            Some(error) => Err(error),
            None => value,
        }
    }

    #[inline]
    fn check(&self) -> Result<()> {
        match self.loss.get() {
            None => Ok(()),
            Some(reason) => Err(lost(reason)),
        }
    }
}

#[cold]
fn lost(reason: &str) -> Error {
    plain_error!(RUNTIME_ERROR, "The WebGPU device is lost, start a new process: {}", reason)
}
