//! Parts of a payload.
#![forbid(unsafe_code)]

/// A range of a payload's bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    pub(super) start: usize,
    pub(super) len: usize,
}

/// Returns the bytes of a span; empty if it is not within them.
pub(super) fn at(bytes: &[u8], span: Span) -> &[u8] {
    bytes.get(span.start..span.start + span.len).unwrap_or_default()
}
