//! The values of states on the device.

use ferrite_alloc_ext::containers::Array;
use ferrite_core::abi::{DLDevice, DLTensor};
use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::tensor::{Element, TensorView};
use ferrite_core::value::device::kind::CPU;
use ferrite_core::{Function, Tensor, plain_bail, plain_ensure};

use super::sequences::{Sequences, Step};
use crate::memory::{Placement, copy, empty, tensor_over};

/// The values, and the kernels for them.
pub(super) struct Storage {
    slots: i64,
    history: i64,
    /// A tensor for each state of each layer, layer by layer.
    tensors: Buffer<Tensor>,
    gets: Buffer<Function>,
    sets: Buffer<Function>,
    initial: Buffer<Tensor>,
    /// Slots and positions of a step: int32, with room for all slots.
    places: [Tensor; 2],
}

impl Storage {
    /// Allocates the values on the device of the initial ones.
    ///
    /// # Errors
    /// InternalError for initial values on different devices; ValueError for sizes that overflow;
    /// MemoryError; errors of the device.
    pub(super) fn new(
        layers: i64,
        slots: i64,
        history: i64,
        [gets, sets]: [Array<Function>; 2],
        initial: Array<Tensor>,
    ) -> Result<Storage> {
        let initial = collected(&initial)?;
        let Some(device) = initial.first().map(Tensor::device) else {
            plain_bail!(INTERNAL_ERROR, "A model has at least one state");
        };
        let mut tensors = Buffer::new();
        for _ in 0..layers {
            for value in initial.iter() {
                plain_ensure!(
                    is_same(value.device(), device),
                    INTERNAL_ERROR,
                    "The device type of all states should be the same."
                );
                let mut shape = Buffer::new();
                shape.try_extend_from_slice(&[slots, history])?;
                shape.try_extend_from_slice(value.shape())?;
                tensors.try_push(empty(&shape, value.dtype(), device)?)?;
            }
        }
        let places = [empty(&[slots], i32::DTYPE, device)?, empty(&[slots], i32::DTYPE, device)?];
        Ok(Storage {
            slots,
            history,
            tensors,
            gets: collected(&gets)?,
            sets: collected(&sets)?,
            initial,
            places,
        })
    }

