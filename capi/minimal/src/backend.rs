//! Runtime support for code compiled by TVM, in the profile `minimal`: workspaces, and parallel
//! loops that run as one task.

use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::ptr;

use crate::engine::text::decimal;
use crate::engine::{Refusal, memory_error, workspace};
use ferrite_core::abi::{ParallelGroupEnv, ParallelLambda, kDLCPU};

use super::boundary::{fail, status};
use super::error::TVMFFIErrorSetRaisedFromCStrParts;

/// Allocates memory for the duration of a kernel from the buffer of `FerriteWorkspaceSet`, aligned
/// to `FERRITE_WORKSPACE_ALIGN` bytes.
///
/// Returns null with MemoryError raised if the buffer has too little free space. The message states
/// the requested and the free number of bytes.
#[cfg_attr(not(platform_workspaces), unsafe(no_mangle))]
pub extern "C" fn TVMBackendAllocWorkspace(
    device_type: c_int,
    device_id: c_int,
    nbytes: u64,
    dtype_code_hint: c_int,
    dtype_bits_hint: c_int,
) -> *mut c_void {
    let _ = (device_id, dtype_code_hint, dtype_bits_hint);
    if device_type != kDLCPU as c_int {
        fail(Refusal::DEVICE);
        return ptr::null_mut();
    }
    workspace::allocate(nbytes)
        .unwrap_or_else(|exhausted| fail_exhausted(exhausted.asked, exhausted.free))
}

/// Raises MemoryError for an exhausted workspace buffer. Returns null.
#[cold]
#[inline(never)]
fn fail_exhausted(asked: usize, free: usize) -> *mut c_void {
    let (mut first, mut second) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    let mut parts =
        [decimal(&mut first, asked), c" bytes asked, free: ".as_ptr(), decimal(&mut second, free)];
    // SAFETY: all parts are C strings.
    unsafe {
        TVMFFIErrorSetRaisedFromCStrParts(memory_error(), parts.as_mut_ptr(), parts.len() as i32)
    };
    ptr::null_mut()
}

/// Frees the most recently allocated workspace. Kernels free workspaces in reverse order. Returns
/// 0, or -1 with ValueError raised for any other pointer.
///
/// # Safety
/// `ptr` must not be used afterwards.
#[cfg_attr(not(platform_workspaces), unsafe(no_mangle))]
pub unsafe extern "C" fn TVMBackendFreeWorkspace(
    device_type: c_int,
    device_id: c_int,
    ptr: *mut c_void,
) -> c_int {
    let _ = (device_type, device_id);
    if ptr.is_null() {
        return 0;
    }
    // SAFETY: contract of this function.
    status(|| unsafe { workspace::free(ptr) })
}

/// Runs a function as a single task, whatever `num_task` is. Returns 0, or -1 with the error of the
/// function raised.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMBackendParallelLaunch(
    flambda: Option<ParallelLambda>,
    cdata: *mut c_void,
    num_task: c_int,
) -> c_int {
    let Some(task) = flambda.filter(|_| num_task >= 0) else { return fail(Refusal::ARGUMENT) };
    let mut env = ParallelGroupEnv { sync_handle: ptr::null_mut(), num_task: 1 };
    // SAFETY: the caller guarantees the task.
    unsafe { task(0, &mut env, cdata) }
}

/// Does nothing and returns 0, since a launch has only one task.
#[unsafe(no_mangle)]
pub extern "C" fn TVMBackendParallelBarrier(task_id: c_int, penv: *mut ParallelGroupEnv) -> c_int {
    let _ = (task_id, penv);
    0
}

#[cfg(platform_workspaces)]
mod hooked {
    use super::{TVMBackendAllocWorkspace as allocate, TVMBackendFreeWorkspace as free};

    ferrite_microtvm::platform_workspaces!(allocate, free);
}
