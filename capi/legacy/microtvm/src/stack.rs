//! microTVM's stack allocator, from which firmware allocates workspaces for compiled code.

use core::ffi::c_void;

use super::status::{BAD_FREE, INVALID_ARGUMENT, NO_ERROR, NO_MEMORY, tvm_crt_error_t};

/// Alignment of the sizes and addresses of blocks, in bytes.
const ALIGNMENT: usize = 16;

/// State of a stack allocator.
#[allow(non_camel_case_types, reason = "the name of C")]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tvm_workspace_t {
    /// Address of the next block to allocate.
    pub next_alloc: *mut u8,
    /// Address of the first block.
    pub workspace: *mut u8,
    /// Number of bytes from `workspace` to the end of the buffer.
    pub workspace_size: usize,
}

/// Initialises a stack allocator on a buffer, which need not be aligned.
///
/// Returns kTvmErrorNoError, or kTvmErrorFunctionCallInvalidArg for a null pointer or a buffer that
/// is smaller than a block.
///
/// # Safety
/// No other code may use the buffer as long as the allocator is in use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn StackMemoryManager_Init(
    tvm_runtime_workspace: *mut tvm_workspace_t,
    g_aot_memory: *mut u8,
    workspace_size: usize,
) -> tvm_crt_error_t {
    let lost = g_aot_memory.addr().wrapping_neg() & (ALIGNMENT - 1);
    if tvm_runtime_workspace.is_null() || g_aot_memory.is_null() || workspace_size < lost {
        return INVALID_ARGUMENT;
    }
    let workspace = g_aot_memory.wrapping_add(lost);
    let stack =
        tvm_workspace_t { next_alloc: workspace, workspace, workspace_size: workspace_size - lost };
    // SAFETY: contract of the crate.
    unsafe { tvm_runtime_workspace.write(stack) };
    NO_ERROR
}

/// Allocates a block from a stack allocator, aligned to 16 bytes.
///
/// Returns kTvmErrorNoError and stores the block in `current_alloc`. Returns
/// kTvmErrorPlatformNoMemory if there is not enough free space or the size is negative, and
/// kTvmErrorFunctionCallInvalidArg for a null pointer.
///
/// # Safety
/// `tvm_runtime_workspace` must be null or an initialised stack allocator.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn StackMemoryManager_Allocate(
    tvm_runtime_workspace: *mut tvm_workspace_t,
    nbytes: i32,
    current_alloc: *mut *mut c_void,
) -> tvm_crt_error_t {
    // SAFETY: contract of this function.
    let Some(stack) = (unsafe { tvm_runtime_workspace.as_mut() }) else { return INVALID_ARGUMENT };
    if current_alloc.is_null() {
        return INVALID_ARGUMENT;
    }
    let free = stack.workspace_size - (stack.next_alloc.addr() - stack.workspace.addr());
    // A negative size converts to a huge one.
    let size = (nbytes as usize).wrapping_add(ALIGNMENT - 1) & !(ALIGNMENT - 1);
    if nbytes < 0 || size > free {
        return NO_MEMORY;
    }
    // SAFETY: contract of the crate.
    unsafe { current_alloc.write(stack.next_alloc.cast()) };
    stack.next_alloc = stack.next_alloc.wrapping_add(size);
    NO_ERROR
}

/// Frees a block of a stack allocator, and all blocks allocated after it.
///
/// Returns kTvmErrorNoError. Returns kTvmErrorPlatformStackAllocBadFree for a pointer that is not
/// an allocated block, and kTvmErrorFunctionCallInvalidArg for a null allocator.
///
/// # Safety
/// `tvm_runtime_workspace` must be null or an initialised stack allocator.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn StackMemoryManager_Free(
    tvm_runtime_workspace: *mut tvm_workspace_t,
    ptr: *mut c_void,
) -> tvm_crt_error_t {
    // SAFETY: contract of this function.
    let Some(stack) = (unsafe { tvm_runtime_workspace.as_mut() }) else { return INVALID_ARGUMENT };
    let block: *mut u8 = ptr.cast();
    if block < stack.workspace
        || block > stack.next_alloc
        || !block.addr().is_multiple_of(ALIGNMENT)
    {
        return BAD_FREE;
    }
    stack.next_alloc = block;
    NO_ERROR
}
