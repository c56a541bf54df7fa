//! Unwinding rules.
#![forbid(unsafe_code)]

/// Unwinding rule for a code address: the function that contains it, and the step to its caller.
#[derive(Clone, Copy)]
pub(in super::super::super) struct Rule {
    /// Start address of the function; zero if unknown.
    pub(super) function: usize,
    pub(super) step: Step,
}

/// Rule for code without call frame information, or with rules that [`Step`] cannot express.
pub(super) const UNKNOWN: Rule = Rule { function: 0, step: Step::Unknown };

/// Register from which the caller's stack pointer is computed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Base {
    StackPointer,
    FramePointer,
}

/// Rule for getting from a frame to its caller: a row of the unwinding table, limited to what
/// finding the caller needs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Step {
    /// The caller's stack pointer is the base register plus `distance`. The return address and the
    /// saved frame pointer are at these offsets from the caller's stack pointer. If `frame_pointer`
    /// is `None`, the frame pointer is unchanged.
    To { base: Base, distance: i32, return_address: i32, frame_pointer: Option<i32> },
    /// The frame is the outermost one.
    Last,
    /// The system's unwinder has to walk from here.
    Unknown,
}
