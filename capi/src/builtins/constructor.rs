//! Load-time constructor that installs the built-ins, so that errors have backtraces from the start.

/// Pointer to the constructor. The dynamic linker or the program's startup code calls it before `main`.
#[used]
#[unsafe(link_section = ".init_array")]
static CONSTRUCTOR: extern "C" fn() = install;

extern "C" fn install() {
    super::install();
}
