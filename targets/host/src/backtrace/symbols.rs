//! Where the names of frames come from: the dynamic linker, or debug information when the build asks for it.

#[cfg(feature = "backtrace-lines")]
mod debug_info;
mod linker;

#[cfg(feature = "backtrace-lines")]
pub(super) use debug_info::resolve;
#[cfg(not(feature = "backtrace-lines"))]
pub(super) use linker::resolve;
