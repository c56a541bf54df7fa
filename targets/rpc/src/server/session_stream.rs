//! Streams that a client created.

use core::ffi::c_void;

use ferrite_alloc_ext::device::{Device, Stream, stream};
use ferrite_core::Result;

/// A stream that the client created. It ceases to be the current one when it is dropped.
pub(super) struct SessionStream(Stream);

impl SessionStream {
    /// Creates a stream of a device.
    pub(super) fn new(device: Device) -> Result<SessionStream> {
        Stream::new(device).map(SessionStream)
    }

    /// Borrows the stream.
    pub(super) fn stream(&self) -> &Stream {
        &self.0
    }

    /// Returns the driver's handle.
    pub(super) fn as_ptr(&self) -> *mut c_void {
        self.0.as_ptr()
    }
}

impl Drop for SessionStream {
    fn drop(&mut self) {
        let device = self.0.device();
        if stream::current(device) == self.0.as_ptr() {
            // SAFETY: the default stream belongs to every device. Errors do not matter here.
            let _ = unsafe { stream::set_current(device, core::ptr::null_mut()) };
        }
    }
}
