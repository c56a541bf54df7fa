//! The global function `ffi.ContainerFindFirstNonCPUDevice`.

use ferrite_core::abi::{DLDevice, kDLCPU, type_index};
use ferrite_core::error::Result;
use ferrite_core::names::type_table;
use ferrite_core::object::ObjectRef;
use ferrite_core::object::borrow::Shared;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::tensor::Tensor;
use ferrite_core::value::any::Any;

use crate::containers::sequence::{Seq, reverse};
use crate::containers::table::Table;
use crate::walk::{IdentityMap, is_unshared_besides_walk};

/// Returns the device of the first tensor that is not on the CPU, searching nested sequences and
/// map values depth first. Returns the CPU if there is none.
///
/// # Upstream
/// `FindFirstNonCPUDevice` in `src/ffi/container.cc`, which recurses, does not terminate for a
/// cyclic list, and searches a shared container each time that it reaches it.
pub(super) fn find_first_non_cpu(container: Any) -> Result<DLDevice> {
    // Stack of values to search.
    let mut pending = Buffer::new();
    let mut visited = IdentityMap::default();
    pending.try_push(container)?;
    while let Some(value) = pending.pop() {
        if let Some(tensor) = value.as_object().and_then(|object| object.as_class::<Tensor>())
            && tensor.device().device_type != kDLCPU
        {
            return Ok(tensor.device());
        }
        let start = pending.len();
        push_children(&value, &mut visited, &mut pending)?;
        if let Some(children) = pending.get_mut(start..) {
            reverse(children);
        }
    }
    Ok(DLDevice { device_type: kDLCPU, device_id: 0 })
}

/// Returns `true` at the first visit of a container. Unshared containers are not recorded, since
/// they cannot be reached twice.
fn is_new(container: &ObjectRef, visited: &mut IdentityMap<()>) -> Result<bool> {
    let before = visited.len();
    if !is_unshared_besides_walk(container) {
        visited.insert(container, ())?;
        return Ok(visited.len() > before);
    }
    Ok(true)
}

fn push_children(
    value: &Any,
    visited: &mut IdentityMap<()>,
    pending: &mut Buffer<Any>,
) -> Result<()> {
    let Some(object) = value.as_object() else { return Ok(()) };
    let is = |class| type_table::is_instance(object.type_index(), class);
    let is_sequence = is(type_index::ARRAY) || is(type_index::LIST);
    let is_table = is(type_index::MAP) || is(type_index::DICT);
    if !(is_sequence || is_table) || !is_new(object, visited)? {
        return Ok(());
    }
    let is_mutable = is(type_index::LIST) || is(type_index::DICT);
    let _borrow = is_mutable.then(|| Shared::of(object)).transpose()?;
    if is_sequence {
        // SAFETY: both classes are sequences; a List is borrowed.
        let seq = unsafe { Seq::of(object) };
        (0..)
            .map_while(|index| seq.get(index))
            .try_for_each(|element| pending.try_push(element))?;
    } else {
        // SAFETY: both classes are tables; a Dict is borrowed.
        let table = unsafe { Table::of(object) };
        let mut place = table.first();
        while let Some(entry) = place.and_then(|place| table.entry(place)) {
            // SAFETY: the entry is in the table; the borrow excludes writers.
            pending.try_push(unsafe { entry.copy_value() })?;
            place = place.and_then(|place| table.next(place));
        }
    }
    Ok(())
}
