//! Control functions of the stand-in driver. A real driver has none of them, so tests recognise the
//! stand-in by them.

use std::ffi::{CStr, c_char, c_int};

use crate::faults::{self, faults};
use crate::machine::{Machine, machine};
use crate::queue::Geometry;

/// Resets the machine with this many devices, and clears counts and complaints.
#[unsafe(no_mangle)]
extern "C" fn stand_in_reset(devices: c_int) {
    faults::reset();
    *machine() = Machine::new(devices.max(0) as usize);
}

/// Makes the `call`-th driver call from now fail with `code`. With 0, no call fails.
#[unsafe(no_mangle)]
extern "C" fn stand_in_fail(call: u64, code: c_int) {
    faults().request(call, code);
}

/// Writes the name of the call that failed on request. Returns 0 if none has.
#[unsafe(no_mangle)]
unsafe extern "C" fn stand_in_failed(buffer: *mut c_char, bytes: usize) -> c_int {
    let failed = faults().failed;
    // SAFETY: the caller passes a buffer of `bytes` bytes.
    unsafe { write(failed.unwrap_or_default(), buffer, bytes) };
    failed.is_some().into()
}

/// Returns the number of calls of a function since the reset; of all functions for null.
#[unsafe(no_mangle)]
unsafe extern "C" fn stand_in_calls(name: *const c_char) -> u64 {
    let faults = faults();
    if name.is_null() {
        return faults.calls;
    }
    // SAFETY: the caller passes a C string.
    let name = unsafe { CStr::from_ptr(name) }.to_str().unwrap_or_default();
    faults.counts.get(name).copied().unwrap_or(0)
}

/// Writes the first complaint, and clears all. Returns the number of complaints.
#[unsafe(no_mangle)]
unsafe extern "C" fn stand_in_complaints(buffer: *mut c_char, bytes: usize) -> u64 {
    let complaints = std::mem::take(&mut faults().complaints);
    // SAFETY: the caller passes a buffer of `bytes` bytes.
    unsafe { write(complaints.first().map_or("", String::as_str), buffer, bytes) };
    machine().forgive();
    complaints.len() as u64
}

/// Writes the numbers of live objects: blocks of device memory, pinned blocks, streams, events,
/// modules, graphs.
#[unsafe(no_mangle)]
unsafe extern "C" fn stand_in_live(counts: *mut u64) {
    for (index, count) in machine().live().into_iter().enumerate() {
        // SAFETY: the caller passes an array of six counts.
        unsafe { counts.add(index).write(count as u64) };
    }
}

/// Returns the retain count of all primary contexts.
#[unsafe(no_mangle)]
extern "C" fn stand_in_retains() -> u64 {
    machine().retains()
}

/// Returns the number of driver calls since the last reset.
#[unsafe(no_mangle)]
extern "C" fn stand_in_all_calls() -> u64 {
    faults().calls
}

/// Returns the number of commands that have not run.
#[unsafe(no_mangle)]
extern "C" fn stand_in_pending() -> u64 {
    machine().pending() as u64
}

/// Limits the memory of each device to this many bytes.
#[unsafe(no_mangle)]
extern "C" fn stand_in_limit_memory(bytes: u64) {
    machine().memory.limit = bytes;
}

/// Writes the sizes and attributes of the last launch. Returns the handle of its stream.
#[unsafe(no_mangle)]
unsafe extern "C" fn stand_in_last_launch(geometry: *mut Geometry) -> u64 {
    let machine = machine();
    // SAFETY: the caller gives room for the record.
    unsafe { geometry.write(machine.last_launch) };
    machine.last_stream
}

/// Creates a context other than the primary one.
#[unsafe(no_mangle)]
extern "C" fn stand_in_foreign_context(device: c_int) -> u64 {
    machine().create_context(device.max(0) as usize, false)
}

/// Makes the process fail at exit if it has unread complaints.
extern "C" fn at_exit() {
    let complaints = std::mem::take(&mut faults().complaints);
    if !complaints.is_empty() {
        for complaint in &complaints {
            eprintln!("stand-in for a driver: {complaint}");
        }
        // SAFETY: the process is exiting.
        unsafe { _exit(70) };
    }
}

unsafe extern "C" {
    fn _exit(status: c_int) -> !;
}

#[used]
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = at_exit;

/// Writes a string to a buffer, truncated if necessary.
///
/// # Safety
/// The buffer must have `bytes` bytes.
unsafe fn write(text: &str, buffer: *mut c_char, bytes: usize) {
    let len = text.len().min(bytes.saturating_sub(1));
    if bytes != 0 {
        // SAFETY: the text is truncated to leave space for the NUL.
        unsafe {
            buffer.cast::<u8>().copy_from(text.as_ptr(), len);
            buffer.add(len).write(0);
        }
    }
}
