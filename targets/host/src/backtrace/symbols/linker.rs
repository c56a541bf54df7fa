//! Symbolication by the dynamic linker: names of exported functions, for modules whose file cannot
//! be read. Allocates nothing.

use core::ffi::{CStr, c_void};
use core::ptr;

/// Passes the name of the exported function that contains `address` to `read`, if there is one.
pub(super) fn name(address: usize, read: &mut dyn FnMut(&[u8])) {
    let mut info = libc::Dl_info {
        dli_fname: ptr::null(),
        dli_fbase: ptr::null_mut(),
        dli_sname: ptr::null(),
        dli_saddr: ptr::null_mut(),
    };
    // SAFETY: dladdr takes any address and fills the record.
    let found = unsafe { libc::dladdr(ptr::without_provenance::<c_void>(address), &mut info) };
    if found == 0 || info.dli_sname.is_null() {
        return;
    }
    // SAFETY: the name is NUL-terminated and lives as long as the object, which has a frame on this
    // stack.
    read(unsafe { CStr::from_ptr(info.dli_sname) }.to_bytes());
}
