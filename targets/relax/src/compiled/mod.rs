//! Executables whose functions are native code, and the C symbols that such code calls.
