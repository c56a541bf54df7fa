//! Launches, as drivers get them.

use super::{LaunchPlan, Parameter, WorkSizes};

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
