//! The library's log on the console of JavaScript.

use core::ffi::c_char;

use ferrite_core::error::log;
use ferrite_core::names::global_table;
use ferrite_core::{AnyView, String};

use crate::imports::__console_log;

/// Name of the function that a page may register for lines of the log. Without it, tvmjs logs the
/// address of each line.
const LOG: &[u8] = b"ferrite.web.log";

/// Maximum length of a line in bytes, with the zero at its end.
const LINE: usize = 256;

/// Sends the log to the console.
pub(crate) fn install() {
    // SAFETY: the sink accepts any line.
    unsafe { log::set_sink(Some(write)) };
}

/// Logs a line without the newline at its end.
///
/// # Safety
/// `line` must have `size` bytes, the last of which is a newline.
unsafe extern "C" fn write(line: *const c_char, size: usize) {
    let mut text = [0u8; LINE];
    let length = size.saturating_sub(1).min(LINE - 1);
    // SAFETY: the caller guarantees the bytes.
    text[..length].copy_from_slice(unsafe { core::slice::from_raw_parts(line.cast(), length) });
    let registered = global_table::get(LOG).ok().flatten();
    if let (Some(log), Ok(line)) = (registered, String::from_bytes(&text[..length])) {
        // An error of the page's function is ignored: nobody could log it.
        let _ = log.call_packed(&[AnyView::from(&line)]);
    } else {
        // SAFETY: the string ends with a zero.
        unsafe { __console_log(text.as_ptr().cast()) };
    }
}
