//! Hooks: functions that firmware may define in place of the library's defaults.

use core::ffi::c_void;

unsafe extern "C" {
    /// Allocates `size` bytes at a multiple of `alignment`, a power of two, for the library's use; returns null when
    /// out of memory, which becomes a MemoryError. All memory of the library comes from here: objects without a custom
    /// allocator, tables of names and types, buffers, and workspaces without a buffer of their own.
    ///
    /// The alignment is at most 8, except for tensor data and workspaces. May be called in an interrupt handler that
    /// creates objects. The default takes blocks from the pool, which is not linked when this function,
    /// `FerritePlatformRelease` and `FerritePlatformLargestFree` are all defined.
    pub safe fn FerritePlatformAllocate(size: usize, alignment: usize) -> *mut c_void;

    /// Frees a block of `FerritePlatformAllocate`; never called with null.
    ///
    /// # Safety
    /// The block is no longer used.
    pub fn FerritePlatformRelease(block: *mut c_void);

    /// Returns the size of the largest block that could be allocated now, for the messages of MemoryErrors; 0 if
    /// unknown.
    pub safe fn FerritePlatformLargestFree() -> usize;

    /// Returns the address of the slot for the calling task's raised error: a pointer that must be null when the task
    /// starts, and is not null if the task ends with an untaken error. The address also identifies the task.
    ///
    /// The default always returns the same address. With it, tasks that fail concurrently take each other's errors, and
    /// a task that waits for a handle which another task initialises (`TVMFFIHandleInitOnce`) gets a RuntimeError. A
    /// separate slot for interrupt handlers keeps their errors apart from the errors of the interrupted code.
    pub safe fn FerritePlatformRaisedSlot() -> *mut *mut c_void;

    /// Yields to other tasks. Called repeatedly while a task waits for another one. The default does nothing.
    pub safe fn FerritePlatformYield();
}
