//! The virtual machine: devices, functions, frames, the interpreter, instruments, saved functions.
//!
//! | file | content |
//! |---|---|
//! | `context` | [`Context`], the machine as builtins see it |
//! | `pools` | state set by `vm_initialization`: allocators, literals and callees |
//! | `owner` | ownership of a machine by one thread at a time |
//! | `running` | the machines that run on a thread |
//! | `frame` | call frames, reused across calls |
//! | `inputs` | alignment of the tensors that come into the model |
//! | `interpreter` | the loop over instructions |
//! | `native` | functions that are native code |
//! | `instrument` | calls of the instrument around calls of functions |
//! | `recordings` | recorded parts of models, and the storages that they use |
//! | `profile` | time of each function, in builds with an operating system |
//! | `closure` | [`Closure`], the class `relax.vm.Closure` |
//! | `arguments` | concatenation of argument lists |
//! | `bound` | functions whose last arguments are bound |
//! | `stateful` | stateful calls: inputs and outputs stored per function |
//! | `saved` | functions that were saved under a name |
//! | `transfer` | copies of values to the model's device |

pub(crate) mod arguments;
mod bound;
mod closure;
mod context;
mod frame;
mod inputs;
mod instrument;
mod interpreter;
mod native;
mod owner;
mod pools;
#[cfg(feature = "std")]
mod profile;
#[cfg(feature = "all-builtins")]
#[cfg_attr(not(feature = "devices"), path = "recordings/host_only.rs")]
mod recordings;
mod running;
mod saved;
mod stateful;
mod transfer;

pub use bound::bind_last_arguments;
pub(crate) use bound::{to_owned_values, with_views};
pub use closure::Closure;
pub use context::Context;
pub(crate) use context::pointer_view;
pub(crate) use inputs::result_needs_check;
pub use pools::Resolve;
#[cfg(feature = "std")]
pub use profile::{OperatorTime, Profile};
#[cfg(feature = "all-builtins")]
pub(crate) use recordings::Part;
pub use transfer::copy_tensor_to;

use core::cell::UnsafeCell;

use ferrite_core::error::message::SHORT;
use ferrite_core::error::{Error, Result};
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::sync::ObjectMutex;
use ferrite_core::platform::text::Writer;
use ferrite_core::{
    Any, AnyView, Function, ObjectRef, String, plain_bail, plain_ensure, plain_error,
};

use crate::executable::{Executable, FunctionKind};
use crate::memory::{Allocator, Kind, SpareTensors};
use frame::Frames;
use owner::Owner;
use pools::Pools;
use saved::SavedFunctions;
use stateful::Stateful;

/// A machine that runs the functions of one executable. Its address is its identity among the
/// arguments of builtins.
///
/// # Threads
/// One thread at a time: a call from another thread during a call is an error.
///
/// # Upstream
/// `VirtualMachineImpl` in `src/runtime/vm/vm.cc`.
pub struct Machine {
    executable: Executable,
    owner: Owner,
    /// Accessed only by the owning thread.
    position: running::Position,
    saved: ObjectMutex<SavedFunctions>,
    /// Set by initialization. Apart from the state, since a call borrows them while it changes the
    /// state.
    pools: UnsafeCell<Option<Pools>>,
    /// Accessed only by the owning thread, as the pools are.
    state: UnsafeCell<MachineState>,
}

/// Mutable state of a machine.
#[derive(Default)]
struct MachineState {
    frames: Frames,
    /// Tensors kept for reuse.
    spare_tensors: SpareTensors,
    instrument: Option<Function>,
    #[cfg(feature = "std")]
    profile: Option<Profile>,
    /// Whether there is an instrument or a profile.
    is_observed: bool,
    /// Error for a result that native code stored, which ignores errors.
    #[cfg(feature = "all-builtins")]
    result_error: Option<Error>,
    stateful: Stateful,
    #[cfg(feature = "all-builtins")]
    recordings: recordings::Recordings,
}

// SAFETY: all parts may be sent; `position` and `state` are used by the owner only, which is one
// thread at a time.
unsafe impl Send for Machine {}
// SAFETY: as above.
unsafe impl Sync for Machine {}

impl Machine {
    /// Creates a machine without devices. [`initialize`](Machine::initialize) makes it ready to
    /// run.
    pub fn new(executable: Executable) -> Machine {
        Machine {
            executable,
            owner: Owner::new(),
            position: running::Position::new(),
            saved: ObjectMutex::new(SavedFunctions::new()),
            pools: UnsafeCell::new(None),
            state: UnsafeCell::new(MachineState::default()),
        }
    }

    /// Returns the executable.
    pub fn executable(&self) -> &Executable {
        &self.executable
    }

