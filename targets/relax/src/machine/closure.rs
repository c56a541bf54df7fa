//! Closures: functions of the model as values.

use core::mem::ManuallyDrop;

use ferrite_core::abi::TVMFFIObject;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;
use ferrite_core::object_alloc::{self, ObjectRecord};
use ferrite_core::{Any, AnyView, Function, String, object_class, plain_bail, plain_ensure};

use super::arguments::with_both;
use super::{Context, Machine, name_value};
use crate::class::Class;
use crate::executable::{Executable, FunctionKind};

static CLASS: Class = Class::new("relax.vm.Closure");

object_class! {
    /// A reference to a closure: a name, and a function that takes the machine in front of its arguments.
    ///
    /// # Upstream
    /// `VMClosure` in `include/tvm/runtime/vm/vm.h`, of the same layout.
    pub struct Closure, CLASS.index(), "relax.vm.Closure"
}

#[repr(C)]
struct ClosureRecord {
    header: TVMFFIObject,
    name: ManuallyDrop<String>,
    function: ManuallyDrop<Function>,
}

// SAFETY: repr(C), header first.
unsafe impl ObjectRecord for ClosureRecord {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        let record = this.cast::<ClosureRecord>();
        // SAFETY: the record is initialised and ours alone.
        unsafe {
            ManuallyDrop::drop(&mut (*record).name);
            ManuallyDrop::drop(&mut (*record).function);
        }
    }
}

impl Closure {
    /// Makes a closure of a function that takes the machine in front of its arguments.
    ///
    /// # Errors
    /// MemoryError.
    pub fn new(name: String, function: Function) -> Result<Closure> {
        let index = CLASS.register()?;
        let mut content = Some((ManuallyDrop::new(name), ManuallyDrop::new(function)));
        let init = |record: *mut ClosureRecord| {
            if let Some((name, function)) = content.take() {
                // SAFETY: the record has room for both.
                unsafe {
                    (&raw mut (*record).name).write(name);
                    (&raw mut (*record).function).write(function);
                }
            }
        };
        // SAFETY: `init` fills the record; objects of this class have this layout.
        let made = unsafe { object_alloc::allocate(index, 0, init) };
        if let Some((name, function)) = content {
            // No record took them over.
            drop((ManuallyDrop::into_inner(name), ManuallyDrop::into_inner(function)));
        }
        // SAFETY: just made as such.
        made.map(|object| unsafe { Closure::from_object_unchecked(object) })
    }

    /// The closure of a function of an executable. It does not keep the machine, but the executable.
    ///
    /// # Errors
    /// InternalError for a packed function; MemoryError.
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
                plain_bail!(TYPE_ERROR, "A function of a model takes the machine as its first argument");
            };
            let machine: Context = machine.get()?;
            let machine = machine.machine();
            plain_ensure!(
                machine.executable().as_object().ptr_eq(executable.as_object()),
                INTERNAL_ERROR,
                "A closure was called by the machine of another executable"
            );
            machine.call(index, args)
        })?;
        Closure::new(name, function)
    }

    fn record(&self) -> &ClosureRecord {
        // SAFETY: the object is a closure, whose content never changes.
        unsafe { &*self.as_object().as_ptr().cast::<ClosureRecord>() }
    }

    /// The name of the function.
    pub fn name(&self) -> &String {
        &self.record().name
    }

    /// The function, which takes the machine in front of its arguments.
    pub fn function(&self) -> &Function {
        &self.record().function
    }

    /// Calls the closure by a machine.
    ///
    /// # Errors
    /// Those of the function.
    pub fn call(&self, machine: &Machine, args: &[AnyView<'_>]) -> Result<Any> {
        let machine = AnyView::from(&Context::of(machine)).to_owned()?;
        with_both(&[machine.view()], args, |args| self.function().call(args))
    }
}
