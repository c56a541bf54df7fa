//! Where the names of frames come from: the dynamic linker, or debug information when the build asks for it.

#[cfg(feature = "backtrace-lines")]
mod debug_info;
mod linker;

#[cfg(feature = "backtrace-lines")]
pub(super) use debug_info::resolve;
#[cfg(not(feature = "backtrace-lines"))]
pub(super) use linker::resolve;

/// Takes file, line and name of a frame.
type Visitor<'a> = dyn FnMut(Option<&[u8]>, i64, &[u8]) + 'a;
