//! Load-time constructor that installs the built-ins, so that errors have backtraces from the
//! start.

ferrite_core::at_load!(install);

fn install() {
    super::install();
}
