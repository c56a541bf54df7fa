//! The values of a launch, on the stack of the thread that launches.

use core::mem::MaybeUninit;

use super::{LaunchPlan, Parameter, WorkSizes};

/// Parameters of a kernel at most: as many as have room in the 4 KiB that CUDA gives them.
pub const MAX_PARAMETERS: usize = 512;

/// Values of parameters: a list of constant capacity whose unused part is never touched.
pub struct Values {
    values: [MaybeUninit<u64>; MAX_PARAMETERS],
    len: usize,
}

impl Values {
    /// No values.
    #[expect(clippy::new_without_default, reason = "there is one place that makes it")]
    #[inline]
    pub const fn new() -> Values {
        Values { values: [const { MaybeUninit::uninit() }; MAX_PARAMETERS], len: 0 }
    }

    /// Appends a value; no plan has more than there is room for.
    #[inline]
    pub(super) fn push(&mut self, value: u64) {
        if let Some(place) = self.values.get_mut(self.len) {
            place.write(value);
            self.len += 1;
        }
    }

    /// The values.
    #[inline]
    pub fn as_slice(&self) -> &[u64] {
        // SAFETY: the first `len` places were written.
        unsafe { core::slice::from_raw_parts(self.values.as_ptr().cast(), self.len) }
    }
}

/// A launch: what a driver gets.
pub struct Launch<'a> {
    /// The parameters and properties of the kernel.
    pub plan: &'a LaunchPlan,
    /// A value for each parameter, in the low half if it has 4 bytes.
    pub values: &'a [u64],
    /// Grid, block, and dynamic shared memory.
    pub sizes: &'a WorkSizes,
}

impl Launch<'_> {
    /// The parameters with their values.
    pub fn parameters(&self) -> impl Iterator<Item = (Parameter, &u64)> {
        self.plan.parameters().iter().copied().zip(self.values)
    }
}
