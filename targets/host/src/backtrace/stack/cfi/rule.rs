//! Unwinding rules.
#![forbid(unsafe_code)]

use super::program::Step;

/// Unwinding rule for a code address: the function that contains it, and the step to its caller.
#[derive(Clone, Copy)]
pub(in super::super::super) struct Rule {
    /// Start address of the function; zero if unknown.
    pub(super) function: usize,
    pub(super) step: Step,
}

/// Rule for code without call frame information.
pub(super) const UNKNOWN: Rule = Rule { function: 0, step: Step::Unknown };
