//! Trace of the path to the first difference, recorded from the innermost step outwards.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::any::Any;

use crate::reflection::{AccessKind, AccessPath, AccessStep};

/// Path to the first difference: steps on both sides, innermost first.
pub(super) struct Trace {
    steps: Buffer<[AccessStep; 2]>,
    /// Constructor of steps. A function pointer, so that programs that only compare do not link the
    /// step class.
    make: fn(AccessKind, Any) -> Result<AccessStep>,
}

impl Trace {
    pub(super) fn new() -> Self {
        Self { steps: Buffer::new(), make: AccessStep::new }
    }

    /// Appends a step that is the same on both sides.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn push_same(&mut self, kind: AccessKind, key: Any) -> Result<()> {
        let step = (self.make)(kind, key)?;
        Ok(self.steps.try_push([step.clone(), step])?)
    }

    /// Appends different steps for the left and the right side.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn push(&mut self, lhs: (AccessKind, Any), rhs: (AccessKind, Any)) -> Result<()> {
        Ok(self.steps.try_push([(self.make)(lhs.0, lhs.1)?, (self.make)(rhs.0, rhs.1)?])?)
    }

    /// Returns the left and the right path.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn into_paths(mut self) -> Result<(AccessPath, AccessPath)> {
        let mut paths = (AccessPath::root()?, AccessPath::root()?);
        while let Some([lhs, rhs]) = self.steps.pop() {
            paths = (paths.0.extend(lhs)?, paths.1.extend(rhs)?);
        }
        Ok(paths)
    }
}
