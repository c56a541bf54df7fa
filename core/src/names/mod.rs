//! Types and functions by name: the tables of types and of global functions, and the functions of
//! this crate.
//!
//! | module | content |
//! |---|---|
//! | `name_table` | the map from names to values that all tables use |
//! | [`type_table`] | types: keys, ancestors, fields, methods and attributes |
//! | `global_table` | global functions |
//! | `builtins`, `defaults` | functions in read-only tables, and default functions that other runtimes may replace |
//! | `ffi_functions` | the `ffi.*` functions of this crate |

#[cfg(not(feature = "client"))]
pub mod builtins;
mod debug;
#[cfg(not(feature = "client"))]
#[cfg_attr(not(feature = "defaults"), path = "defaults/none.rs")]
pub mod defaults;
#[cfg(not(feature = "client"))]
pub mod ffi_functions;
mod global_function;
#[cfg_attr(feature = "client", path = "global_table/client.rs")]
pub mod global_table;
#[cfg(not(feature = "client"))]
pub mod name_table;
#[cfg_attr(feature = "client", path = "type_table/client.rs")]
pub mod type_table;
