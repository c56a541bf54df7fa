//! Stack frames, as unwinding reports them.
#![forbid(unsafe_code)]

use super::super::cache::Cache;

/// A stack frame, as reported by the unwinding method of this platform.
pub(in super::super) struct Frame<'a> {
    /// Return address: the address at which the frame's code continues.
    pub pc: usize,
    pub(super) function: &'a dyn Fn() -> usize,
}

impl Frame<'_> {
    /// Returns the start address of the frame's function; zero if unknown.
    pub(in super::super) fn function(&self) -> usize {
        (self.function)()
    }
}

/// Callback that receives frames, innermost first. Returns `false` to end the walk.
pub(in super::super) type Visitor<'a> = dyn FnMut(&mut Cache, &Frame<'_>) -> bool + 'a;
