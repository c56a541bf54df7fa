//! Functions of the server as function objects.

use core::ffi::{c_int, c_void};
use core::mem::ManuallyDrop;
use core::ptr;
use std::sync::Arc;

use ferrite_core::abi::{TVMFFIAny, TVMFFIFunctionCell, TVMFFIObject, type_index};
use ferrite_core::call::function::serve_in_place;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;
use ferrite_core::object::object_alloc::{self, ObjectRecord};
use ferrite_core::{AnyView, Function};

use super::session::Connected;

/// Function object of a remote function: the function header of the C ABI, the session, and the
/// handle that the function owns.
#[repr(C)]
pub(super) struct RemoteFunction {
    header: TVMFFIObject,
    cell: TVMFFIFunctionCell,
    session: ManuallyDrop<Arc<Connected>>,
    handle: u64,
}

// SAFETY: the type is `repr(C)`, and begins with the header.
unsafe impl ObjectRecord for RemoteFunction {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        let record = this.cast::<RemoteFunction>();
        // SAFETY: the record is initialised, and this is its only reference.
        unsafe {
            (*record).session.release((*record).handle);
            ManuallyDrop::drop(&mut (*record).session);
        }
    }
}

/// Creates the function object of a handle, which it owns.
///
/// # Errors
/// MemoryError; the handle is released.
pub(super) fn create(session: &Arc<Connected>, handle: u64) -> Result<Function> {
    let owner = session.clone();
    let init = |record: *mut RemoteFunction| {
        // SAFETY: the record is large enough for every field; the header is not written.
        unsafe {
            (&raw mut (*record).cell)
                .write(TVMFFIFunctionCell { safe_call: Some(CALL), cpp_call: ptr::null_mut() });
            (&raw mut (*record).session).write(ManuallyDrop::new(owner));
            (&raw mut (*record).handle).write(handle);
        }
    };
    // SAFETY: `init` initialises the record, which begins with a function header.
    let object = unsafe { object_alloc::allocate(type_index::FUNCTION, 0, init) };
    let object = object.inspect_err(|_| session.release(handle))?;
    // SAFETY: the object has the type of functions.
    Ok(unsafe { Function::from_object_unchecked(object) })
}

/// Entry point of remote functions for calls through the C ABI (`safe_call`).
unsafe extern "C" fn call(
    this: *mut c_void,
    args: *const TVMFFIAny,
    num_args: i32,
    result: *mut TVMFFIAny,
) -> c_int {
    // SAFETY: the handle is a live function with this record, since no other code uses this safe
    // call. The arguments obey the safe call's contract (ABI).
    unsafe {
        let function = &*this.cast::<RemoteFunction>();
        serve_in_place(args, num_args, result, |arguments, result| {
            let answer = function.session.call(function.handle, arguments)?;
            result.write(answer.into_raw());
            Ok(())
        })
    }
}

impl RemoteFunction {
    /// Returns the remote function that a value refers to; `None` for other values.
    pub(super) fn of<'a>(view: &'a AnyView<'_>) -> Option<&'a RemoteFunction> {
        if view.type_index() != type_index::FUNCTION {
            return None;
        }
        let object = view.object_ptr()?;
        // SAFETY: the value keeps the function alive; every function begins with this header, and
        // only those of this file have this safe call.
        unsafe {
            let function = object.as_ptr().cast::<RemoteFunction>();
            let safe_call = (&raw const (*function).cell.safe_call).read()?;
            ptr::fn_addr_eq(safe_call, CALL).then(|| &*function)
        }
    }

    /// Returns the session of the function.
    pub(super) fn session(&self) -> &Connected {
        &self.session
    }

    /// Returns the handle of the function on the server.
    pub(super) fn handle(&self) -> u64 {
        self.handle
    }
}

/// Type of the entry points of functions.
type SafeCall = unsafe extern "C" fn(*mut c_void, *const TVMFFIAny, i32, *mut TVMFFIAny) -> c_int;

/// The address of [`call`] by which remote functions are recognised: one in memory, since the
/// address of a function may differ from one use to the next.
static CALL: SafeCall = call;
