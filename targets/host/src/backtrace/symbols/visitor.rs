//! Callbacks for symbolicated frames.
#![forbid(unsafe_code)]

/// Callback that receives the file, line and function name of a frame. The file is `None` and the
/// line 0 if they are unknown.
pub(in super::super) type Visitor<'a> = dyn FnMut(Option<&[u8]>, i64, &[u8]) + 'a;

/// Name shown for functions without a symbol.
pub(super) const UNKNOWN: &[u8] = b"<unknown>";
