//! Workspace hooks that firmware for microTVM may define, and their default implementations.
//!
//! The library that offers them expands [`platform_workspaces!`](crate::platform_workspaces) where
//! its workspace symbols would be. WebAssembly has no weak symbols and so no hooks: there,
//! workspaces are allocated as in tvm-ffi.

use core::ffi::{c_int, c_void};
use core::ptr;

use ferrite_core::abi::DLDevice;

/// A device, for the expansion of [`platform_workspaces!`](crate::platform_workspaces).
pub use ferrite_core::abi::DLDevice as Device;

use super::error::{fail, raising};
use super::status::{NO_ERROR, tvm_crt_error_t};

unsafe extern "C" {
    /// Hook that allocates memory for the duration of a kernel, called by
    /// `TVMBackendAllocWorkspace`. Blocks are freed in reverse order.
    ///
    /// Returns kTvmErrorNoError and stores the memory in `out_ptr`. Any other status is a failure.
    /// The default allocates from the buffer set by `FerriteWorkspaceSet`, or as the profile does
    /// when no buffer is set.
    ///
    /// # Safety
    /// Must be defined together with `TVMPlatformMemoryFree`, or not at all.
    pub fn TVMPlatformMemoryAllocate(
        num_bytes: usize,
        dev: DLDevice,
        out_ptr: *mut *mut c_void,
    ) -> tvm_crt_error_t;

    /// Hook that frees memory allocated by `TVMPlatformMemoryAllocate`. Returns kTvmErrorNoError.
    /// Any other status is a failure.
    ///
    /// # Safety
    /// The memory must not be used afterwards.
    pub fn TVMPlatformMemoryFree(ptr: *mut c_void, dev: DLDevice) -> tvm_crt_error_t;
}

/// Status of a default hook that has raised an error. Negative statuses are system errors.
const RAISED: tvm_crt_error_t = -1;

/// Default implementation of `TVMPlatformMemoryAllocate`, which calls `allocate`.
///
/// # Safety
/// Same requirements as [`TVMPlatformMemoryAllocate`].
#[inline(always)]
pub unsafe fn default_allocate(
    out_ptr: *mut *mut c_void,
    allocate: impl FnOnce() -> *mut c_void,
) -> tvm_crt_error_t {
    if out_ptr.is_null() {
        return fail(c"ValueError", c"null argument");
    }
    let memory = allocate();
    if memory.is_null() {
        return RAISED;
    }
    // SAFETY: contract of the crate.
    unsafe { out_ptr.write(memory) };
    NO_ERROR
}

/// Implements `TVMBackendAllocWorkspace` by the hook. Returns the memory, or null with an error
/// raised if the hook fails.
#[inline(always)]
pub fn alloc_workspace(device_type: c_int, device_id: c_int, nbytes: u64) -> *mut c_void {
    let size = usize::try_from(nbytes).unwrap_or(usize::MAX);
    let mut memory = ptr::null_mut();
    let device = DLDevice { device_type, device_id };
    // SAFETY: the out-parameter is writable.
    let status = raising(|| unsafe { TVMPlatformMemoryAllocate(size, device, &mut memory) });
    if refused(status) { ptr::null_mut() } else { memory }
}

/// Implements `TVMBackendFreeWorkspace` by the hook. Returns 0, or -1 with an error raised if the
/// hook fails.
///
/// # Safety
/// `ptr` must not be used afterwards.
#[inline(always)]
pub unsafe fn free_workspace(device_type: c_int, device_id: c_int, ptr: *mut c_void) -> c_int {
    if ptr.is_null() {
        return 0;
    }
    // SAFETY: contract of this function.
    let status =
        raising(|| unsafe { TVMPlatformMemoryFree(ptr, DLDevice { device_type, device_id }) });
    if refused(status) { -1 } else { 0 }
}

/// Returns `true` if a hook failed, and raises a MemoryError if that is a hook of the platform,
/// which has its own statuses.
fn refused(status: tvm_crt_error_t) -> bool {
    if status != NO_ERROR && status != RAISED {
        fail(c"MemoryError", c"the platform refused");
    }
    status != NO_ERROR
}

/// Exports `TVMBackendAllocWorkspace` and `TVMBackendFreeWorkspace`, which call the hooks, and the
/// default hooks as weak symbols. The defaults call the given functions, which have the types of
/// these two symbols.
#[macro_export]
macro_rules! platform_workspaces {
    ($allocate:path, $free:path) => {
        use core::ffi::{c_int, c_void};

        core::arch::global_asm!(
            ".weak TVMPlatformMemoryAllocate",
            ".set TVMPlatformMemoryAllocate, {}",
            sym default_allocate
        );
        core::arch::global_asm!(
            ".weak TVMPlatformMemoryFree",
            ".set TVMPlatformMemoryFree, {}",
            sym default_free
        );

        /// Default for `TVMPlatformMemoryAllocate`.
        ///
        /// # Safety
        /// Same requirements as `TVMPlatformMemoryAllocate`.
        unsafe extern "C" fn default_allocate(
            num_bytes: usize,
            dev: $crate::platform::Device,
            out_ptr: *mut *mut c_void,
        ) -> c_int {
            // SAFETY: the caller's promise.
            unsafe {
                $crate::platform::default_allocate(out_ptr, || {
                    $allocate(dev.device_type, dev.device_id, num_bytes as u64, 0, 8)
                })
            }
        }

        /// Default for `TVMPlatformMemoryFree`.
        ///
        /// # Safety
        /// Same requirements as `TVMPlatformMemoryFree`.
        unsafe extern "C" fn default_free(ptr: *mut c_void, dev: $crate::platform::Device) -> c_int {
            // SAFETY: the caller's promise.
            unsafe { $free(dev.device_type, dev.device_id, ptr) }
        }

        /// Allocates memory for the duration of a kernel by calling `TVMPlatformMemoryAllocate`.
        /// The type hints are ignored.
        ///
        /// Returns the memory, or null with an error raised if the hook fails.
        #[unsafe(no_mangle)]
        pub extern "C" fn TVMBackendAllocWorkspace(
            device_type: c_int,
            device_id: c_int,
            nbytes: u64,
            dtype_code_hint: c_int,
            dtype_bits_hint: c_int,
        ) -> *mut c_void {
            let _ = (dtype_code_hint, dtype_bits_hint);
            $crate::platform::alloc_workspace(device_type, device_id, nbytes)
        }

        /// Frees memory allocated by `TVMBackendAllocWorkspace`, by calling
        /// `TVMPlatformMemoryFree`. Null is ignored.
        ///
        /// Returns 0, or -1 with an error raised if the hook fails.
        ///
        /// # Safety
        /// `ptr` must not be used afterwards.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn TVMBackendFreeWorkspace(
            device_type: c_int,
            device_id: c_int,
            ptr: *mut c_void,
        ) -> c_int {
            // SAFETY: contract of this function.
            unsafe { $crate::platform::free_workspace(device_type, device_id, ptr) }
        }
    };
}
