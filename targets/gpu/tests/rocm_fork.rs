//! Tests ROCm in forked children, on the GPU of this machine or on the stand-in: the child of a process that used a device gets
//! errors, nothing hangs, and nothing is freed. A program of its own, since it forks.
#![allow(clippy::expect_used, reason = "a test fails by a panic")]

#[path = "support/rocm.rs"]
mod rocm_support;

#[path = "../../../tests/watchdog/watchdog.rs"]
mod watchdog;

use ferrite_alloc_ext::device::{self, Backend};
use ferrite_core::error::Result;
use ferrite_gpu::rocm::{Rocm, RocmHost};

use rocm_support::*;

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

fn main() -> Result<()> {
    ferrite_gpu::install();
    ferrite_gpu::functions::install();
    let stand_in = if open_real().is_some() { None } else { Some(open_stand_in(1)) };
    println!("on {}", if stand_in.is_some() { "the stand-in" } else { "the GPU of this machine" });
    let opened = in_child(|| i32::from(Rocm.set_device(0).is_err()));
    assert_eq!(opened, 0, "a child of a process without a driver opens one");
    let (x, kernel) = (on(HERE, &[1.0; 64])?, kernel("add_one_kernel")?);
    add_one(&kernel, &x, &x, 1)?;
    let workspace = Rocm.allocate_workspace(0, 8)?;
    let calls = |name| stand_in.map_or(0, |stand_in| stand_in.calls(name));
    let freed = calls(c"hipFree") + calls(c"hipModuleUnload");
    let refused = in_child(|| {
        let error = Rocm.set_device(0).expect_err("an error");
        let is_clear = error.kind_bytes() == b"RuntimeError"
            && error.message_bytes().starts_with(b"Devices cannot be used in a forked");
        let others_too = add_one(&kernel, &x, &x, 1).is_err()
            && device::empty(&[4], F32, HERE).is_err()
            && device::empty(&[4], F32, PINNED).is_err()
            && Rocm.allocate_workspace(0, 8).is_err()
            && RocmHost.allocate_workspace(0, 8).is_err()
            // SAFETY: the workspace is freed once; null is the default stream of every device.
            && unsafe { Rocm.free_workspace(0, workspace).is_err() && Rocm.synchronize(0, core::ptr::null_mut()).is_err() }
            && values_of(&x).is_err();
        drop((x, kernel));
        let is_untouched = calls(c"hipFree") + calls(c"hipModuleUnload") == freed;
        if is_clear && others_too && is_untouched { 7 } else { 1 }
    });
    assert_eq!(refused, 7);
    // The parent can still use the device.
    wait()?;
    println!("forked children: ok");
    Ok(())
}
