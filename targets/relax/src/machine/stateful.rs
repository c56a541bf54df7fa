//! Stateful calls: inputs and outputs stored per function (`set_input`, `invoke_stateful`,
//! `output`), for RPC clients and other callers that set inputs, call and read results in separate
//! steps.

use ferrite_alloc_ext::containers::ArrayObject;
use ferrite_alloc_ext::module::Module;
use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{Any, AnyView, ObjectRef, String, plain_bail, plain_ensure};

use super::bound::with_views;
use super::transfer::to_device;
use super::{Machine, UseGuard};

/// Stored inputs and outputs, by function index.
#[derive(Default)]
pub(super) struct Stateful {
    inputs: Buffer<(usize, Inputs)>,
    outputs: Buffer<(usize, Any)>,
}

/// Arguments of a function, shared with the calls that use them.
type Inputs = ArrayObject;

/// Stores a value for a function. Returns the previous value.
fn put<T>(list: &mut Buffer<(usize, T)>, function: usize, value: T) -> Result<Option<T>> {
    match list.iter_mut().find(|(of, _)| *of == function) {
        Some((_, place)) => Ok(Some(core::mem::replace(place, value))),
        None => {
            list.try_push((function, value))?;
            Ok(None)
        }
    }
}

impl UseGuard<'_> {
    /// Converts arguments to inputs of the model: tensors are copied to its device.
    ///
    /// # Errors
    /// InternalError before initialization; errors of the copies.
    pub(super) fn inputs(&self, args: &[AnyView<'_>]) -> Result<Buffer<Any>> {
        let Some(allocator) = self.pools()?.allocators.first().copied() else {
            plain_bail!(INTERNAL_ERROR, "The virtual machine has no devices");
        };
        let mut inputs = Buffer::try_with_capacity(args.len())?;
        for arg in args {
            inputs.try_push(to_device(arg, allocator)?)?;
        }
        Ok(inputs)
    }
}

impl Machine {
    /// Sets the inputs of a function for [`invoke_stateful`](Machine::invoke_stateful). Tensors on
    /// other devices are copied to the model's device; a `DLTensor*` is always copied. With
    /// `has_parameter_module`, the last argument is a module, and the result of its function
    /// `get_params` is the input.
    ///
    /// # Errors
    /// ValueError for an unknown function; InternalError for a wrong number of arguments and before
    /// initialization; errors of the copies and of the module.
    pub fn set_input(
        &self,
        name: &[u8],
        has_parameter_module: bool,
        args: &[AnyView<'_>],
    ) -> Result<()> {
        let function = self.find(name)?;
        let expected = self.executable().functions()[function].arguments;
        plain_ensure!(
            args.len() == expected,
            INTERNAL_ERROR,
            "The number of provided parameters doesn't match the number of arguments for"
        );
        let entry = self.enter()?;
        let inputs = match args.split_last() {
            Some((module, args)) if has_parameter_module => {
                let mut inputs = entry.inputs(args)?;
                inputs.try_push(parameters(&module.get()?)?)?;
                inputs
            }
            _ => entry.inputs(args)?,
        };
        let inputs = ArrayObject::from_slice(&inputs)?;
        let previous = put(&mut entry.state().stateful.inputs, function, inputs)?;
        drop(previous);
        Ok(())
    }

    /// Calls a function with the stored inputs, and stores the result.
    ///
    /// # Errors
    /// ValueError for an unknown function or one without stored inputs; errors of the function.
    pub fn invoke_stateful(&self, name: &[u8]) -> Result<()> {
        let function = self.find(name)?;
        let entry = self.enter()?;
        let inputs = entry.state().stateful.inputs.iter().find(|(of, _)| *of == function);
        let Some(inputs) = inputs.map(|(_, inputs)| inputs.clone()) else {
            plain_bail!(
                VALUE_ERROR,
                "No inputs set for stateful call of {}; use `set_input` first.",
                name
            );
        };
        let output = with_views(inputs.as_slice(), |args| entry.call(function, args))?;
        let previous = put(&mut entry.state().stateful.outputs, function, output)?;
        drop(previous);
        Ok(())
    }

    /// Returns the stored result of a function, or the nested element to which the indices lead.
    ///
    /// # Errors
    /// ValueError without a stored result, and for an index into a value that is not an Array;
    /// IndexError for an index out of range.
    pub fn output(&self, name: &[u8], indices: &[AnyView<'_>]) -> Result<Any> {
        let entry = self.enter()?;
        let function = self.executable().find(name);
        let outputs = &entry.state().stateful.outputs;
        let Some((_, output)) = outputs.iter().find(|(of, _)| Some(*of) == function) else {
            plain_bail!(
                VALUE_ERROR,
                "No output saved for call of \"{}\"; use `invoke_stateful` to call it first.",
                name
            );
        };
        element(output.clone(), indices)
    }
}

/// Calls the function `get_params` of a module. Returns its result.
fn parameters(module: &Module) -> Result<Any> {
    match module.get_function(&String::new("get_params")?, false)? {
        Some(function) => function.call_packed(&[]),
        None => plain_bail!(VALUE_ERROR, "The parameter module has no function get_params"),
    }
}

/// Returns a value as a tuple; `None` if it is something else.
pub(crate) fn as_tuple(value: &Any) -> Option<&ArrayObject> {
    value.as_object().and_then(ObjectRef::as_class::<ArrayObject>)
}

fn element(mut value: Any, indices: &[AnyView<'_>]) -> Result<Any> {
    for index in indices {
        let Some(tuple) = as_tuple(&value) else {
            plain_bail!(VALUE_ERROR, "Attempted to index into an object that is not an Array.");
        };
        let index: i64 = index.get()?;
        let Some(found) = usize::try_from(index).ok().and_then(|index| tuple.as_slice().get(index))
        else {
            plain_bail!(INDEX_ERROR, "Invalid index ({} >= {}).", &index, tuple.len());
        };
        value = found.clone();
    }
    Ok(value)
}
