//! Functions that firmware may define, with `defaults` for those that it does not.

use core::ffi::c_void;

unsafe extern "C" {
    /// Returns `size` bytes at a multiple of `alignment`, a power of two, for the library to keep; or null when there
    /// are none, which becomes a MemoryError. All memory of the library comes from here: objects without a custom
    /// allocator, tables of names and types, buffers, and workspaces without a buffer of their own.
    ///
    /// The alignment is at most 8, except for data of tensors and workspaces. May be called in an interrupt handler
    /// that makes objects. The default takes blocks from the pool, which is not linked when this function,
    /// `FerritePlatformRelease` and `FerritePlatformLargestFree` are all defined.
    pub safe fn FerritePlatformAllocate(size: usize, alignment: usize) -> *mut c_void;

    /// Releases a block of `FerritePlatformAllocate`; never called with null.
    ///
    /// # Safety
    /// Nobody uses the block any more.
    pub fn FerritePlatformRelease(block: *mut c_void);

    /// Returns the size of the largest block that could be allocated now, for the messages of MemoryErrors; 0 when it
    /// is not known.
    pub safe fn FerritePlatformLargestFree() -> usize;

    /// Returns the address of the slot with the calling task's raised error: a pointer that must be null when the task
    /// starts, and is not null if the task ends with an error that nobody took. The address also identifies the task.
    ///
    /// The default always returns the same address. With it, tasks that fail at the same time take each other's errors,
    /// and a task that waits for a handle which another one makes (`TVMFFIHandleInitOnce`) gets a RuntimeError. A
    /// separate slot for interrupt handlers keeps their errors apart from those of the code that they interrupt.
    pub safe fn FerritePlatformRaisedSlot() -> *mut *mut c_void;

    /// Lets other tasks run. Called repeatedly while a task waits for another one. The default does nothing.
    pub safe fn FerritePlatformYield();
}
