//! Workspaces in a process with `libtvm_runtime`, which also defines `TVMBackendAllocWorkspace` and
//! `TVMBackendFreeWorkspace`, and registers them for the function slots of compiled code.
//!
//! Compiled code calls either the symbols of the library loaded first, or the registered functions
//! in its slots. Both should reach the runtime that has the device:
//!
//! | Called | For devices with a back end here | For others |
//! |---|---|---|
//! | the symbol of this library | here | the symbol of `libtvm_runtime` if it has the device, else an error |
//! | a slot, registered by `libtvm_runtime` | here | the registered function |
//! | the symbol of `libtvm_runtime` | its error: this library is not asked | there |

use core::ffi::{CStr, c_int, c_void};
use core::mem::transmute;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicPtr, Ordering};

use ferrite_alloc_ext::device;
use ferrite_alloc_ext::module::context::{self, Wrap};
use ferrite_core::call::backend::workspace::{DeviceWorkspaces, install_device_workspaces};
use ferrite_core::call::function::{checked, failure};
use ferrite_core::error::Result;
use ferrite_core::error::raised_error::{self, Mark};
use ferrite_core::plain_bail;

use super::coexistence::is_theirs;
use crate::library::{DriverLibrary, same_object};
use crate::set_once::SetOnce;

const ALLOCATE: &CStr = c"TVMBackendAllocWorkspace";
const FREE: &CStr = c"TVMBackendFreeWorkspace";

type Allocate = unsafe extern "C" fn(c_int, c_int, u64, c_int, c_int) -> *mut c_void;
type Free = unsafe extern "C" fn(c_int, c_int, *mut c_void) -> c_int;

/// Installs the dispatch of workspace functions between the runtimes.
pub(crate) fn install() {
    static WORKSPACES: DeviceWorkspaces = DeviceWorkspaces { allocate, free };
    // SAFETY: the results are registered addresses, or functions of the same types.
    static WRAP: Wrap = unsafe { Wrap::new(wrap) };
    // SAFETY: the functions of one runtime allocate and free.
    unsafe { install_device_workspaces(&WORKSPACES) };
    context::install_wrap(&WRAP);
}

fn allocate(device_type: i32, device_id: i32, bytes: u64) -> Result<NonNull<c_void>> {
    if device::find(device_type).is_none()
        && let Some(theirs) = Theirs::of(device_type)?
    {
        let before = Mark::now();
        // SAFETY: the arguments match the function; the type hint is that of bytes.
        let workspace = unsafe { (theirs.allocate)(device_type, device_id, bytes, 1, 8) };
        return NonNull::new(workspace).ok_or_else(|| failure(-1, before));
    }
    device::allocate_workspace(device_type, device_id, bytes)
}

/// Frees a workspace, here or through `libtvm_runtime`.
///
/// # Safety
/// Same requirements as [`device::free_workspace`].
unsafe fn free(device_type: i32, device_id: i32, workspace: NonNull<c_void>) -> Result<()> {
    // SAFETY: the caller's promise; `allocate` made the same choice.
    unsafe {
        if device::find(device_type).is_none()
            && let Some(theirs) = Theirs::of(device_type)?
        {
            return checked(|| (theirs.free)(device_type, device_id, workspace.as_ptr()));
        }
        device::free_workspace(device_type, device_id, workspace)
    }
}

/// The workspace functions of `libtvm_runtime`.
#[derive(Clone, Copy)]
struct Theirs {
    allocate: Allocate,
    free: Free,
}

