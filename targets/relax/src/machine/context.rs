//! The machine as builtins receive it: an opaque pointer among their arguments.

use core::ffi::c_void;

use ferrite_core::abi::type_index;
use ferrite_core::error::Result;
use ferrite_core::{Any, AnyView, plain_bail, plain_error};

use super::{Machine, running};
use crate::memory::Allocator;

/// A borrowed machine, as builtins use it.
///
/// Models pass the machine as an opaque pointer, the first argument of builtins that need one.
/// [`Context::with`] finds it.
#[derive(Clone, Copy)]
pub struct Context<'a>(&'a Machine);

impl<'a> Context<'a> {
    /// Borrows a machine.
    pub fn of(machine: &'a Machine) -> Context<'a> {
        Context(machine)
    }

    /// Returns the machine.
    pub fn machine(self) -> &'a Machine {
        self.0
    }

    /// Returns the allocator of a device, by its index among the devices of `vm_initialization`.
    /// The index -1 is the host, which is the last device.
    ///
    /// # Errors
    /// InternalError if the machine has no such device; RuntimeError while another thread uses the
    /// machine.
    pub fn allocator(self, device_index: i64) -> Result<Allocator> {
        let entry = self.0.enter()?;
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
    /// Errors of the function; TypeError for a value that is not an object, InternalError for an
    /// object of another class.
    pub fn invoke(self, callee: &AnyView<'_>, args: &[AnyView<'_>]) -> Result<Any> {
        self.0.invoke(callee, args)
    }
}

impl Context<'_> {
    /// Runs `body` with the machine that a builtin received as an argument. The pointer is compared
    /// with the addresses of the machines that run on this thread, and not followed.
    ///
    /// # Errors
    /// Errors of `body`; ValueError for null; TypeError if no machine with this address runs on
    /// this thread.
    #[inline]
    pub fn with<R>(machine: *mut c_void, body: impl FnOnce(Context<'_>) -> Result<R>) -> Result<R> {
        match running::find(machine) {
            // SAFETY: the machine runs on this thread, in a frame that ends after `body`, and is
            // borrowed until then.
            Some(running) => body(Context(unsafe { running.as_ref() })),
            None => unknown(machine),
        }
    }

    /// Runs `body` with the machine that a packed builtin received as an argument, as
    /// [`with`](Context::with) does.
    ///
    /// # Errors
    /// Errors of `with`; TypeError if the argument is not a pointer.
    pub fn with_argument<R>(
        machine: &AnyView<'_>,
        body: impl FnOnce(Context<'_>) -> Result<R>,
    ) -> Result<R> {
        Context::with(machine.get()?, body)
    }
}

#[cold]
fn unknown<R>(machine: *mut c_void) -> Result<R> {
    if machine.is_null() {
        plain_bail!(VALUE_ERROR, "The machine must not be null");
    }
    plain_bail!(
        TYPE_ERROR,
        "The virtual machine is one of another runtime, or does not run on this thread"
    )
}

/// Returns a machine as the argument of builtins.
pub(super) fn machine_view(machine: &Machine) -> AnyView<'_> {
    pointer_view(core::ptr::from_ref(machine).cast_mut().cast())
}

/// Returns an opaque pointer as an argument.
pub(crate) fn pointer_view<'a>(pointer: *mut c_void) -> AnyView<'a> {
    let mut cell = *AnyView::NONE.as_raw();
    cell.type_index = type_index::OPAQUE_PTR;
    cell.payload.v_ptr = pointer;
    // SAFETY: an opaque pointer is plain data.
    unsafe { AnyView::from_raw(cell) }
}
