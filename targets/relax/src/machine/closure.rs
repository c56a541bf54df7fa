//! Closures: functions of a model as first-class values.

use core::mem::ManuallyDrop;

use ferrite_core::abi::TVMFFIObject;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;
use ferrite_core::object::object_alloc::{self, ObjectRecord};
use ferrite_core::{Any, AnyView, Function, String, object_class, plain_bail, plain_ensure};

use super::arguments::with_both;
use super::context::machine_view;
use super::{Context, Machine, name_value};
use crate::class::Class;
use crate::executable::{Executable, FunctionKind};

static CLASS: Class = Class::new("relax.vm.Closure");

object_class! {
    /// Reference to a closure: a name, and a function that takes the machine before its other
    /// arguments.
    ///
    /// # Upstream
    /// `VMClosure` in `include/tvm/runtime/vm/vm.h`, with the same memory layout.
    pub struct Closure, CLASS.index(), "relax.vm.Closure"
}

#[repr(C)]
struct VmClosureRecord {
    header: TVMFFIObject,
    name: ManuallyDrop<String>,
    function: ManuallyDrop<Function>,
}

// SAFETY: repr(C), header first.
unsafe impl ObjectRecord for VmClosureRecord {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        let record = this.cast::<VmClosureRecord>();
        // SAFETY: the record is initialised and ours alone.
        unsafe {
            ManuallyDrop::drop(&mut (*record).name);
            ManuallyDrop::drop(&mut (*record).function);
        }
    }
}

impl Closure {
    /// Creates a closure from a function that takes the machine before its other arguments.
    ///
    /// # Errors
    /// TypeError if a Rust class of the program has the type key; MemoryError.
    pub fn new(name: String, function: Function) -> Result<Closure> {
        let index = CLASS.register()?;
        // SAFETY: the record has room for both.
        let init = move |record: *mut VmClosureRecord| unsafe {
            (&raw mut (*record).name).write(ManuallyDrop::new(name));
            (&raw mut (*record).function).write(ManuallyDrop::new(function));
        };
        // SAFETY: `init` fills the record; objects of this class have this layout.
        unsafe {
            let object = object_alloc::allocate(index, 0, init)?;
            Ok(Closure::from_object_unchecked(object))
        }
    }

    /// Creates the closure of a function of an executable. The closure keeps the executable alive,
    /// but not the machine.
    ///
    /// # Errors
    /// InternalError for a packed function and for an index without a function; TypeError if a Rust
    /// class of the program has the type key; MemoryError.
    pub fn of_function(executable: &Executable, index: usize) -> Result<Closure> {
        let Some(info) = executable.functions().get(index) else {
            plain_bail!(INTERNAL_ERROR, "There is no function {}", index);
        };
        plain_ensure!(
            info.kind != FunctionKind::Packed,
            INTERNAL_ERROR,
            "Cannot support closure with function kind {}",
            info.kind as usize
        );
        let name = name_value(executable.name(info))?;
        let executable = executable.clone();
        let function = Function::from_packed(move |args| {
            let Some((machine, args)) = args.split_first() else {
                plain_bail!(
                    TYPE_ERROR,
                    "A function of a model takes the machine as its first argument"
                );
            };
            Context::with_argument(machine, |context| {
                let machine = context.machine();
                plain_ensure!(
                    machine.executable().as_object().ptr_eq(executable.as_object()),
                    INTERNAL_ERROR,
                    "A closure was called by the machine of another executable"
                );
                machine.call(index, args)
            })
        })?;
        Closure::new(name, function)
    }

    fn record(&self) -> &VmClosureRecord {
        // SAFETY: the object is a closure, whose content never changes.
        unsafe { &*self.as_object().as_ptr().cast::<VmClosureRecord>() }
    }

    /// Returns the name of the function.
    pub fn name(&self) -> &String {
        &self.record().name
    }

    /// Returns the function, which takes the machine before its other arguments.
    pub fn function(&self) -> &Function {
        &self.record().function
    }

    /// Calls the closure on a machine.
    ///
    /// # Errors
    /// Errors of the function; MemoryError; RuntimeError while another thread uses the machine.
    pub fn call(&self, machine: &Machine, args: &[AnyView<'_>]) -> Result<Any> {
        let _entry = machine.enter()?;
        with_both(&[machine_view(machine)], args, |args| self.function().call_packed(args))
    }
}
