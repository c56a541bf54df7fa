//! Tests the reuse of OpenCL memory by the calls of the driver, which a library between counts.
#![allow(clippy::expect_used, reason = "a test fails by a panic")]

mod support;

use core::ffi::{c_int, c_long};

use ferrite_alloc_ext::device::{self, Device};
use ferrite_core::Tensor;
use ferrite_core::error::Result;
use ferrite_gpu::opencl::OpenCl;
use support::calls::*;
use support::kind::*;
use support::stand_in::Library;

/// The driver, behind a library that counts calls and buffers.
struct Driver(Library);

impl Driver {
    /// Opens the library, which is built in a folder of this name.
    fn open(folder: &str) -> Driver {
        let folder = ferrite_tests::scratch(folder).expect("a folder");
        let path = ferrite_tests::device::failing_driver(&folder, "opencl", "libOpenCL.so.1");
        let path = path.expect("the library builds").into_os_string().into_encoded_bytes();
        let path = std::ffi::CString::new(path).expect("a path");
        install();
        Driver(Library::open(&path).expect("the library opens"))
    }

    /// Makes the `n`-th call from now fail, and counts calls from now on.
    fn fail_at(&self, n: c_long) {
        // SAFETY: the type is that of the library, here and below.
        unsafe { self.0.function::<extern "C" fn(c_long)>(c"failing_driver_fail_at")(n) }
    }

    fn calls(&self) -> c_long {
        // SAFETY: see `fail_at`.
        unsafe { self.0.function::<extern "C" fn() -> c_long>(c"failing_driver_calls")() }
    }

    fn buffers(&self) -> c_long {
        const BUFFERS: c_int = 2;
        // SAFETY: see `fail_at`.
        unsafe {
            self.0.function::<extern "C" fn(c_int) -> c_long>(c"failing_driver_live")(BUFFERS)
        }
    }

    /// Returns the number of calls for a thousand tensors, without those that release buffers.
    fn calls_for_tensors(&self) -> Result<c_long> {
        drop(empty(1000)?);
        self.fail_at(0);
        (0..1000).try_for_each(|n| empty(900 + n % 100).map(drop))?;
        Ok(self.calls())
    }
}

fn empty(elements: i64) -> Result<Tensor> {
    device::empty(&[elements], F32, OpenCl::HERE)
}

#[test]
fn freed_memory_is_reused_in_the_order_of_the_queue() -> Result<()> {
    let driver = Driver::open("opencl-reuse");
    let device = Device::from(OpenCl::HERE);
    assert_eq!(driver.calls_for_tensors()?, 0);
    assert_eq!(driver.buffers(), 1, "the only buffer, which the list keeps");
    let kernel = function(&OpenCl::load_add()?, "k")?;
    let x = on_device::<OpenCl>(&[1.0; 64])?;
    for n in 0..10 {
        let y = empty(1000)?;
        add(&kernel, &x, &y, n, 8)?;
        add(&kernel, &y, &x, 0, 8)?;
    }
    assert_eq!(values_of(&x)?, [46.0; 64]);
    assert_eq!(driver.buffers(), 2);
    device.release_unused_memory()?;
    assert_eq!(driver.buffers(), 1);
    // The driver refuses the second buffer until unused memory is released.
    drop(empty(1000)?);
    driver.fail_at(1);
    let other = empty(2000)?;
    driver.fail_at(0);
    assert_eq!(driver.buffers(), 2);
    driver.fail_at(1);
    refused(empty(3000), "MemoryError");
    driver.fail_at(0);
    drop((x, other));
    device.release_unused_memory()?;
    assert_eq!(driver.buffers(), 0);
    Ok(())
}

#[test]
fn reuse_can_be_turned_off() {
    let mut command = std::process::Command::new(std::env::current_exe().expect("this program"));
    command.args(["--ignored", "--exact", "without_reuse"]).env("FERRITE_DEVICE_POOL", "0");
    let output = command.output().expect("a process");
    let text = std::string::String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
#[ignore = "runs as a process with an environment variable"]
fn without_reuse() -> Result<()> {
    let driver = Driver::open("opencl-without-reuse");
    assert_eq!((driver.calls_for_tensors()?, driver.buffers()), (1000, 0));
    Ok(())
}
