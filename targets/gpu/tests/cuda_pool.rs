//! Tests the pool of device memory of CUDA on the stand-in.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by a panic"
)]

#[path = "common/pool.rs"]
mod pool;
mod support;

use ferrite_alloc_ext::env::stream;
use ferrite_core::error::Result;
use pool::{calls_of, device, empty, in_process};
use support::cuda as driver;
use support::cuda::*;

#[test]
fn a_new_tensor_takes_few_calls() -> Result<()> {
    let Some((_session, driver)) = begin_on_stand_in("counts of calls") else { return Ok(()) };
    drop(empty(64)?);
    let all = driver.number(c"stand_in_all_calls");
    drop(empty(64)?);
    // The current context, whether the stream is being recorded, and the operation itself, twice.
    assert_eq!(driver.number(c"stand_in_all_calls") - all, 6);
    Ok(())
}

#[test]
fn a_stream_of_another_library_is_waited_for() {
    in_process("foreign_stream", None);
}

#[test]
#[ignore = "runs as a process: the device remembers the stream"]
fn foreign_stream() -> Result<()> {
    let Some((_session, driver)) = begin_on_stand_in("foreign streams") else { return Ok(()) };
    let kernel = kernel_of(PTX_MODULE, "add_one_kernel")?;
    let (x, between) = (on_device(&[1.0; 64])?, empty(64)?);
    let mut foreign = 0u64;
    // SAFETY: the types are those of the driver; the stream is set while it lives.
    unsafe {
        let create =
            driver.function::<unsafe extern "C" fn(*mut u64, u32) -> i32>(c"cuStreamCreate");
        assert_eq!(create(&mut foreign, 1), 0);
        let handle = core::ptr::with_exposed_provenance_mut(foreign as usize);
        stream::set(stream::DeviceKey::new(2, 0), handle)?;
        add_one(&kernel, &x, &between, 1)?;
        stream::set(stream::DeviceKey::new(2, 0), null())?;
        let destroy = driver.function::<unsafe extern "C" fn(u64) -> i32>(c"cuStreamDestroy_v2");
        assert_eq!(destroy(foreign), 0);
    }
    let [waits] = calls_of(driver, [c"cuCtxSynchronize"], || {
        drop(between);
        Ok(())
    })?;
    assert_eq!(waits, 1);
    wait_for_all(driver);
    Ok(())
}

#[test]
fn unused_memory_goes_back_on_request() -> Result<()> {
    let Some((_session, driver)) = begin_on_stand_in("free memory") else { return Ok(()) };
    let free = || {
        let (mut free, mut total) = (0usize, 0usize);
        // SAFETY: the type is that of the driver.
        let status = unsafe {
            driver
                .function::<unsafe extern "C" fn(*mut usize, *mut usize) -> i32>(c"cuMemGetInfo_v2")(
                &mut free, &mut total,
            )
        };
        assert_eq!(status, 0);
        free
    };
    device().release_unused_memory()?;
    let before = free();
    drop(empty(1 << 20)?);
    device().synchronize()?;
    assert_eq!(free(), before - (4 << 20), "the pool keeps it");
    device().release_unused_memory()?;
    assert_eq!(free(), before);
    Ok(())
}
