//! Runs `targets::rpc_session` in libFuzzer.
#![no_main]

use core::ffi::c_char;

libfuzzer_sys::fuzz_target!(|input: &[u8]| ferrite_fuzz::targets::rpc_session::run(input));

/// Returns the leaks to ignore: commands that Mesa's Vulkan driver keeps for batches which are not
/// full, one block for each of the eight of a queue. The sanitizer does not see its pointers.
#[unsafe(no_mangle)]
extern "C" fn __lsan_default_suppressions() -> *const c_char {
    c"leak:libvulkan_lvp.so".as_ptr()
}
