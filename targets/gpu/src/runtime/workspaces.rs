//! Workspaces beside `libtvm_runtime`, which defines `TVMBackendAllocWorkspace` and `TVMBackendFreeWorkspace`, too, and registers
//! them for the slots of compiled code.
//!
//! Compiled code calls the symbols of the library that was loaded first, and of slots the registered functions. Each way should lead
//! to the runtime that has the device:
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
use ferrite_core::backend::workspace::{DeviceWorkspaces, install_device_workspaces};
use ferrite_core::error::{Error, Result};
use ferrite_core::{plain_bail, plain_error, raised_error};

use super::beside::is_theirs;
use crate::library::{DriverLibrary, same_object};

const ALLOCATE: &CStr = c"TVMBackendAllocWorkspace";
const FREE: &CStr = c"TVMBackendFreeWorkspace";

type Allocate = unsafe extern "C" fn(c_int, c_int, u64, c_int, c_int) -> *mut c_void;
type Free = unsafe extern "C" fn(c_int, c_int, *mut c_void) -> c_int;

/// Makes compiled code find the runtime that has a device.
pub(crate) fn install() {
    static WORKSPACES: DeviceWorkspaces = DeviceWorkspaces { allocate, free };
    static WRAP: Wrap = Wrap(wrap);
    install_device_workspaces(&WORKSPACES);
    context::install_wrap(&WRAP);
}

fn allocate(device_type: i32, device_id: i32, bytes: u64) -> Result<NonNull<c_void>> {
    if device::find(device_type).is_none()
        && let Some(theirs) = Theirs::of(device_type)?
    {
        // SAFETY: the arguments are those of the function; the hint is that of bytes.
        let workspace = unsafe { (theirs.allocate)(device_type, device_id, bytes, 1, 8) };
        return NonNull::new(workspace).ok_or_else(raised_error);
    }
    device::allocate_workspace(device_type, device_id, bytes)
}

/// # Safety
/// As [`device::free_workspace`].
unsafe fn free(device_type: i32, device_id: i32, workspace: NonNull<c_void>) -> Result<()> {
    // SAFETY: the caller's promise: `allocate` chose the same way.
    unsafe {
        if device::find(device_type).is_none()
            && let Some(theirs) = Theirs::of(device_type)?
        {
            return match (theirs.free)(device_type, device_id, workspace.as_ptr()) {
                0 => Ok(()),
                _ => Err(raised_error()),
            };
        }
        device::free_workspace(device_type, device_id, workspace)
    }
}

/// The error that the other runtime has raised.
#[cold]
fn raised_error() -> Error {
    raised_error::take()
        .unwrap_or_else(|| plain_error!(INTERNAL_ERROR, "libtvm_runtime failed without an error"))
}

/// The functions of `libtvm_runtime`.
#[derive(Clone, Copy)]
struct Theirs {
    allocate: Allocate,
    free: Free,
}

impl Theirs {
    /// Its functions if it serves a device type.
    ///
    /// # Errors
    /// MemoryError; InternalError if it is in the process under another name.
    fn of(device_type: i32) -> Result<Option<Theirs>> {
        if !is_theirs(device_type)? {
            return Ok(None);
        }
        let find = |name| match library()?.find(name) {
            // A library that has none shows that of this one, which it needs.
            Some(function) if !same_object(function.as_ptr(), allocate as *const c_void) => Some(function),
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

/// `libtvm_runtime`, found once.
fn library() -> Option<DriverLibrary> {
    static FOUND: std::sync::OnceLock<DriverLibrary> = std::sync::OnceLock::new();
    const NAMES: &[&CStr] = &[c"libtvm_runtime.so", c"libtvm.so", c"libtvm_runtime.dylib", c"libtvm.dylib"];
    match FOUND.get() {
        Some(library) => Some(*library),
        None => DriverLibrary::find_loaded(NAMES).map(|library| *FOUND.get_or_init(|| library)),
    }
}

/// The registered functions, to which slots forward.
static REGISTERED_ALLOCATE: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
static REGISTERED_FREE: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// Gives the functions below for slots of workspaces.
fn wrap(name: &CStr, registered: *mut c_void) -> *mut c_void {
    let (place, address) = match name.to_bytes() {
        b"__TVMBackendAllocWorkspace" => (&REGISTERED_ALLOCATE, allocate_in_slot as *mut c_void),
        b"__TVMBackendFreeWorkspace" => (&REGISTERED_FREE, free_in_slot as *mut c_void),
        _ => return registered,
    };
    place.store(registered, Ordering::Release);
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
        // SAFETY: the address is that of such a function, stored before a slot got this one.
        let registered: Allocate =
            unsafe { transmute::<*mut c_void, Allocate>(REGISTERED_ALLOCATE.load(Ordering::Acquire)) };
        // SAFETY: the arguments are those of this function.
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

/// # Safety
/// As [`device::free_workspace`] for what is not null.
unsafe extern "C" fn free_in_slot(device_type: c_int, device_id: c_int, workspace: *mut c_void) -> c_int {
    if device::find(device_type).is_none() {
        // SAFETY: as in `allocate_in_slot`.
        let registered: Free =
            unsafe { transmute::<*mut c_void, Free>(REGISTERED_FREE.load(Ordering::Acquire)) };
        // SAFETY: the arguments are those of this function.
        return unsafe { registered(device_type, device_id, workspace) };
    }
    let Some(workspace) = NonNull::new(workspace) else { return 0 };
    // SAFETY: the caller vouches for the workspace.
    match unsafe { device::free_workspace(device_type, device_id, workspace) } {
        Ok(()) => 0,
        Err(error) => {
            raised_error::set(error);
            -1
        }
    }
}
