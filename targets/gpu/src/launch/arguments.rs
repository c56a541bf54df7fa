//! Parameter values of a launch, stored on the stack of the launching thread.

use core::mem::MaybeUninit;

use super::{LaunchPlan, Parameter, WorkSizes};

/// Maximum number of kernel parameters: as many 8-byte values as fit into CUDA's limit of 4 KiB.
pub const MAX_PARAMETERS: usize = 512;

/// Parameter values: an array of fixed capacity, whose unused elements stay uninitialised.
pub struct Values {
    values: [MaybeUninit<u64>; MAX_PARAMETERS],
    len: usize,
}

impl Values {
    /// Creates an empty list.
    #[expect(clippy::new_without_default, reason = "a single caller creates it")]
    #[inline]
    pub const fn new() -> Values {
        Values { values: [const { MaybeUninit::uninit() }; MAX_PARAMETERS], len: 0 }
    }

    /// Appends a value. No plan has more parameters than the capacity.
    #[inline]
    pub(super) fn push(&mut self, value: u64) {
        if let Some(slot) = self.values.get_mut(self.len) {
            slot.write(value);
            self.len += 1;
        }
    }

    /// Returns the values.
    #[inline]
    pub fn as_slice(&self) -> &[u64] {
        // SAFETY: the first `len` elements are initialised.
        unsafe { core::slice::from_raw_parts(self.values.as_ptr().cast(), self.len) }
    }
}

/// A launch, as passed to a driver.
pub struct Launch<'a> {
    /// Parameters and properties of the kernel.
    pub plan: &'a LaunchPlan,
    /// Value of each parameter. A 4-byte value is in the low half.
    pub values: &'a [u64],
    /// Grid, block and cluster sizes, and dynamic shared memory.
    pub sizes: &'a WorkSizes,
}

impl Launch<'_> {
    /// Returns the parameters with their values.
    pub fn parameters(&self) -> impl Iterator<Item = (Parameter, &u64)> {
        self.plan.parameters().iter().copied().zip(self.values)
    }
}
