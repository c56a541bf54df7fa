//! Checks of tensors passed to samplers, with upstream's messages.

use ferrite_core::abi::DLDataType;
use ferrite_core::error::Result;
use ferrite_core::tensor::{Element, Elements};
use ferrite_core::value::device::kind::CPU;
use ferrite_core::{Tensor, plain_ensure};

/// Returns the elements of a compact tensor.
///
/// # Errors
/// InternalError with the message of upstream's check for a tensor of another dtype; RuntimeError
/// while the elements are borrowed for writing.
pub(super) fn elements<'a, T: Element>(
    tensor: &'a Tensor,
    name: &'static str,
    hint: &'static str,
) -> Result<Elements<'a, T>> {
    check_dtype(tensor, T::DTYPE, name, hint)?;
    tensor.as_slice::<T>()
}

/// Checks that a tensor is compact and has this dtype.
pub(super) fn check_dtype(
    tensor: &Tensor,
    dtype: DLDataType,
    name: &'static str,
    hint: &'static str,
) -> Result<()> {
    plain_ensure!(
        tensor.is_contiguous(),
        INTERNAL_ERROR,
        "Check failed: ({}.IsContiguous()) is false: ",
        name
    );
    let expected = if dtype == f32::DTYPE {
        "DLDataType{kDLFloat, 32, 1}"
    } else {
        "DLDataType{kDLInt, 32, 1}"
    };
    plain_ensure!(
        tensor.dtype() == dtype,
        INTERNAL_ERROR,
        "Check failed: (({}.DataType() == {})) is false: {}",
        name,
        expected,
        hint
    );
    Ok(())
}

/// Checks that a tensor to be changed in place is in main memory.
pub(super) fn check_device(tensor: &Tensor, name: &'static str) -> Result<()> {
    plain_ensure!(
        tensor.device().device_type == CPU,
        INTERNAL_ERROR,
        "Check failed: ({}->device.device_type == kDLCPU) is false: {} device must be CPU!",
        name,
        name
    );
    Ok(())
}

/// Returns the last extent of a tensor; `0` if it is negative or there is none.
pub(super) fn last_extent(tensor: &Tensor) -> usize {
    tensor.shape().last().and_then(|extent| usize::try_from(*extent).ok()).unwrap_or(0)
}
