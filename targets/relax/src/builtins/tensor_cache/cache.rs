//! The table, and builtins that read and change it.

use ferrite_core::error::Result;
use ferrite_core::tensor::TensorView;
use ferrite_core::{Any, AnyView, String, Tensor, plain_bail, plain_ensure};

use crate::builtins::named_values::NamedValues;
use crate::memory::{copy, empty};

pub(super) static CACHE: NamedValues<Tensor> = NamedValues::new();

/// Returns the tensor of a name; `None` if there is none.
pub(super) fn get(name: String) -> Option<Tensor> {
    CACHE.get(name.as_bytes())
}

/// Adds a tensor. The arguments are (name, tensor or `DLTensor*`, which is copied[, whether to
/// replace an earlier one]).
///
/// # Errors
/// InternalError if the name is taken and may not be replaced.
pub(super) fn update(args: &[AnyView<'_>]) -> Result<Any> {
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
pub(super) fn remove(name: String) {
    CACHE.remove(name.as_bytes());
}

/// Removes all tensors.
pub(super) fn clear() {
    CACHE.clear();
}