    /// Sets the devices, copies the constants to device 0 unless it is a CPU, and resolves all
    /// functions. The last device must be a CPU, which stores shapes.
    ///
    /// # Errors
    /// InternalError for a function that cannot be resolved, or without devices; errors of the
    /// devices; MemoryError; RuntimeError during a call. On an error the machine is unchanged.
    pub fn initialize(&self, allocators: Buffer<Allocator>, resolve: &Resolve<'_>) -> Result<()> {
        let entry = self.enter()?;
        plain_ensure!(
            entry.is_outermost(),
            RUNTIME_ERROR,
            "A virtual machine cannot be initialized while it runs"
        );
        let pools = Pools::new(self, allocators, resolve)?;
        // The previous pools are dropped last, when nothing borrows from the machine.
        // SAFETY: this thread owns the machine, and no call of it is nested, which would borrow the
        // pools.
        let previous = unsafe { (*self.pools.get()).replace(pools) };
        // Recordings use memory of the previous devices.
        #[cfg(feature = "all-builtins")]
        let _ = core::mem::take(&mut entry.state().recordings);
        drop(previous);
        Ok(())
    }

    /// Initializes the machine for the CPU alone, like [`initialize`](Machine::initialize).
    ///
    /// # Errors
    /// Same errors as [`initialize`](Machine::initialize).
    pub fn initialize_on_cpu(&self, kind: Kind, resolve: &Resolve<'_>) -> Result<()> {
        let mut allocators = Buffer::new();
        allocators.try_push(Allocator::new(Allocator::host().device(), kind)?)?;
        self.initialize(allocators, resolve)
    }

    /// Calls a function of the executable, given by its index.
    ///
    /// # Errors
    /// Errors of the function; InternalError before initialization and for a wrong number of
    /// arguments; RuntimeError while another thread uses the machine; ValueError if calls are
    /// nested too deep.
    pub fn call(&self, function: usize, args: &[AnyView<'_>]) -> Result<Any> {
        let entry = self.enter()?;
        entry.call(function, args)
    }

    /// Calls a closure or a packed function.
    ///
    /// # Errors
    /// Same errors as [`call`](Machine::call); TypeError for a value that is not an object,
    /// InternalError for an object of another class.
    pub fn invoke(&self, callee: &AnyView<'_>, args: &[AnyView<'_>]) -> Result<Any> {
        let object: ObjectRef = callee.get()?;
        if let Some(function) = object.as_class::<Function>() {
            return function.call_packed(args);
        }
        match object.as_class::<Closure>() {
            Some(closure) => closure.call(self, args),
            None => plain_bail!(INTERNAL_ERROR, "Function expects a closure or ffi::Function "),
        }
    }

    /// Sets the instrument, which is called before and after every call that an instruction makes.
    /// None removes it.
    ///
    /// # Errors
    /// RuntimeError while another thread uses the machine.
    pub fn set_instrument(&self, instrument: Option<Function>) -> Result<()> {
        let entry = self.enter()?;
        let state = entry.state();
        let previous = core::mem::replace(&mut state.instrument, instrument);
        state.is_observed = state.instrument.is_some();
        #[cfg(feature = "std")]
        {
            state.is_observed |= state.profile.is_some();
        }
        drop(previous);
        Ok(())
    }

    /// Returns the closure of a saved function or of a function of the model; `None` for an unknown
    /// name.
    ///
    /// # Errors
    /// InternalError for a packed function; TypeError if a Rust class of the program has the type
    /// key of closures; MemoryError.
    pub fn closure(&self, name: &[u8]) -> Result<Option<Closure>> {
        if let Some(saved) = self.saved.with_mut(|saved| saved.find(name)) {
            return Ok(Some(saved));
        }
        match self.executable.find(name) {
            Some(index) => Closure::of_function(&self.executable, index).map(Some),
            None => Ok(None),
        }
    }

    #[cfg(feature = "all-builtins")]
    /// Returns the index of the function that a closure of this machine calls; `None` if it is a
    /// saved function.
    pub(crate) fn own_function(&self, closure: &Closure) -> Option<usize> {
        let name = closure.name().as_bytes();
        let is_saved = self.saved.with_mut(|saved| saved.find(name)).is_some();
        if is_saved { None } else { self.executable.find(name) }
    }

    /// Returns the names of a function's parameters; empty for a packed function.
    ///
    /// # Errors
    /// ValueError for an unknown function.
    pub fn parameters(&self, name: &[u8]) -> Result<impl ExactSizeIterator<Item = &[u8]>> {
        let function = self.find(name)?;
        Ok(self.executable.parameters(&self.executable.functions()[function]))
    }

    /// Returns the index of the function with this name.
    ///
    /// # Errors
    /// ValueError for an unknown function.
    pub fn find(&self, name: &[u8]) -> Result<usize> {
        self.executable.find(name).ok_or_else(|| unknown(name))
    }

    /// Returns the allocator of a device, by its index among the devices.
    ///
    /// # Errors
    /// Same errors as [`Context::allocator`].
    pub fn allocator(&self, device_index: i64) -> Result<Allocator> {
        Context::of(self).allocator(device_index)
    }

