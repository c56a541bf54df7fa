//! The machine as builtins receive it: an opaque pointer among their arguments.

use core::ffi::c_void;
use core::ptr::NonNull;

use ferrite_core::convert::AnyCompatible;
use ferrite_core::error::Result;
use ferrite_core::{Any, AnyView, any_from, any_texts, plain_bail, plain_ensure, plain_error, type_index};

use super::{MAGIC, Machine};
use crate::memory::Allocator;

/// A borrowed machine, the first argument of builtins that need one: `fn alloc_storage(machine: Context, …)`.
///
/// Valid until the builtin returns.
#[derive(Clone, Copy, Debug)]
pub struct Context(NonNull<Machine>);

impl Context {
    /// Borrows a machine.
    pub fn of(machine: &Machine) -> Context {
        Context(NonNull::from(machine))
    }

    /// Returns the machine.
    pub fn machine(&self) -> &Machine {
        // SAFETY: the machine runs the builtin that got this pointer, and outlives the call.
        unsafe { self.0.as_ref() }
    }

    /// Returns the allocator of a device, by its index among the devices of `vm_initialization`. The index -1 is the host,
    /// which is the last device.
    ///
    /// # Errors
    /// InternalError if the machine has no such device; RuntimeError while another thread uses the machine.
    pub fn allocator(&self, device_index: i64) -> Result<Allocator> {
        let entry = self.machine().enter()?;
        let allocators = &entry.pools()?.allocators;
        let index = match device_index {
            -1 => allocators.len().checked_sub(1),
            _ => usize::try_from(device_index).ok(),
        };
        match index.and_then(|index| allocators.get(index)) {
            Some(allocator) => Ok(*allocator),
            None => Err(plain_error!(
                INTERNAL_ERROR,
                "Check failed: device_index < vm->devices.size() ({} vs. {}) : The device index is out of VM physical devices \
                 list",
                &device_index,
                allocators.len();
                "no device {}",
                &device_index
            )),
        }
    }

    /// Calls a closure or a packed function, as `vm.builtin.invoke_closure` does.
    ///
    /// # Errors
    /// Errors of the function; InternalError for any other value.
    pub fn invoke(&self, callee: &AnyView<'_>, args: &[AnyView<'_>]) -> Result<Any> {
        self.machine().invoke(callee, args)
    }
}

any_from!(Context);

// SAFETY: an opaque pointer is not owned, and the cell is the one that the ABI defines for type index 4.
unsafe impl AnyCompatible for Context {
    any_texts!("void*", "void*");

    fn view(&self) -> AnyView<'_> {
        pointer_view(self.0.as_ptr().cast())
    }

    fn into_any(self) -> Any {
        // SAFETY: an opaque pointer owns nothing.
        unsafe { Any::from_raw(*self.view().as_raw()) }
    }

    /// Accepts a pointer to a machine of this crate. Returns an error for a machine of another runtime, which lacks the
    /// magic number.
    fn try_from_view(view: AnyView<'_>) -> Result<Option<Context>> {
        let Some(address) = view.try_get::<*mut c_void>()? else { return Ok(None) };
        let Some(machine) = NonNull::new(address.cast::<Machine>()) else {
            plain_bail!(VALUE_ERROR, "The machine must not be null");
        };
        // SAFETY: whoever passes a pointer of type `void*` to a builtin vouches that it is a machine, which is at least as large.
        let magic = unsafe { machine.cast::<u64>().read() };
        plain_ensure!(magic == MAGIC, TYPE_ERROR, "The virtual machine is one of another runtime");
        Ok(Some(Context(machine)))
    }
}

/// Returns an opaque pointer as an argument.
pub(crate) fn pointer_view<'a>(pointer: *mut c_void) -> AnyView<'a> {
    let mut cell = *AnyView::NONE.as_raw();
    cell.type_index = type_index::OPAQUE_PTR;
    cell.payload.v_ptr = pointer;
    // SAFETY: an opaque pointer is plain data.
    unsafe { AnyView::from_raw(cell) }
}
