//! Tests WebGPU in forked children: the child of a process that used a device gets errors, nothing hangs, and nothing is freed;
//! other children select adapters by the environment. A program of its own, since it forks.
#![allow(clippy::expect_used, reason = "a test fails by a panic")]

#[path = "../../../tests/watchdog/watchdog.rs"]
mod watchdog;

use ferrite_alloc_ext::device::{self, Attribute, Backend};
use ferrite_core::String;
use ferrite_core::abi::{DLDataType, DLDevice};
use ferrite_core::error::Result;
use ferrite_gpu::webgpu::WebGpu;

unsafe extern "C" {
    fn fork() -> i32;
    fn waitpid(pid: i32, status: *mut i32, options: i32) -> i32;
    fn _exit(status: i32) -> !;
    fn setenv(name: *const core::ffi::c_char, value: *const core::ffi::c_char, replace: i32) -> i32;
}

const F32: DLDataType = DLDataType { code: 2, bits: 32, lanes: 1 };

/// Runs `body` in a child; returns its exit status, or 99 if it hangs or crashes.
fn in_child(body: impl FnOnce() -> i32) -> i32 {
    // SAFETY: the child runs `body` and exits; this program has no other threads of its own.
    unsafe {
        let pid = fork();
        if pid == 0 {
            watchdog::watchdog(60);
            _exit(body());
        }
        let mut status = 0;
        assert_eq!(waitpid(pid, &mut status, 0), pid);
        if status & 0x7f == 0 { status >> 8 & 0xff } else { 99 }
    }
}

/// Selects adapters by this text; returns the name of the first one.
fn choose(text: &core::ffi::CStr) -> Result<String> {
    // SAFETY: both strings end in a NUL, and a new child has one thread.
    unsafe { setenv(c"FERRITE_WEBGPU_ADAPTER".as_ptr(), text.as_ptr(), 1) };
    WebGpu.set_device(0)?;
    WebGpu.attribute(0, Attribute::DeviceName)?.get()
}

fn main() -> Result<()> {
    ferrite_gpu::install();
    let here = DLDevice { device_type: 15, device_id: 0 };
    // A child can open the driver that its parent has not opened.
    assert_eq!(
        in_child(|| i32::from(WebGpu.set_device(0).is_err())),
        0,
        "a child of a process without a driver"
    );
    assert_eq!(in_child(|| i32::from(choose(c"").is_err())), 0, "the empty text is in every name");
    let none = in_child(|| match choose(c"no such adapter") {
        Err(error)
            if error
                .message_bytes()
                .starts_with(b"No WebGPU adapter has no such adapter in its name: there ") =>
        {
            7
        }
        _ => 1,
    });
    assert_eq!(none, 7);
    let tensor = device::empty(&[4], F32, here)?;
    let name = WebGpu.attribute(0, Attribute::DeviceName)?.get::<String>()?;
    let refused = in_child(move || {
        let error = WebGpu.set_device(0).expect_err("an error");
        let is_clear = error.kind_bytes() == b"RuntimeError"
            && error.message_bytes().starts_with(b"Devices cannot be used in a forked");
        let others_too = device::empty(&[4], F32, here).is_err() && WebGpu.allocate_workspace(0, 8).is_err();
        drop(tensor);
        if is_clear && others_too { 7 } else { 1 }
    });
    assert_eq!(refused, 7);
    // The parent can still use the device.
    WebGpu.set_device(0)?;
    println!("forked children: ok, on {}", name.as_str().unwrap_or("?"));
    Ok(())
}