    /// Returns a result that native code of the running function stores, with tensors that kernels
    /// can use.
    ///
    /// # Errors
    /// Errors of [`UseGuard::align_result`]; the machine keeps them, too, until the code returns.
    pub(crate) fn align_result(&self, result: Any) -> Result<Any> {
        let entry = self.enter()?;
        entry.align_result(result).inspect_err(|error| entry.keep_result_error(error))
    }

    /// Begins a use of the machine by the calling thread.
    fn enter(&self) -> Result<UseGuard<'_>> {
        self.owner.enter()?;
        let entry = UseGuard(self);
        if entry.is_outermost() {
            // SAFETY: this thread has just become the owner, and the entry borrows the machine
            // until it removes it.
            unsafe { running::add(self) };
            entry.set_address();
            entry.state().spare_tensors.begin();
        }
        Ok(entry)
    }
}

fn unknown(name: &[u8]) -> Error {
    plain_error!(VALUE_ERROR, "Unknown function: {}", name)
}

/// Guard of a use of the machine by the owning thread. Uses can be nested.
struct UseGuard<'a>(&'a Machine);

impl Drop for UseGuard<'_> {
    fn drop(&mut self) {
        if self.is_outermost() {
            running::remove(self.0);
        }
        self.0.owner.leave();
    }
}

impl<'a> UseGuard<'a> {
    fn is_outermost(&self) -> bool {
        self.0.owner.depth() == 1
    }

    /// Returns the mutable state. The reference must not be kept across calls of other code.
    #[allow(
        clippy::mut_from_ref,
        reason = "only this thread uses the state, and keeps no reference across calls"
    )]
    fn state(&self) -> &mut MachineState {
        // SAFETY: this thread owns the machine. Callers use the reference without calling anything
        // that enters the machine.
        unsafe { &mut *self.0.state.get() }
    }

    /// Returns the state set by initialization. It does not change during a call.
    fn pools(&self) -> Result<&'a Pools> {
        // SAFETY: this thread owns the machine; pools are replaced only when no call is nested, and
        // this use ends before.
        match unsafe { &*self.0.pools.get() } {
            Some(pools) => Ok(pools),
            None => plain_bail!(
                INTERNAL_ERROR,
                "The virtual machine has no devices yet: call vm_initialization first"
            ),
        }
    }

    /// Tells the functions of the model where the machine is: it may have moved since its last use.
    /// Only for the outermost use.
    #[inline]
    fn set_address(&self) {
        // SAFETY: this thread owns the machine, and calls within this use borrow the pools later.
        if let Some(pools) = unsafe { &mut *self.0.pools.get() } {
            pools.set_machine(self.0);
        }
    }

    fn call(&self, function: usize, args: &[AnyView<'_>]) -> Result<Any> {
        let Some(info) = self.0.executable.functions().get(function) else {
            plain_bail!(INTERNAL_ERROR, "There is no function {}", function);
        };
        let pools = self.pools()?;
        match info.kind {
            FunctionKind::Bytecode => interpreter::run(self, pools, info, args),
            FunctionKind::Compiled => native::run(self, pools, info, pools.code(function)?, args),
            FunctionKind::Packed => self.call_kernel(pools, function, args),
        }
    }

    /// Calls a packed function on arguments of the caller. It may write to any of them, so that
    /// none is copied.
    #[cold]
    fn call_kernel(&self, pools: &Pools, function: usize, args: &[AnyView<'_>]) -> Result<Any> {
        #[cfg(feature = "all-builtins")]
        if let Some(info) = self.0.executable.functions().get(function) {
            inputs::refuse(&self.0.executable, info, args)?;
        }
        self.0.invoke(&pools.function_value(function), args)
    }
}

/// Returns the error for a wrong number of arguments of a bytecode function.
#[cold]
fn wrong_count(
    executable: &Executable,
    info: &crate::executable::FunctionInfo,
    count: usize,
) -> Error {
    if SHORT {
        return plain_error!(INTERNAL_ERROR, "{} arguments, not {}", info.arguments, count);
    }
    let write = |out: &mut Writer<'_>| {
        out.put(b"Invoking function ");
        out.put_lossy(executable.name(info));
        out.put(b" expects ");
        out.put_word(info.arguments);
        out.put(b" arguments");
        for (index, name) in executable.parameters(info).enumerate() {
            out.put(if index == 0 { b" (" } else { b", " });
            out.put_lossy(name);
        }
        if executable.parameters(info).len() > 0 {
            out.put(b")");
        }
        out.put(b", but ");
        out.put_word(count);
        out.put(b" arguments were provided.");
    };
    Error::from_parts(
        ferrite_core::__error_site!(),
        ferrite_core::error::kind::INTERNAL_ERROR,
        &write,
    )
}

/// Converts a name to a String.
fn name_value(name: &[u8]) -> Result<String> {
    String::from_bytes(name)
}
