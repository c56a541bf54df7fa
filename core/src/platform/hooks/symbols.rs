//! Platform hooks: functions that firmware may define to replace the library's defaults.

use core::ffi::c_void;

unsafe extern "C" {
    /// Allocates `size` bytes at a multiple of `alignment`, a power of two. Returns null when out
    /// of memory, which the library reports as a MemoryError. All memory of the library comes from
    /// here: objects without a custom allocator, tables of names and types, buffers, and workspaces
    /// without a separate buffer.
    ///
    /// The alignment is at most 8, except for tensor data and workspaces. The library calls it in
    /// interrupt handlers that create objects, too. The default takes blocks from the pool, which
    /// is not linked when this function, `FerritePlatformRelease` and `FerritePlatformLargestFree`
    /// are all defined.
    pub safe fn FerritePlatformAllocate(size: usize, alignment: usize) -> *mut c_void;

    /// Frees a block that `FerritePlatformAllocate` returned; never called with null.
    ///
    /// # Safety
    /// The block must no longer be used.
    pub fn FerritePlatformRelease(block: *mut c_void);

    /// Returns the size in bytes of the largest block that could be allocated now, or 0 if unknown.
    /// It appears in messages of MemoryErrors.
    pub safe fn FerritePlatformLargestFree() -> usize;

    /// Returns the address of the slot for the calling task's raised error: a pointer that must be
    /// null when the task starts, and is not null if the task ends without taking its raised error.
    /// The address also identifies the task.
    ///
    /// The default always returns the same address. With it, tasks that fail concurrently may take
    /// each other's errors, and a task gets a RuntimeError if it would have to wait for a handle
    /// that another task is initialising (`TVMFFIHandleInitOnce`). A separate slot for interrupt
    /// handlers keeps their errors apart from the errors of the interrupted code.
    pub safe fn FerritePlatformRaisedSlot() -> *mut *mut c_void;

    /// Yields to other tasks. Called repeatedly while a task waits for another one. The default
    /// only gives the processor a spin-loop hint.
    pub safe fn FerritePlatformYield();
}
