//! Attributes and derive macros of the crates `ferrite-ffi` and `ferrite-ffi-sys`, which re-export them.
