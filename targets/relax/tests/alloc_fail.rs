//! Tests the machine with the n-th object allocation failing, for every n: the failure is an error,
//! and the machine can be used afterwards.
//!
//! The allocator is global to the process, so this program has a single test.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by a panic"
)]

mod support;

use core::ffi::c_void;
use core::ptr;
use std::sync::atomic::{AtomicI64, Ordering};

use ferrite_core::abi::{TVMFFICustomAllocator, type_index};
use ferrite_core::error::{Result, out_of_memory, raised_error};
use ferrite_core::object::object_alloc::{custom_allocator, set_custom_allocator};
use ferrite_core::{Any, Tensor};
use support::*;

/// Number of allocations until one fails. Later allocations succeed.
static LEFT: AtomicI64 = AtomicI64::new(i64::MAX);

/// Allocates with the previous allocator, whose record is the context, unless this allocation must
/// fail.
unsafe extern "C" fn allocate(
    size: usize,
    alignment: usize,
    index: i32,
    context: *mut c_void,
) -> *mut c_void {
    if index != type_index::ERROR && LEFT.fetch_sub(1, Ordering::Relaxed) == 1 {
        raised_error::set(out_of_memory(size));
        return ptr::null_mut();
    }
    let builtin = context.cast::<TVMFFICustomAllocator>();
    // SAFETY: the context is the record of the built-in allocator, which always has this function.
    unsafe { ((*builtin).allocate.unwrap())(size, alignment, index, (*builtin).context) }
}

/// Runs `body` with the n-th allocation failing, for n from 1 until none fails. Returns the number
/// of failures.
fn with_failures(mut body: impl FnMut() -> Result<()>) -> i64 {
    for n in 1.. {
        LEFT.store(n, Ordering::Relaxed);
        let result = body();
        let reached = LEFT.swap(i64::MAX, Ordering::Relaxed) <= 0;
        match result {
            Ok(()) if !reached => return n - 1,
            // An allocation whose failure has no consequence, such as that of a cache.
            Ok(()) => {}
            Err(error) => {
                assert_eq!(error.kind_bytes(), b"MemoryError", "allocation {n}: {error:?}")
            }
        }
    }
    0
}

#[test]
fn every_failure_is_an_error() -> Result<()> {
    let record = Box::leak(Box::new(TVMFFICustomAllocator {
        allocate: Some(allocate),
        context: custom_allocator().cast(),
    }));
    // SAFETY: the record is never freed.
    unsafe { set_custom_allocator(record) };
    let bytes = fixture("control");
    let made = with_failures(|| machine(&bytes).map(drop));
    assert!(made > 20, "{made} allocations failed");

    let ready = machine(&bytes)?;
    let power = ready.executable().find(b"power").expect("a function");
    let count: Any = Tensor::from_slice(&[2i64], &[])?.into();
    let x: Any = Tensor::from_slice(&[1.0f32; 4], &[4])?.into();
    let args = [count.view(), x.view()];
    let failed = with_failures(|| ready.call(power, &args).map(drop));
    assert!(failed > 3, "{failed} allocations failed");
    let result: Tensor = ready.call(power, &args)?.get()?;
    assert_eq!(result.shape(), [4]);
    Ok(())
}
