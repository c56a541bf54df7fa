//! The tensor cache: a process-wide table of tensors by name, such as the weights of a language
//! model.
//!
//! | file | content |
//! |---|---|
//! | `index` | `tensor-cache.json`, which lists the tensors of a folder |
//! | `load` | loading the tensors of a folder |
//! | `params` | lists of tensors of the cache, as arrays or modules |

#[cfg(feature = "std")]
mod index;
#[cfg(feature = "std")]
mod load;
mod params;

use ferrite_core::error::Result;
use ferrite_core::tensor::TensorView;
use ferrite_core::{Any, AnyView, String, Tensor, plain_bail, plain_ensure};

use super::Builtin;
use super::named_values::NamedValues;
use crate::builtin;
use crate::memory::{copy, empty};

/// The builtins of this folder.
pub const BUILTINS: &[Builtin] = &[
    builtin!("vm.builtin.tensor_cache.get", get),
    builtin!(packed "vm.builtin.tensor_cache.update", update),
    builtin!("vm.builtin.tensor_cache.remove", remove),
    builtin!("vm.builtin.tensor_cache.clear", clear),
    #[cfg(feature = "std")]
    builtin!("vm.builtin.tensor_cache.load", load::load),
    builtin!("vm.builtin.param_module_from_cache", params::module),
    builtin!("vm.builtin.param_module_from_cache_by_name", params::module_by_name),
    builtin!("vm.builtin.param_array_from_cache", params::array),
    builtin!("vm.builtin.param_array_from_cache_by_name", params::array_by_name),
    builtin!(packed "vm.builtin.param_array_from_cache_by_name_unpacked", params::array_of_names),
];

static CACHE: NamedValues<Tensor> = NamedValues::new();

/// Returns the tensor of a name; `None` if there is none.
fn get(name: String) -> Option<Tensor> {
    CACHE.get(name.as_bytes())
}

/// Adds a tensor. The arguments are (name, tensor or `DLTensor*`, which is copied[, whether to
/// replace an earlier one]).
///
/// # Errors
/// InternalError if the name is taken and may not be replaced.
fn update(args: &[AnyView<'_>]) -> Result<Any> {
    let ([name, value] | [name, value, _]) = args else {
        plain_bail!(
            INTERNAL_ERROR,
            "Check failed: (args.size() == 2 || args.size() == 3) is false: "
        );
    };
    let name = name.get::<String>()?;
    let replaces = args.get(2).map(|arg| arg.get::<bool>()).transpose()?.unwrap_or(false);
    let tensor = match value.try_get::<Tensor>()? {
        Some(tensor) => tensor,
        None => copied(value.get_in_place()?)?,
    };
    if replaces {
        CACHE.set(name, tensor)?;
        return Ok(Any::NONE);
    }
    let is_new = CACHE.insert(name.clone(), tensor)?;
    plain_ensure!(
        is_new,
        INTERNAL_ERROR,
        "Check failed: pool->pool_.count(name) == 0 (1 vs. 0) : Name {} already exists in the cache",
        &name
    );
    Ok(Any::NONE)
}

/// Returns a copy of a tensor, on the same device.
fn copied(view: TensorView<'_>) -> Result<Tensor> {
    let (from, _guard) = (view.as_tensor_ref(), view.read_guard()?);
    let target = empty(from.shape(), from.dtype(), from.device())?;
    // SAFETY: both tensors are alive, and nobody else knows the target.
    unsafe { copy(&*from.as_raw(), target.dl_tensor()) }?;
    Ok(target)
}

/// Removes the tensor of a name, if there is one.
fn remove(name: String) {
    CACHE.remove(name.as_bytes());
}

/// Removes all tensors.
fn clear() {
    CACHE.clear();
}

#[cfg(all(test, feature = "std"))]
mod tests;
