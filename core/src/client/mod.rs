//! The kernel library's side of the tables: what the loaded `libtvm_ffi` knows, asked through its C symbols.
//!
//! With the feature `client` this binary holds no table, no raised error and no allocator of its own. Objects that it
//! makes of built-in classes come from the loaded library, whose code outlives this one's.

pub mod type_table;
