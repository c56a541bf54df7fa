//! Stack walk for builds without the feature `backtrace`: reports no frames.
#![forbid(unsafe_code)]

use ferrite_core::platform::backtrace::BacktraceRequest;
use ferrite_core::platform::sync::fork::Hook;

/// Fork handlers that do nothing, since there are no stack walks.
pub(crate) static WALKS_AT_FORK: Hook = Hook::in_child(|| ());

/// Does nothing: backtraces are disabled.
pub(super) fn frames(_: &mut dyn FnMut(&[u8]), _: &BacktraceRequest<'_>, _: usize, _: usize) {}
