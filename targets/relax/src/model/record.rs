//! The model object.

use core::mem::ManuallyDrop;

use ferrite_core::abi::TVMFFIObject;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;
use ferrite_core::object_alloc::{ObjectRecord, allocate};
use ferrite_core::{Any, AnyView, object_class, plain_bail};

use crate::class::Class;
use crate::executable::Executable;
use crate::machine::{Machine, Resolve};
use crate::memory::Kind;

static CLASS: Class = Class::new("ferrite.Model");

object_class! {
    /// Shared reference to a model that is initialized for the CPU.
    ///
    /// # Threads
    /// One thread at a time may run a model: a call from another thread meanwhile is an error.
    pub struct Model, CLASS.index(), "ferrite.Model"
}

#[repr(C)]
struct ModelRecord {
    header: TVMFFIObject,
    machine: ManuallyDrop<Machine>,
}

// SAFETY: repr(C), header first.
unsafe impl ObjectRecord for ModelRecord {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        // SAFETY: the record is initialised and ours alone.
        unsafe { ManuallyDrop::drop(&mut (*this.cast::<ModelRecord>()).machine) };
    }
}

impl Model {
    /// Creates a model from an executable. `resolve` finds the functions that are not builtins.
    ///
    /// # Errors
    /// Same errors as [`Machine::initialize_on_cpu`].
    pub fn new(executable: Executable, kind: Kind, resolve: &Resolve<'_>) -> Result<Model> {
        let index = CLASS.register()?;
        let mut machine = Some(Machine::new(executable));
        let init = |record: *mut ModelRecord| {
            if let Some(machine) = machine.take() {
                // SAFETY: the record has room for the machine.
                unsafe { (&raw mut (*record).machine).write(ManuallyDrop::new(machine)) };
            }
        };
        // SAFETY: `init` fills the record; objects of this class have this layout.
        let model = unsafe { Model::from_object_unchecked(allocate(index, 0, init)?) };
        // Once it is in its place: its address is its identity.
        model.machine().initialize_on_cpu(kind, resolve)?;
        Ok(model)
    }

    /// Returns the machine.
    pub fn machine(&self) -> &Machine {
        // SAFETY: the object is a model, whose machine stays while it lives.
        unsafe { &(*self.as_object().as_ptr().cast::<ModelRecord>()).machine }
    }

    /// Calls a function of the model by name.
    ///
    /// # Errors
    /// ValueError for an unknown function; as for [`Machine::call`].
    pub fn call(&self, function: &[u8], args: &[AnyView<'_>]) -> Result<Any> {
        match self.machine().executable().find(function) {
            Some(index) => self.machine().call(index, args),
            None => plain_bail!(VALUE_ERROR, "Unknown function: {}", function),
        }
    }
}
