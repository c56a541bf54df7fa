//! Unwinding rules: these platforms have none.
#![forbid(unsafe_code)]

/// Uninhabited type of unwinding rules: these platforms have none.
#[derive(Clone, Copy)]
pub(in super::super::super) enum Rule {}
