//! Installs the built-ins when the library is loaded, so that errors have backtraces from the start.

/// Called by the dynamic linker, or by the program's start code.
#[used]
#[unsafe(link_section = ".init_array")]
static CONSTRUCTOR: extern "C" fn() = install;

extern "C" fn install() {
    super::install();
}
