//! Functions that firmware may define, with `defaults` for those that it does not.

use core::ffi::c_void;

unsafe extern "C" {
    /// Gives `size` bytes at a multiple of `alignment`, a power of two, for the library to keep; null when there are none, which
    /// becomes a MemoryError. All memory of the library comes from here: objects without a custom allocator, tables of names
    /// and types, buffers, and workspaces without a buffer of their own.
    ///
    /// The alignment is 8 or less but for data of tensors and workspaces. May be called in an interrupt handler that makes
    /// objects. The default takes blocks from the pool, which is not linked when this function, `FerritePlatformRelease` and
    /// `FerritePlatformLargestFree` are all defined.
    pub safe fn FerritePlatformAllocate(size: usize, alignment: usize) -> *mut c_void;

    /// Takes back a block of `FerritePlatformAllocate`, which is not null.
    ///
    /// # Safety
    /// Nobody uses the block any more.
    pub fn FerritePlatformRelease(block: *mut c_void);

    /// Tells the size of the largest block that could be had now, for the messages of MemoryErrors; 0 when that is not known.
    pub safe fn FerritePlatformLargestFree() -> usize;

    /// Gives the place where the raised error of the calling task is kept: a pointer that is null when the task starts, not null
    /// when it ends with an error that nobody took. Its address also tells tasks apart.
    ///
    /// The default gives the same place always: without it, tasks that fail at the same time take each other's errors, and one task
    /// that waits for a handle which another one makes (`TVMFFIHandleInitOnce`) gets a RuntimeError. A place of its own for interrupt
    /// handlers keeps their errors apart from those of the code that they interrupt.
    pub safe fn FerritePlatformRaisedSlot() -> *mut *mut c_void;

    /// Lets other tasks run: called again and again while a task waits for what another one does. The default does nothing.
    pub safe fn FerritePlatformYield();
}
