//! `ffi.ContainerFindFirstNonCPUDevice`.

use ferrite_core::abi::{DLDevice, kDLCPU};
use ferrite_core::any::Any;
use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;
use ferrite_core::tensor::Tensor;
use ferrite_core::{type_index, type_table};

use crate::containers::map_table::Table;
use crate::containers::seq::{Seq, reverse};

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
        if let Some(tensor) = value.as_object().and_then(|object| object.as_class::<Tensor>())
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
    let Some(object) = value.as_object() else { return Ok(()) };
    let is = |class| type_table::is_instance(object.type_index(), class);
    if is(type_index::ARRAY) || is(type_index::LIST) {
        // SAFETY: both classes are sequences.
        let seq = unsafe { Seq::of(object) };
        (0..).map_while(|index| seq.get(index)).try_for_each(|element| pending.try_push(element))?;
    } else if is(type_index::MAP) || is(type_index::DICT) {
        // SAFETY: both classes are tables.
        let table = unsafe { Table::of(object) };
        let mut place = table.first();
        while let Some(entry) = place.and_then(|place| table.entry(place)) {
            // SAFETY: the entry is in the table, and no foreign code runs meanwhile.
            pending.try_push(unsafe { entry.copy_value() })?;
            place = place.and_then(|place| table.next(place));
        }
    }
    Ok(())
}
