//! Objects of the server other than functions, modules and tensors: `runtime.RPCObjectRef`.

use core::ffi::{c_int, c_void};
use core::mem::ManuallyDrop;
use std::sync::Arc;

use ferrite_core::abi::{TVMFFIObject, type_index};
use ferrite_core::error::Result;
use ferrite_core::names::type_table::{self, NewTypeRequest};
use ferrite_core::object::object_alloc::{self, ObjectRecord};
use ferrite_core::{Any, AnyView};

use super::session::Connected;

/// Type index of references to remote objects, fixed by TVM.
pub(super) const TYPE_INDEX: i32 = 115;

/// Reference to an object of the server, which owns its handle.
#[repr(C)]
pub(super) struct RemoteObject {
    header: TVMFFIObject,
    session: ManuallyDrop<Arc<Connected>>,
    handle: u64,
}

// SAFETY: the type is `repr(C)`, and begins with the header.
unsafe impl ObjectRecord for RemoteObject {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        let record = this.cast::<RemoteObject>();
        // SAFETY: the record is initialised, and this is its only reference.
        unsafe {
            (*record).session.release((*record).handle);
            ManuallyDrop::drop(&mut (*record).session);
        }
    }
}

/// Creates a reference to a remote object, whose handle it owns.
///
/// # Errors
/// MemoryError, or TypeError if another class has the type key; the handle is released.
pub(super) fn create(session: &Arc<Connected>, handle: u64) -> Result<Any> {
    allocate(session, handle).inspect_err(|_| session.release(handle))
}

fn allocate(session: &Arc<Connected>, handle: u64) -> Result<Any> {
    register()?;
    let owner = session.clone();
    let init = |record: *mut RemoteObject| {
        // SAFETY: the record is large enough for every field; the header is not written.
        unsafe {
            (&raw mut (*record).session).write(ManuallyDrop::new(owner));
            (&raw mut (*record).handle).write(handle);
        }
    };
    // SAFETY: `init` initialises the record. Records of other runtimes have the same type index, so
    // nothing casts by it.
    unsafe { object_alloc::allocate::<RemoteObject>(TYPE_INDEX, 0, init) }.map(Any::from)
}

/// Registers the class, unless `libtvm_runtime` did.
fn register() -> Result<()> {
    let request = NewTypeRequest {
        type_key: b"runtime.RPCObjectRef",
        static_type_index: TYPE_INDEX,
        type_depth: 1,
        num_child_slots: 0,
        child_slots_can_overflow: false,
        parent_type_index: type_index::OBJECT,
    };
    type_table::get_or_alloc_index(&request).map(drop)
}

impl RemoteObject {
    /// Returns the reference that a value is; `None` for other values, and for references that
    /// another runtime created.
    pub(super) fn of<'a>(view: &'a AnyView<'_>) -> Option<&'a RemoteObject> {
        if view.type_index() != TYPE_INDEX {
            return None;
        }
        let object = view.object_ptr()?;
        // SAFETY: the value keeps the object alive; only objects of this file have this deleter.
        unsafe {
            let deleter = (&raw const (*object.as_ptr()).deleter.deleter).read()?;
            let own = <RemoteObject as ObjectRecord>::DELETER;
            core::ptr::fn_addr_eq(deleter, own as Deleter).then(|| &*object.as_ptr().cast())
        }
    }

    /// Returns the session of the object.
    pub(super) fn session(&self) -> &Connected {
        &self.session
    }

    /// Returns the handle of the object on the server.
    pub(super) fn handle(&self) -> u64 {
        self.handle
    }
}

/// Type of the deleters of objects.
type Deleter = unsafe extern "C" fn(*mut c_void, c_int);
