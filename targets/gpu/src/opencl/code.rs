//! The code of OpenCL modules, and the marker type of their back end.

use core::ops::Range;

use ferrite_core::Bytes;
use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::sync::{ObjectMutex, ObjectMutexGuard};

/// The OpenCL back end.
pub struct OpenCl;

/// The code of a module.
pub struct Code {
    /// Program of each kernel, as spans of the payload's code. `None` for a binary, which contains
    /// all kernels.
    pub(super) programs: Option<Buffer<Range<usize>>>,
    /// Binaries to load instead of compiling source.
    pub(super) precompiled: Precompiled,
}

/// A program binary, and the id of the device that it was built for.
type Binary = (i32, Bytes);

/// Binary of each kernel, set only while `opencl.SetPreCompiledPrograms` loads it.
pub(super) struct Precompiled(ObjectMutex<Buffer<Option<Binary>>>);

impl Precompiled {
    /// Creates a table of `kernel_count` kernels without binaries.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn new(kernel_count: usize) -> Result<Precompiled> {
        let mut binaries = Buffer::try_with_capacity(kernel_count)?;
        for _ in 0..kernel_count {
            binaries.try_push(None)?;
        }
        Ok(Precompiled(ObjectMutex::new(binaries)))
    }

    fn binaries(&self) -> ObjectMutexGuard<'_, Buffer<Option<Binary>>> {
        self.0.lock()
    }

    /// Returns the binary of a kernel for a device; `None` if there is none.
    pub(super) fn get(&self, kernel: usize, device: i32) -> Option<Bytes> {
        let (of, binary) = self.binaries().get(kernel).cloned().flatten()?;
        (of == device).then_some(binary)
    }

    /// Sets or removes the binary of a kernel.
    pub(super) fn set(&self, kernel: usize, binary: Option<Binary>) {
        let mut binaries = self.binaries();
        let previous = binaries.get_mut(kernel).map(|slot| core::mem::replace(slot, binary));
        drop(binaries);
        drop(previous);
    }
}
