//! Names of frames from the dynamic linker: those of exported functions, without files and lines.
//!
//! Allocates nothing of its own, so that an error about refused memory can have a backtrace.

use core::ffi::{CStr, c_void};
use core::ptr;

use backtrace::{Frame, SymbolName};

use super::super::demangle::with_demangled;
use super::Visitor;

/// Calls `visit` with file, line and name of the frame.
pub(in super::super) fn resolve(frame: &Frame, visit: &mut Visitor<'_>) {
    with_linker_name(frame.ip(), |name| visit(None, 0, name));
}

/// Runs `read` on the name of the exported function around `address`, or on `<unknown>`.
fn with_linker_name<R>(address: *const c_void, read: impl FnOnce(&[u8]) -> R) -> R {
    let mut info = libc::Dl_info {
        dli_fname: ptr::null(),
        dli_fbase: ptr::null_mut(),
        dli_sname: ptr::null(),
        dli_saddr: ptr::null_mut(),
    };
    // SAFETY: dladdr takes any address and fills the record.
    let found = unsafe { libc::dladdr(address, &mut info) };
    if found == 0 || info.dli_sname.is_null() {
        return read(b"<unknown>");
    }
    // SAFETY: the name is NUL-terminated and lives as long as the object, which has a frame on this stack.
    let name = unsafe { CStr::from_ptr(info.dli_sname) }.to_bytes();
    with_demangled(&SymbolName::new(name), read)
}