    /// Creates an empty set of sequences for this storage.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn no_sequences(&self) -> Result<Sequences> {
        Sequences::new(self.slots, self.history)
    }

    fn tensor(&self, layer: i64, number: i64) -> Result<&Tensor> {
        let states = self.initial.len();
        let number = usize::try_from(number).ok().filter(|number| *number < states);
        let at = usize::try_from(layer)
            .ok()
            .zip(number)
            .and_then(|(layer, number)| layer.checked_mul(states)?.checked_add(number));
        match at.and_then(|at| self.tensors.get(at)) {
            Some(tensor) => Ok(tensor),
            None => plain_bail!(INDEX_ERROR, "There is no such state of layer {}", &layer),
        }
    }

    /// Returns the tensor of a state, and the kernel that gets or sets it.
    ///
    /// # Errors
    /// IndexError if there is no such state.
    pub(super) fn state(
        &self,
        layer: i64,
        number: i64,
        sets: bool,
    ) -> Result<(&Tensor, &Function)> {
        let tensor = self.tensor(layer, number)?;
        let kernels = if sets { &self.sets } else { &self.gets };
        match usize::try_from(number).ok().and_then(|number| kernels.get(number)) {
            Some(kernel) => Ok((tensor, kernel)),
            None => plain_bail!(INDEX_ERROR, "There is no state {}", &number),
        }
    }

    /// Returns a copy of the value of a state in a slot.
    ///
    /// # Errors
    /// IndexError if there is no such state; RuntimeError while its values are borrowed for
    /// writing; MemoryError; errors of the device.
    pub(super) fn copy_of(
        &self,
        layer: i64,
        number: i64,
        slot: i64,
        position: i64,
    ) -> Result<Tensor> {
        let tensor = self.tensor(layer, number)?;
        let from = part(tensor, 2, slot * self.history + position);
        let target =
            empty(tensor.shape().get(2..).unwrap_or_default(), tensor.dtype(), tensor.device())?;
        let _guard = TensorView::from(tensor).read_guard()?;
        // SAFETY: the part lies in the tensor, which nobody writes, and nobody else knows the
        // target.
        unsafe { copy(&from, target.dl_tensor()) }?;
        Ok(target)
    }

    /// Writes the initial values to a slot.
    ///
    /// # Errors
    /// RuntimeError while values are borrowed; errors of the device.
    pub(super) fn initialize(&self, slot: i64) -> Result<()> {
        for (tensor, value) in self.tensors.iter().zip(self.initial.iter().cycle()) {
            let target = part(tensor, 2, slot * self.history);
            let _guards = TensorView::from(value).copy_guards(tensor.into())?;
            // SAFETY: the part lies in the tensor, whose elements are borrowed.
            unsafe { copy(value.dl_tensor(), &target) }?;
        }
        Ok(())
    }

    /// Copies the values of a slot, with their history.
    ///
    /// # Errors
    /// RuntimeError while values are borrowed; errors of the device.
    pub(super) fn copy_slot(&self, from: i64, to: i64) -> Result<()> {
        for tensor in self.tensors.iter() {
            let (from, to) = (part(tensor, 1, from), part(tensor, 1, to));
            let _guard = TensorView::from(tensor).write_guard()?;
            // SAFETY: both parts lie in the tensor, whose elements are borrowed.
            unsafe { copy(&from, &to) }?;
        }
        Ok(())
    }

    /// Copies the slots and positions of a step to the device. Returns them as tensors.
    ///
    /// # Errors
    /// RuntimeError while places of an earlier step are borrowed; MemoryError; errors of the
    /// device.
    pub(super) fn write_places(&self, step: &Step) -> Result<[Tensor; 2]> {
        let write = |values: &[i32], place: &Tensor| -> Result<Tensor> {
            let shape = [values.len() as i64];
            let there = place.dl_tensor();
            let placement = Placement {
                data: there.data,
                byte_offset: there.byte_offset,
                device: there.device,
                dtype: there.dtype,
            };
            // SAFETY: the tensor has room for all slots, and a step has at most as many sequences.
            let view = unsafe { tensor_over(Some(place.as_object()), &placement, &shape)? };
            let host = DLDevice { device_type: CPU, device_id: 0 };
            let source = DLTensor {
                data: values.as_ptr().cast_mut().cast(),
                device: host,
                byte_offset: 0,
                ..*view.dl_tensor()
            };
            let _guard = TensorView::from(place).write_guard()?;
            // SAFETY: both have as many elements, and those of the target are borrowed; kernels
            // that read them were queued before.
            unsafe { copy(&source, view.dl_tensor()) }?;
            Ok(view)
        };
        Ok([write(&step.slots, &self.places[0])?, write(&step.positions, &self.places[1])?])
    }
}

fn collected<T: ferrite_core::value::convert::AnyCompatible + 'static>(
    array: &Array<T>,
) -> Result<Buffer<T>> {
    let mut all = Buffer::try_with_capacity(array.as_slice().len())?;
    for value in array.iter() {
        all.try_push(value?)?;
    }
    Ok(all)
}

fn is_same(one: DLDevice, other: DLDevice) -> bool {
    (one.device_type, one.device_id) == (other.device_type, other.device_id)
}

/// Returns a part of a tensor: element number `index` of the array that its first `dimensions`
/// dimensions form.
fn part(tensor: &Tensor, dimensions: usize, index: i64) -> DLTensor {
    let whole = tensor.dl_tensor();
    let rest = tensor.shape().get(dimensions..).unwrap_or_default();
    let count: i64 = tensor.shape().iter().take(dimensions).product();
    let bytes = tensor.as_tensor_ref().size_bytes().unwrap_or_default() as u64
        / count.max(1).cast_unsigned();
    DLTensor {
        shape: rest.as_ptr().cast_mut(),
        strides: core::ptr::null_mut(),
        ndim: rest.len() as i32,
        byte_offset: whole.byte_offset + index.cast_unsigned() * bytes,
        ..*whole
    }
}
