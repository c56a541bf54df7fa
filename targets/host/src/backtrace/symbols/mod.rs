//! Symbolication of frames: names from symbol tables, or, with the feature `backtrace-lines`,
//! names, files and lines from debug information.

#[cfg(feature = "backtrace-lines")]
mod debug_info;
#[cfg(target_os = "linux")]
mod elf;
mod linker;
mod visitor;

use super::demangle::with_demangled;
use visitor::UNKNOWN;
pub(super) use visitor::Visitor;

/// Calls `visit` with the file, line and function name for the code before `pc`, once for the
/// function and for each function inlined there.
pub(super) fn resolve(pc: usize, visit: &mut Visitor<'_>) {
    #[cfg(feature = "backtrace-lines")]
    if debug_info::resolve(pc, visit) {
        return;
    }
    // The call instruction: the code after it may belong to another function.
    let address = pc.wrapping_sub(1);
    let mut named = false;
    let mut read = |name: &[u8]| {
        named = true;
        with_demangled(name, |name| visit(None, 0, name));
    };
    #[cfg(target_os = "linux")]
    let known = elf::name(address, &mut read);
    #[cfg(not(target_os = "linux"))]
    let known = false;
    if !known {
        linker::name(address, &mut read);
    }
    if !named {
        visit(None, 0, UNKNOWN);
    }
}
