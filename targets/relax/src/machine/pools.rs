//! State of a machine set by `vm_initialization`: allocators, literals, and callees.

use core::ffi::c_void;

use ferrite_core::abi::{TVMFFIFunctionCell, TVMFFISafeCallType};
use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::device;
use ferrite_core::{Any, AnyView, Function, ObjectRef, Tensor, plain_bail, plain_ensure};

use super::{Closure, Machine, context, copy_tensor_to, native};
use crate::builtins::{self, Body};
#[cfg(feature = "all-builtins")]
use crate::compiled::ValueList;
use crate::executable::{Executable, FunctionInfo, FunctionKind};
use crate::memory::Allocator;

/// Resolver of functions that are not builtins: kernels, or global functions of the process.
pub type Resolve<'a> = dyn Fn(&[u8]) -> Result<Option<Function>> + 'a;

/// A resolved function, as the interpreter calls it.
pub(super) enum Callee {
    /// A builtin of this crate.
    Builtin(Body),
    /// Any other function. The literals own its object.
    Packed { safe_call: TVMFFISafeCallType, handle: *mut c_void },
    /// A bytecode function.
    Bytecode,
    /// A native function, which takes value lists.
    Native(Function),
}

/// Lists of values that native code accesses.
#[cfg(feature = "all-builtins")]
#[derive(Default)]
struct NativeLists {
    constants: ValueList,
    functions: ValueList,
}

/// Allocators, literals and callees of an initialized machine.
pub(super) struct Pools {
    /// Allocator of each device. Device 0 is the model's; the last device is a CPU and stores
    /// shapes.
    pub allocators: Buffer<Allocator>,
    /// Constants, functions, None, the machine, and the immediates.
    pub literals: Buffer<Any>,
    /// Callee of each function.
    pub callees: Buffer<Callee>,
    /// Lists for native code; empty if the executable has none.
    #[cfg(feature = "all-builtins")]
    native: NativeLists,
    constants: usize,
    /// Index of the machine among the literals.
    machine_at: usize,
}

// SAFETY: the handles are those of functions among the literals, which any thread may use.
unsafe impl Send for Pools {}
// SAFETY: as above.
unsafe impl Sync for Pools {}

impl Pools {
    pub(super) fn new(
        machine: &Machine,
        allocators: Buffer<Allocator>,
        resolve: &Resolve<'_>,
    ) -> Result<Pools> {
        let (Some(first), Some(last)) = (allocators.first().copied(), allocators.last()) else {
            plain_bail!(INTERNAL_ERROR, "A virtual machine needs at least one device");
        };
        plain_ensure!(
            last.device().device_type == device::kind::CPU,
            INTERNAL_ERROR,
            "The last device of a virtual machine must be a CPU, which holds shapes"
        );
        let executable = machine.executable();
        let functions = executable.functions();
        let immediates = executable.code().immediates();
        let constants = executable.constants().len();
        let mut literals =
            Buffer::try_with_capacity(constants + functions.len() + 2 + immediates.len())?;
        for constant in executable.constants() {
            literals.try_push(constant_on(constant, first)?)?;
        }
        let mut callees = Buffer::try_with_capacity(functions.len())?;
        for (index, info) in functions.iter().enumerate() {
            let (callee, function) = callee_of(executable, index, info, resolve)?;
            callees.try_push(callee)?;
            literals.try_push(function)?;
        }
        #[cfg(feature = "all-builtins")]
        let mut native = NativeLists::default();
        #[cfg(feature = "all-builtins")]
        if functions.iter().any(|info| info.kind == FunctionKind::Compiled) {
            let (before, behind) = literals.split_at(constants);
            native = NativeLists {
                constants: ValueList::of(before)?,
                functions: ValueList::of(behind)?,
            };
        }
        literals.try_push(Any::NONE)?;
        let machine_at = literals.len();
        literals.try_push(Any::NONE)?;
        for immediate in immediates {
            literals.try_push(Any::from(*immediate))?;
        }
        Ok(Pools {
            allocators,
            literals,
            callees,
            #[cfg(feature = "all-builtins")]
            native,
            constants,
            machine_at,
        })
    }

