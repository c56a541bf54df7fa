//! Tests CUDA in forked children: the child of a process that used a device gets errors, nothing hangs, and nothing is freed. A
//! program of its own, since it forks.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "a test fails by a panic")]

#[path = "support/cuda.rs"]
mod cuda_support;

#[path = "../../../tests/watchdog/watchdog.rs"]
mod watchdog;

use cuda_support::stand_in::Live;
use cuda_support::*;
use ferrite_alloc_ext::device::{self, Backend};
use ferrite_core::error::Result;
use ferrite_gpu::cuda::Cuda;

unsafe extern "C" {
    fn fork() -> i32;
    fn waitpid(pid: i32, status: *mut i32, options: i32) -> i32;
    fn _exit(status: i32) -> !;
}

/// Runs `body` in a child; returns its exit status, or 99 if it hangs or crashes.
fn in_child(body: impl FnOnce() -> i32) -> i32 {
    // SAFETY: the child runs `body` and exits; this program has no other threads of its own.
    unsafe {
        let pid = fork();
        if pid == 0 {
            watchdog::watchdog(20);
            _exit(body());
        }
        let mut status = 0;
        assert_eq!(waitpid(pid, &mut status, 0), pid);
        if status & 0x7f == 0 { status >> 8 & 0xff } else { 99 }
    }
}

fn is_refused<T>(result: Result<T>) -> bool {
    result.is_err_and(|error| {
        error.kind_bytes() == b"RuntimeError"
            && error.message_bytes().starts_with(b"Devices cannot be used in a forked")
    })
}

fn main() -> Result<()> {
    let session = Session::begin();
    let driver = session.driver;
    let kernel = kernel_of(PTX_MODULE, "add_one_kernel")?;
    let (x, y) = (on_device(&[1.0; 64])?, on_device(&[0.0; 64])?);
    add_one(&kernel, &x, &y, 1)?;
    let stream = Cuda.create_stream(0)?;
    let calls = || if driver.is_stand_in { driver.pending() } else { 0 };
    let queued = calls();
    let (kernel_, x_, y_) = (kernel.clone(), x.clone(), y.clone());
    let refused = in_child(move || {
        let results = [
            is_refused(add_one(&kernel_, &x_, &y_, 1)),
            is_refused(Cuda.set_device(0)),
            is_refused(device::empty(&[4], F32, HERE)),
            is_refused(Cuda.allocate_workspace(0, 8)),
            is_refused(Cuda.create_stream(0)),
            is_refused(wait()),
            is_refused(global("runtime.GetCudaDeviceCount").and_then(|count| count.call_packed(&[]))),
            is_refused(add_one(&kernel_of(PTX_MODULE, "add_one_kernel").unwrap(), &x_, &y_, 1)),
        ];
        // The child frees nothing of the parent's, and calls no driver function.
        let before = if driver.is_stand_in { driver.live() } else { Live::default() };
        drop((kernel_, x_, y_));
        let after = if driver.is_stand_in { driver.live() } else { Live::default() };
        let is_untouched = before == after && calls() == queued;
        if results == [true; 8] && is_untouched { 7 } else { 1 }
    });
    assert_eq!(refused, 7, "the child of a process that used a device");
    // The parent can still use the device.
    assert_eq!(values_of(&y)?, [2.0; 64]);
    // SAFETY: the stream is owned.
    unsafe { Cuda.free_stream(0, stream)? };
    drop((kernel, x, y));
    drop(session);
    println!("forked children: ok");
    Ok(())
}
