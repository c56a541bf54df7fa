//! Kernels as function objects: each call is a launch on the thread's current device.

use core::ffi::{c_int, c_void};
use core::mem::ManuallyDrop;
use core::ptr::{self, NonNull};

use ferrite_alloc_ext::module::Module;
use ferrite_core::abi::{DLDevice, TVMFFIAny, TVMFFIFunctionCell, TVMFFIObject, type_index};
use ferrite_core::call::function::serve_in_place;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;
use ferrite_core::object::object_alloc::{self, ObjectRecord};
use ferrite_core::{Any, AnyView, Function};

use super::device_module::DeviceModule;
use crate::driver::Driver;
use crate::launch::{Launch, LaunchPlan, Values};

/// Function object of a kernel: the function header of the C ABI, followed by the kernel and an
/// owned reference to its module.
#[repr(C)]
struct KernelFunction<D: Driver> {
    header: TVMFFIObject,
    cell: TVMFFIFunctionCell,
    /// Implementation of `module`.
    implementation: NonNull<DeviceModule<D>>,
    kernel: usize,
    plan: ManuallyDrop<LaunchPlan>,
    module: ManuallyDrop<Module>,
}

// SAFETY: the type is `repr(C)`, and begins with the header.
unsafe impl<D: Driver> ObjectRecord for KernelFunction<D> {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        let record = this.cast::<KernelFunction<D>>();
        // SAFETY: the record is initialised, and this is its only reference.
        unsafe {
            ManuallyDrop::drop(&mut (*record).plan);
            ManuallyDrop::drop(&mut (*record).module);
        }
    }
}

/// Creates the function object of a kernel. It owns a reference to `module`, whose implementation
/// is `implementation`.
///
/// # Errors
/// MemoryError.
pub(super) fn create<D: Driver>(
    module: Module,
    implementation: &DeviceModule<D>,
    kernel: usize,
    plan: LaunchPlan,
) -> Result<Function> {
    let init = |record: *mut KernelFunction<D>| {
        // SAFETY: the record is large enough for every field; the header is not written.
        unsafe {
            (&raw mut (*record).cell).write(TVMFFIFunctionCell {
                safe_call: Some(call::<D>),
                cpp_call: ptr::null_mut(),
            });
            (&raw mut (*record).implementation).write(NonNull::from(implementation));
            (&raw mut (*record).kernel).write(kernel);
            (&raw mut (*record).plan).write(ManuallyDrop::new(plan));
            (&raw mut (*record).module).write(ManuallyDrop::new(module));
        }
    };
    // SAFETY: `init` initialises the record, which begins with a function header.
    unsafe {
        Ok(Function::from_object_unchecked(object_alloc::allocate(type_index::FUNCTION, 0, init)?))
    }
}

/// Entry point of kernel functions for calls through the C ABI (`safe_call`).
unsafe extern "C" fn call<D: Driver>(
    this: *mut c_void,
    args: *const TVMFFIAny,
    num_args: i32,
    result: *mut TVMFFIAny,
) -> c_int {
    // SAFETY: the handle is a live function with this record, since no other code uses this safe
    // call. The arguments obey the safe call's contract (ABI).
    unsafe {
        let function = &*this.cast::<KernelFunction<D>>();
        serve_in_place(args, num_args, result, |arguments, result| {
            function.launch(arguments)?;
            result.write(Any::NONE.into_raw());
            Ok(())
        })
    }
}

impl<D: Driver> KernelFunction<D> {
    /// Launches the kernel on the calling thread's current device.
    #[inline]
    fn launch(&self, arguments: &[AnyView<'_>]) -> Result<()> {
        let device_id = D::current_device()?;
        let device = DLDevice { device_type: D::DEVICE_TYPE, device_id };
        let mut values = Values::new();
        let sizes = self.plan.convert(arguments, device, &mut values)?;
        // SAFETY: the function owns a reference to the module.
        let implementation = unsafe { self.implementation.as_ref() };
        let launch = Launch { plan: &self.plan, values: values.as_slice(), sizes: &sizes };
        implementation.with_kernel(self.kernel, device_id, |kernel| {
            // SAFETY: as for any compiled code, the caller guarantees the pointers passed to a
            // kernel.
            unsafe { D::launch(kernel, device_id, &launch) }
        })
    }
}
