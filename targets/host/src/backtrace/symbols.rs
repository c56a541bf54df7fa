//! Where the names of frames come from: the tables of symbols, or debug information when the build asks for it.

#[cfg(feature = "backtrace-lines")]
mod debug_info;
#[cfg(target_os = "linux")]
mod elf;
mod linker;

use super::demangle::with_demangled;

/// Takes file, line and name of a frame.
pub(super) type Visitor<'a> = dyn FnMut(Option<&[u8]>, i64, &[u8]) + 'a;

/// What a frame without a name is called.
const UNKNOWN: &[u8] = b"<unknown>";

/// Calls `visit` with file, line and name of the code before `pc`, and of each function that was inlined there.
pub(super) fn resolve(pc: usize, visit: &mut Visitor<'_>) {
    #[cfg(feature = "backtrace-lines")]
    if debug_info::resolve(pc, visit) {
        return;
    }
    // The call, not what follows it, which may be another function.
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