impl Theirs {
    /// Returns the functions if `libtvm_runtime` has a back end for a device type; `None`
    /// otherwise.
    ///
    /// # Errors
    /// MemoryError; InternalError if it is loaded under an unknown file name.
    fn of(device_type: i32) -> Result<Option<Theirs>> {
        if !is_theirs(device_type)? {
            return Ok(None);
        }
        let find = |name| match library()?.find(name) {
            // A library without the symbol finds this library's, since it depends on this library.
            Some(function) if !same_object(function.as_ptr(), allocate as *const c_void) => {
                Some(function)
            }
            _ => None,
        };
        let (Some(allocate), Some(free)) = (find(ALLOCATE), find(FREE)) else {
            plain_bail!(
                INTERNAL_ERROR,
                "The workspaces of device type {} are those of another runtime, which was not found",
                device_type
            )
        };
        // SAFETY: functions of these names have these types.
        let theirs = unsafe {
            Theirs {
                allocate: transmute::<NonNull<c_void>, Allocate>(allocate),
                free: transmute::<NonNull<c_void>, Free>(free),
            }
        };
        Ok(Some(theirs))
    }
}

/// Returns `libtvm_runtime` if it is loaded. Searches on each call until it is found.
fn library() -> Option<DriverLibrary> {
    static FOUND: SetOnce<DriverLibrary> = SetOnce::new();
    const NAMES: &[&CStr] =
        &[c"libtvm_runtime.so", c"libtvm.so", c"libtvm_runtime.dylib", c"libtvm.dylib"];
    match FOUND.get() {
        Some(library) => Some(*library),
        None => {
            let library = DriverLibrary::find_loaded(NAMES)?;
            // Out of memory, the next call searches again.
            let _ = FOUND.set(library);
            Some(library)
        }
    }
}

/// Registered allocation function, to which the slot function forwards.
static REGISTERED_ALLOCATE: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
/// Registered free function, to which the slot function forwards.
static REGISTERED_FREE: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// Replaces a registered workspace function by the slot function below.
fn wrap(name: &CStr, registered: *mut c_void) -> *mut c_void {
    let (registered_slot, address) = match name.to_bytes() {
        b"__TVMBackendAllocWorkspace" => (&REGISTERED_ALLOCATE, allocate_in_slot as *mut c_void),
        b"__TVMBackendFreeWorkspace" => (&REGISTERED_FREE, free_in_slot as *mut c_void),
        _ => return registered,
    };
    registered_slot.store(registered, Ordering::Release);
    address
}

unsafe extern "C" fn allocate_in_slot(
    device_type: c_int,
    device_id: c_int,
    bytes: u64,
    dtype_code: c_int,
    dtype_bits: c_int,
) -> *mut c_void {
    if device::find(device_type).is_none() {
        // SAFETY: the address is that of such a function, and was stored before a slot received
        // this function.
        let registered: Allocate = unsafe {
            transmute::<*mut c_void, Allocate>(REGISTERED_ALLOCATE.load(Ordering::Acquire))
        };
        // SAFETY: the arguments match the function.
        return unsafe { registered(device_type, device_id, bytes, dtype_code, dtype_bits) };
    }
    match device::allocate_workspace(device_type, device_id, bytes) {
        Ok(workspace) => workspace.as_ptr(),
        Err(error) => {
            raised_error::set(error);
            ptr::null_mut()
        }
    }
}

/// Frees a workspace, for the function slots of compiled code.
///
/// # Safety
/// Same requirements as [`device::free_workspace`]; null is allowed.
unsafe extern "C" fn free_in_slot(
    device_type: c_int,
    device_id: c_int,
    workspace: *mut c_void,
) -> c_int {
    if device::find(device_type).is_none() {
        // SAFETY: as in `allocate_in_slot`.
        let registered: Free =
            unsafe { transmute::<*mut c_void, Free>(REGISTERED_FREE.load(Ordering::Acquire)) };
        // SAFETY: the arguments match the function.
        return unsafe { registered(device_type, device_id, workspace) };
    }
    let Some(workspace) = NonNull::new(workspace) else { return 0 };
    // SAFETY: the caller guarantees the workspace.
    match unsafe { device::free_workspace(device_type, device_id, workspace) } {
        Ok(()) => 0,
        Err(error) => {
            raised_error::set(error);
            -1
        }
    }
}
