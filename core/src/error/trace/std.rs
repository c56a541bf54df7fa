//! Backtrace capture for errors created by this library, when they leave the library.

use core::ffi::c_char;
use core::ptr;

use super::super::{Error, Site, block, record};
use crate::abi::TVMFFIByteArray;
use crate::object::ObjectClass;
use crate::platform::backtrace::{self, BacktraceRequest};
use crate::platform::memory::Buffer;

impl Error {
    /// Captures the backtrace of an error created by this library, when it is about to leave the
    /// library for the first time. When out of memory, the backtrace stays empty. Requires
    /// ownership of the error: a borrowed error may be read by other threads.
    #[inline]
    pub(crate) fn complete_backtrace(&mut self) {
        if self.site().is_some() {
            self.write_backtrace();
        }
    }

    /// Stores the site of a new error until its backtrace is captured.
    #[inline]
    pub(in crate::error) fn set_site(&self, site: Site) {
        // SAFETY: the record is this library's, new, and not shared.
        unsafe { (*record::record_of(self)).pending = Some(site) };
    }

    /// Returns the site of an error created by this library, or `None` once its backtrace has been
    /// captured.
    #[inline]
    pub(in crate::error) fn site(&self) -> Option<Site> {
        let record = record::record_of(self);
        // SAFETY: the cell of every error is readable, and `update_backtrace` never changes. Errors
        // with this library's function have this library's record, whose `pending` only changes
        // while a single reference remains, whose owner calls this.
        unsafe {
            let update = (*record).cell.update_backtrace?;
            if ptr::fn_addr_eq(update, block::UPDATE) { (*record).pending } else { None }
        }
    }

    #[cold]
    #[inline(never)]
    fn write_backtrace(&mut self) {
        let Some(site) = take_pending(self) else { return };
        let place = site.place();
        let request = BacktraceRequest {
            filename: place.map(|place| place.file.as_bytes()),
            line: place.map_or(0, |place| i32::try_from(place.line).unwrap_or(0)),
            func: place.map(|place| place.function.as_bytes()),
            ..Default::default()
        };
        adopt_backtrace(self, backtrace::text(&request));
    }
}

/// Takes the site of an error whose backtrace is about to be captured. Returns `None` if the error
/// has other owners, which may be reading it.
fn take_pending(error: &mut Error) -> Option<Site> {
    let site = error.site().filter(|_| error.as_object().is_unique())?;
    // SAFETY: the record is this library's, and its only reference is `error`, borrowed
    // exclusively.
    unsafe { (*record::record_of(error)).pending = None };
    Some(site)
}

/// Stores a captured backtrace in an error of this library.
fn adopt_backtrace(error: &mut Error, mut text: Buffer<u8>) {
    if text.is_empty() || text.try_push(0).is_err() {
        return;
    }
    let record = record::record_of(error);
    let (block, len, capacity) = text.into_raw_parts();
    // SAFETY: as for `take_pending`; the block has `capacity` bytes, which the record owns from
    // here on.
    unsafe {
        block::release(record);
        (*record).backtrace_bytes = capacity;
        (*record).cell.backtrace =
            TVMFFIByteArray { data: block.cast::<c_char>().as_ptr(), size: len - 1 };
    }
}
