//! Arguments and results of remote calls: tensors move between this process and the server.

use ferrite::device::{Device, DeviceTensor};
use ferrite::{Any, AnyView, Function, Tensor};

use crate::call::Argument;
use crate::failure::Outcome;

/// Arguments on a server.
pub struct RemoteArguments(Vec<Any>);

impl RemoteArguments {
    /// Copies the tensors among the arguments to a device of the server.
    ///
    /// # Errors
    /// Errors of the server.
    pub fn new(arguments: &[Argument], device: Device) -> Outcome<RemoteArguments> {
        let copied = arguments.iter().map(|argument| moved(&argument.value, device));
        Ok(RemoteArguments(copied.collect::<Outcome<_>>()?))
    }

    /// Borrows the arguments for a call.
    pub fn views(&self) -> Vec<AnyView<'_>> {
        self.0.iter().map(AnyView::from).collect()
    }

    /// Copies the new tensors back, to which the function may have written.
    ///
    /// # Errors
    /// Errors of the server.
    pub fn fetch_outputs(&self, arguments: &mut [Argument]) -> Outcome<()> {
        for (argument, remote) in arguments.iter_mut().zip(&self.0) {
            if argument.is_output {
                argument.value = moved(remote, Device::CPU)?;
            }
        }
        Ok(())
    }
}

/// Calls a function of the server. The results are in this process.
///
/// # Errors
/// Errors of the function and of the server.
pub fn call(function: &Function, arguments: &mut [Argument], device: Device) -> Outcome<Any> {
    let remote = RemoteArguments::new(arguments, device)?;
    let result = function.call_packed(&remote.views())?;
    remote.fetch_outputs(arguments)?;
    moved(&result, Device::CPU)
}

/// Returns a tensor's copy on a device, and other values as they are.
fn moved(value: &Any, device: Device) -> Outcome<Any> {
    match value.try_get::<Tensor>()? {
        Some(tensor) => {
            let moved = DeviceTensor::try_from(tensor)?.to_device(device)?;
            Ok(Any::new(moved.into_tensor()))
        }
        None => Ok(value.clone()),
    }
}
