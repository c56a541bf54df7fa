//! The tensor cache: a process-wide table of tensors by name, such as the weights of a language
//! model.
//!
//! | file | content |
//! |---|---|
//! | `cache` | the table, and builtins that read and change it |
//! | `index` | `tensor-cache.json`, which lists the tensors of a folder |
//! | `load` | loading the tensors of a folder |
//! | `params` | lists of tensors of the cache, as arrays or modules |

mod cache;
#[cfg(feature = "std")]
mod index;
#[cfg(feature = "std")]
mod load;
mod params;

use super::Builtin;
use crate::builtin;

/// Builtins of the tensor cache: tensors by name, such as weights that a model loads from files.
pub const BUILTINS: &[Builtin] = &[
    builtin!("vm.builtin.tensor_cache.get", cache::get),
    builtin!(packed "vm.builtin.tensor_cache.update", cache::update),
    builtin!("vm.builtin.tensor_cache.remove", cache::remove),
    builtin!("vm.builtin.tensor_cache.clear", cache::clear),
    #[cfg(feature = "std")]
    builtin!("vm.builtin.tensor_cache.load", load::load),
    builtin!("vm.builtin.param_module_from_cache", params::module),
    builtin!("vm.builtin.param_module_from_cache_by_name", params::module_by_name),
    builtin!("vm.builtin.param_array_from_cache", params::array),
    builtin!("vm.builtin.param_array_from_cache_by_name", params::array_by_name),
    builtin!(packed "vm.builtin.param_array_from_cache_by_name_unpacked", params::array_of_names),
];

#[cfg(all(test, feature = "std"))]
mod tests;
