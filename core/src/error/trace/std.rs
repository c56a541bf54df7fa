//! The backtrace of an error made in this library, written when others begin to see it.

use core::ffi::c_char;
use core::ptr;

use super::super::{Error, Site, block, record};
use crate::abi::TVMFFIByteArray;
use crate::backtrace::{self, BacktraceRequest};
use crate::memory::Buffer;
use crate::object::ObjectClass;

impl Error {
    /// Writes the backtrace of an error of this library that was never raised before, now that it leaves the
    /// library. Without memory the error goes without. Only for who owns the error: one that is lent may be lent to others.
    #[inline]
    pub(crate) fn complete_backtrace(&mut self) {
        if self.site().is_some() {
            self.write_backtrace();
        }
    }

    /// Remembers where a new error was made, until its backtrace is written.
    #[inline]
    pub(in crate::error) fn set_site(&self, site: Site) {
        // SAFETY: the record is this library's, was just made, and nobody else knows it.
        unsafe { (*record::record_of(self)).pending = Some(site) };
    }

    /// Where an error of this library was made, as long as it has no backtrace.
    #[inline]
    pub(in crate::error) fn site(&self) -> Option<Site> {
        let record = record::record_of(self);
        // SAFETY: the cell of every error can be read, and `update_backtrace` never changes. Errors with this library's
        // function have this library's record, of which `pending` changes only while a single reference is left, which
        // nobody else uses.
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

/// Where the error was made, once, for who writes the backtrace; none while somebody else holds the error, who may be
/// reading.
fn take_pending(error: &mut Error) -> Option<Site> {
    let site = error.site().filter(|_| error.as_object().is_unique())?;
    // SAFETY: the record is this library's, and the only reference to it is here, lent to nobody else.
    unsafe { (*record::record_of(error)).pending = None };
    Some(site)
}

/// Makes `text` the backtrace of an error of this library, whose pending site the caller took.
fn adopt_backtrace(error: &mut Error, mut text: Buffer<u8>) {
    if text.is_empty() || text.try_push(0).is_err() {
        return;
    }
    let record = record::record_of(error);
    let (block, len, capacity) = text.into_raw_parts();
    // SAFETY: as for `take_pending`; the block has `capacity` bytes, and from here on the record owns it.
    unsafe {
        block::release(record);
        (*record).backtrace_bytes = capacity;
        (*record).cell.backtrace = TVMFFIByteArray { data: block.cast::<c_char>().as_ptr(), size: len - 1 };
    }
}
