//! `ffi.ContainerFindFirstNonCPUDevice`.
#![forbid(unsafe_code)]

use ferrite_core::abi::{DLDevice, kDLCPU};
use ferrite_core::any::Any;
use ferrite_core::convert::AnyCompatible;
use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;
use ferrite_core::tensor::Tensor;

use crate::containers::seq::reverse;
use crate::containers::{ArrayObject, DictObject, ListObject, MapObject};

/// The device of the first tensor off the CPU in nested sequences and map values, depth first; else the CPU.
///
/// # Upstream
///
/// `FindFirstNonCPUDevice` in `src/ffi/container.cc`, which recurses.
pub(super) fn find_first_non_cpu(container: Any) -> Result<DLDevice> {
    // Values still to look at, the next one last.
    let mut pending = Buffer::new();
    pending.try_push(container)?;
    while let Some(value) = pending.pop() {
        if let Some(tensor) = Tensor::try_from_view(value.view())?
            && tensor.device().device_type != kDLCPU
        {
            return Ok(tensor.device());
        }
        let start = pending.len();
        push_children(&value, &mut pending)?;
        if let Some(children) = pending.get_mut(start..) {
            reverse(children);
        }
    }
    Ok(DLDevice { device_type: kDLCPU, device_id: 0 })
}

fn push_children(value: &Any, pending: &mut Buffer<Any>) -> Result<()> {
    if let Some(array) = ArrayObject::try_from_view(value.view())? {
        array.as_slice().iter().try_for_each(|element| pending.try_push(element.clone()))?;
    } else if let Some(list) = ListObject::try_from_view(value.view())? {
        (0..).map_while(|index| list.element(index)).try_for_each(|element| pending.try_push(element))?;
    } else if let Some(map) = MapObject::try_from_view(value.view())? {
        map.iter().try_for_each(|(_, value)| pending.try_push(value.clone()))?;
    } else if let Some(dict) = DictObject::try_from_view(value.view())? {
        dict.iter().try_for_each(|(_, value)| pending.try_push(value))?;
    }
    Ok(())
}
