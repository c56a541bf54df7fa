//! Modules of kind `relax.VirtualMachine`: machines.

use core::ffi::CStr;

use ferrite_alloc_ext::containers::ArrayObject;
use ferrite_alloc_ext::module::{Module, ModuleImpl};
use ferrite_core::abi::DLDevice;
use ferrite_core::error::Result;
use ferrite_core::names::global_table;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{
    Any, AnyView, Function, ObjectRef, String, plain_bail, plain_ensure, plain_error,
};

use super::held::Held;
use super::{argument, text};
use crate::machine::Machine;
use crate::memory::{Allocator, Kind};

/// Module implementation of a machine.
pub(super) struct MachineModule {
    machine: Machine,
}

impl MachineModule {
    pub(super) fn new(machine: Machine) -> MachineModule {
        MachineModule { machine }
    }
}

/// A method of the module. Takes its arguments, and returns its result.
type Method = fn(&Held<MachineModule>, &[AnyView<'_>]) -> Result<Any>;

/// Creates a row of [`METHODS`]. Builds for web pages link those that a module's user names.
macro_rules! method {
    ($name:literal, $run:expr) => {
        (
            $name,
            ferrite_core::optional_method!(
                &Held<MachineModule>,
                $run,
                "relax.VirtualMachine.",
                $name
            ),
        )
    };
}

const METHODS: &[(&str, Method)] = &[
    ("vm_initialization", initialize),
    method!("set_input", |this, args| set_input(this, false, args)),
    method!("set_input_with_param_module", |this, args| set_input(this, true, args)),
    method!("invoke_stateful", |this, args| {
        this.machine.invoke_stateful(text(args, 0)?).map(|()| Any::NONE)
    }),
    method!("get_output", output),
    method!("get_output_arity", output_arity),
    method!("get_function_arity", function_arity),
    method!("get_function_param_name", parameter_name),
    method!("save_function", save_function),
    method!("invoke_closure", |this, args| {
        let closure = argument(args, 0)?;
        closure.get::<ObjectRef>()?;
        this.machine.invoke(closure, &args[1..])
    }),
    method!("set_instrument", set_instrument),
];

impl ModuleImpl for MachineModule {
    fn kind(&self) -> &CStr {
        c"relax.VirtualMachine"
    }

    /// Looks up a name among the methods of the kind, then the saved functions, then the functions
    /// of the model.
    fn get_function(&self, module: &Module, name: &String) -> Result<Option<Function>> {
        // SAFETY: this is the implementation of the module.
        let held = unsafe { Held::new(module, self) };
        if let Some((_, method)) = METHODS.iter().find(|(key, _)| key.as_bytes() == name.as_bytes())
        {
            return Function::from_packed(move |args| method(&held, args)).map(Some);
        }
        let Some(closure) = self.machine.closure(name.as_bytes())? else { return Ok(None) };
        match self.machine.own_function(&closure) {
            Some(index) => Function::from_packed(move |args| held.machine.call(index, args)),
            None => Function::from_packed(move |args| closure.call(&held.machine, args)),
        }
        .map(Some)
    }
}

/// Implements `vm_initialization`. The arguments are (device type, device id, allocator kind) for
/// each device.
fn initialize(this: &Held<MachineModule>, args: &[AnyView<'_>]) -> Result<Any> {
    plain_ensure!(
        args.len().is_multiple_of(3),
        INTERNAL_ERROR,
        "Check failed: args.size() % 3 == 0 ({} vs. 0) : ",
        args.len() % 3
    );
    let mut allocators = Buffer::try_with_capacity(args.len() / 3)?;
    for device in args.chunks_exact(3) {
        let place = DLDevice { device_type: device[0].get()?, device_id: device[1].get()? };
        allocators.try_push(Allocator::new(place, Kind::from_number(device[2].get()?)?)?)?;
    }
    let imports = this.module().imports()?;
    this.machine.initialize(allocators, &|name| resolve(&imports, name))?;
    Ok(Any::NONE)
}

/// Looks up a function in the imports, then in the global table.
pub(crate) fn resolve(imports: &ArrayObject, name: &[u8]) -> Result<Option<Function>> {
    let key = String::from_bytes(name)?;
    for import in imports.as_slice() {
        let Some(import) = import.as_object().and_then(ObjectRef::as_class::<Module>) else {
            continue;
        };
        if let Some(function) = import.get_function(&key, true)? {
            return Ok(Some(function));
        }
    }
    global_table::get(name)
}

fn set_input(
    this: &Held<MachineModule>,
    has_parameter_module: bool,
    args: &[AnyView<'_>],
) -> Result<Any> {
    this.machine.set_input(text(args, 0)?, has_parameter_module, &args[1..])?;
    Ok(Any::NONE)
}

fn as_tuple(value: &Any) -> Option<&ArrayObject> {
    value.as_object().and_then(ObjectRef::as_class::<ArrayObject>)
}

fn output(this: &Held<MachineModule>, args: &[AnyView<'_>]) -> Result<Any> {
    let value = this.machine.output(text(args, 0)?, &args[1..])?;
    if as_tuple(&value).is_some() {
        plain_bail!(
            VALUE_ERROR,
            "`get_output` cannot return a tuple for RPC compatibility. Please specify another index argument."
        );
    }
    Ok(value)
}

fn output_arity(this: &Held<MachineModule>, args: &[AnyView<'_>]) -> Result<Any> {
    let value = this.machine.output(text(args, 0)?, &args[1..])?;
    Ok(as_tuple(&value).map_or(-1, |tuple| tuple.len() as i64).into())
}

fn function_arity(this: &Held<MachineModule>, args: &[AnyView<'_>]) -> Result<Any> {
    Ok((this.machine.parameters(text(args, 0)?)?.len() as i64).into())
}

fn parameter_name(this: &Held<MachineModule>, args: &[AnyView<'_>]) -> Result<Any> {
    let (name, index) = (text(args, 0)?, argument(args, 1)?.get::<i64>()?);
    let mut parameters = this.machine.parameters(name)?;
    let count = parameters.len();
    match usize::try_from(index).ok().and_then(|index| parameters.nth(index)) {
        Some(parameter) => Ok(String::from_bytes(parameter)?.into()),
        None => {
            plain_bail!(VALUE_ERROR, "Invalid index for {} ({} out of {})", name, &index, count)
        }
    }
}

/// Implements `save_function`. The arguments are (function, new name, whether to return the result,
/// arguments…).
fn save_function(this: &Held<MachineModule>, args: &[AnyView<'_>]) -> Result<Any> {
    let saved_name: String = argument(args, 1)?.get()?;
    let include_return: bool = argument(args, 2)?.get()?;
    this.machine.save_function(text(args, 0)?, saved_name, include_return, &args[3..])?;
    Ok(Any::NONE)
}

/// Implements `set_instrument`. The arguments are an instrument, or the name of a global function
/// that creates one from the remaining arguments.
fn set_instrument(this: &Held<MachineModule>, args: &[AnyView<'_>]) -> Result<Any> {
    let instrument = argument(args, 0)?;
    let instrument: Function = match instrument.try_get()? {
        Some(function) => function,
        None => {
            let name = text(args, 0)?;
            let factory = global_table::get(name)?
                .ok_or_else(|| plain_error!(INTERNAL_ERROR, "Cannot find factory {}", name))?;
            factory.call_packed(&args[1..])?.get()?
        }
    };
    this.machine.set_instrument(Some(instrument))?;
    Ok(Any::NONE)
}
