//! Results that closures of walks, visits and mutations return.

use core::ops::ControlFlow;

use ferrite_core::call::typed::IntoResult;
use ferrite_core::error::{Error, Result};
use ferrite_core::value::any::Any;

/// Control flow of a walk after a node.
///
/// # Upstream
/// `WalkResult` of the crate `tvm-ffi`, and in `extra/structural_visit.h`.
#[derive(Debug)]
pub enum Walk {
    /// Visits the children of the node next in pre-order, or the next node in post-order.
    Continue,
    /// Skips the children of the node. Equivalent to `Continue` in post-order, where the children
    /// were visited before.
    Skip,
    /// Ends the walk, which returns this value.
    Interrupt(Any),
}

impl Walk {
    /// Ends the walk, which returns this value.
    ///
    /// # Examples
    /// ```
    /// use ferrite_alloc_ext::structural::{Structural, Walk, WalkOrder};
    /// use ferrite_alloc_ext::json;
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let first_text = |text: &str| Walk::interrupt(text);
    /// let found = json::parse(br#"[1, "two", "three"]"#)?.structural_walk(WalkOrder::Pre, first_text)?;
    /// assert_eq!(found.unwrap_or_default().get::<String>()?, "two");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// MemoryError, if the value is a string, vector or map of Rust.
    pub fn interrupt(value: impl ferrite_core::value::convert::IntoAny) -> Result<Walk> {
        value.try_into_any().map(Walk::Interrupt)
    }
}

/// Control flow of a visit: continues, or ends and returns a value.
pub type Flow = ControlFlow<Any>;

/// A result of a closure that is called for a `T`: a decision on how to go on, or a value; or a
/// `Result` of one.
#[diagnostic::on_unimplemented(
    message = "a closure here cannot return `{Self}`",
    note = "closures of walks return `()`, `Walk` or `ControlFlow<Any>`, closures of visits `()` or `ControlFlow<Any>`, and those of maps \
            and mutations values; all may return them in a `Result`"
)]
pub trait Answer<T> {
    /// Converts the result.
    ///
    /// # Errors
    /// The error that the closure returned.
    fn answer(self) -> Result<T>;
}

impl Answer<Walk> for () {
    fn answer(self) -> Result<Walk> {
        Ok(Walk::Continue)
    }
}

impl Answer<Walk> for Walk {
    fn answer(self) -> Result<Walk> {
        Ok(self)
    }
}

impl Answer<Walk> for Flow {
    fn answer(self) -> Result<Walk> {
        Ok(match self {
            Flow::Continue(()) => Walk::Continue,
            Flow::Break(value) => Walk::Interrupt(value),
        })
    }
}

impl Answer<Flow> for () {
    fn answer(self) -> Result<Flow> {
        Ok(Flow::Continue(()))
    }
}

impl Answer<Flow> for Flow {
    fn answer(self) -> Result<Flow> {
        Ok(self)
    }
}

impl<A: Answer<Walk>> Answer<Walk> for core::result::Result<A, Error> {
    fn answer(self) -> Result<Walk> {
        self?.answer()
    }
}

impl<A: Answer<Flow>> Answer<Flow> for core::result::Result<A, Error> {
    fn answer(self) -> Result<Flow> {
        self?.answer()
    }
}

impl<A: IntoResult> Answer<Any> for A {
    fn answer(self) -> Result<Any> {
        self.into_result()
    }
}