    /// Updates the machine's address among the literals: the machine may have moved since its last
    /// call.
    #[inline]
    pub(super) fn set_machine(&mut self, machine: &Machine) {
        let pointer = context::machine_view(machine).retain();
        if let (Some(literal), Some(pointer)) = (self.literals.get_mut(self.machine_at), pointer) {
            *literal = pointer;
        }
    }

    /// Returns the constants and the functions, in the layout that native code expects.
    pub(super) fn native_lists(&self) -> [*mut Any; 2] {
        #[cfg(feature = "all-builtins")]
        return [self.native.constants.start(), self.native.functions.start()];
        #[cfg(not(feature = "all-builtins"))]
        [0, self.constants].map(|first| self.literals.as_ptr().wrapping_add(first).cast_mut())
    }

    /// Returns a function as a value; None for an unknown one.
    pub(super) fn function_value(&self, function: usize) -> AnyView<'_> {
        self.literals.get(self.constants + function).map_or(AnyView::NONE, Any::view)
    }

    /// Returns the native code of a function.
    pub(super) fn code(&self, function: usize) -> Result<&Function> {
        match self.callees.get(function) {
            Some(Callee::Native(code)) => Ok(code),
            _ => plain_bail!(INTERNAL_ERROR, "Function {} has no native code", function),
        }
    }
}

/// Returns a constant for use by the model. Tensors are copied to the model's device unless it is a
/// CPU.
fn constant_on(constant: &Any, allocator: Allocator) -> Result<Any> {
    match constant.as_object().and_then(ObjectRef::as_class::<Tensor>) {
        Some(tensor)
            if cfg!(feature = "devices") && allocator.device().device_type != device::kind::CPU =>
        {
            Ok(copy_tensor_to(tensor, allocator)?.into())
        }
        _ => Ok(constant.clone()),
    }
}

/// Resolves a function. Returns its callee and its value.
fn callee_of(
    executable: &Executable,
    index: usize,
    info: &FunctionInfo,
    resolve: &Resolve<'_>,
) -> Result<(Callee, Any)> {
    let name = executable.name(info);
    let callee = match info.kind {
        FunctionKind::Packed => return packed(name, resolve),
        FunctionKind::Bytecode => Callee::Bytecode,
        FunctionKind::Compiled => Callee::Native(code_of(name, resolve)?),
    };
    Ok((callee, Closure::of_function(executable, index)?.into()))
}

/// Resolves the native code of a function.
fn code_of(name: &[u8], resolve: &Resolve<'_>) -> Result<Function> {
    let mut symbol = Buffer::try_with_capacity(native::PREFIX.len() + name.len())?;
    symbol.try_extend_from_slice(native::PREFIX)?;
    symbol.try_extend_from_slice(name)?;
    match resolve(&symbol)? {
        Some(code) => Ok(code),
        None => {
            plain_bail!(
                INTERNAL_ERROR,
                "Cannot find underlying compiled tirx function of VMTIRFunc {}",
                name
            )
        }
    }
}

/// Resolves a packed function: a builtin of this crate, or else through `resolve`.
fn packed(name: &[u8], resolve: &Resolve<'_>) -> Result<(Callee, Any)> {
    if let Some(builtin) = builtins::find(name)
        && let Some(body) = builtin.implementation()
    {
        return Ok((Callee::Builtin(body), builtin.to_value()?));
    }
    match resolve(name)? {
        Some(function) => Ok((direct(&function)?, function.into())),
        None => plain_bail!(
            INTERNAL_ERROR,
            "Error: Cannot find ffi::Function {} in either Relax VM kernel library, or in TVM runtime ffi::Function registry, or in \
             global Relax functions of the VM executable",
            name;
            "no function {}",
            name
        ),
    }
}

/// Returns a callee that calls the function's safe call directly.
fn direct(function: &Function) -> Result<Callee> {
    let object = function.as_object().as_ptr();
    // SAFETY: the cell follows the header of every function object (ABI).
    let cell = unsafe { &*object.add(1).cast::<TVMFFIFunctionCell>() };
    match cell.safe_call {
        Some(safe_call) => Ok(Callee::Packed { safe_call, handle: object.cast() }),
        None => plain_bail!(VALUE_ERROR, "The function object has no safe_call"),
    }
}
