//! Client of the stand-in for a GPU driver (`tests/programs/device/stand_in`), which adds control
//! functions to those of the driver.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ops::Deref;
use core::ptr::NonNull;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

unsafe extern "C" {
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlclose(library: *mut c_void) -> c_int;
}

const RTLD_NOW: c_int = 2;

/// An open driver library.
#[derive(Clone, Copy)]
pub struct Library(NonNull<c_void>);

// SAFETY: the handle of a library may be used from any thread.
unsafe impl Send for Library {}
// SAFETY: as for Send.
unsafe impl Sync for Library {}

impl Library {
    /// Opens a library by its name or path.
    pub fn open(name: &CStr) -> Option<Library> {
        // SAFETY: the name ends in a NUL; the initialisers that run are those of a driver.
        NonNull::new(unsafe { dlopen(name.as_ptr(), RTLD_NOW) }).map(Library)
    }

    /// Closes the library.
    pub fn close(self) {
        // SAFETY: the library is open.
        unsafe { dlclose(self.0.as_ptr()) };
    }

    /// Returns a function of the library.
    ///
    /// # Safety
    /// `F` must be the function's type.
    pub unsafe fn function<F: Copy>(&self, name: &CStr) -> F {
        // SAFETY: the name ends in a NUL.
        let address = unsafe { dlsym(self.0.as_ptr(), name.as_ptr()) };
        assert!(!address.is_null(), "{name:?}");
        // SAFETY: the caller guarantees the type.
        unsafe { core::mem::transmute_copy(&address) }
    }
}

/// Work sizes and attributes of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Geometry {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared_bytes: u32,
    pub cluster: [u32; 3],
    pub preferred_cluster: [u32; 3],
    pub is_programmatic: u32,
    pub is_cooperative: u32,
}

/// Numbers of live objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Live {
    pub blocks: u64,
    pub pinned: u64,
    pub streams: u64,
    pub events: u64,
    pub modules: u64,
    pub graphs: u64,
}

/// The stand-in, opened as a library.
#[derive(Clone, Copy)]
pub struct StandIn(pub Library);

impl Deref for StandIn {
    type Target = Library;

    fn deref(&self) -> &Library {
        &self.0
    }
}

impl StandIn {
    /// Opens the stand-in at a path.
    pub fn open(path: &Path) -> StandIn {
        let path = CString::new(path.as_os_str().as_bytes()).expect("a path");
        StandIn(Library::open(&path).expect("the stand-in opens"))
    }

    /// Resets the stand-in to this number of devices.
    pub fn reset(&self, devices: c_int) {
        // SAFETY: the type is that of the stand-in, here and below.
        unsafe { self.function::<extern "C" fn(c_int)>(c"stand_in_reset")(devices) }
    }

    /// Makes the `call`-th call from now fail with `code`. With 0, no call fails.
    pub fn fail(&self, call: u64, code: c_int) {
        // SAFETY: see `reset`.
        unsafe { self.function::<extern "C" fn(u64, c_int)>(c"stand_in_fail")(call, code) }
    }

    /// Returns the name of the call that failed on request.
    pub fn failed(&self) -> Option<String> {
        let mut name = [0u8; 128];
        // SAFETY: see `reset`.
        let failed = unsafe {
            let ask =
                self.function::<unsafe extern "C" fn(*mut u8, usize) -> c_int>(c"stand_in_failed");
            ask(name.as_mut_ptr(), name.len())
        };
        (failed != 0).then(|| text(&name))
    }

    /// Returns the number of calls of a function since the last reset.
    pub fn calls(&self, name: &CStr) -> u64 {
        // SAFETY: see `reset`.
        unsafe {
            self.function::<unsafe extern "C" fn(*const c_char) -> u64>(c"stand_in_calls")(
                name.as_ptr(),
            )
        }
    }

    /// Returns the number of complaints and the first one. Clears all complaints, and errors of
    /// kernels.
    pub fn complaint(&self) -> Option<String> {
        let mut first = [0u8; 512];
        // SAFETY: see `reset`.
        let count = unsafe {
            let ask = self
                .function::<unsafe extern "C" fn(*mut u8, usize) -> u64>(c"stand_in_complaints");
            ask(first.as_mut_ptr(), first.len())
        };
        (count != 0).then(|| format!("{count} complaints: {}", text(&first)))
    }

    /// Returns the numbers of live objects.
    pub fn live(&self) -> Live {
        let mut live = Live::default();
        // SAFETY: see `reset`.
        unsafe { self.function::<unsafe extern "C" fn(*mut Live)>(c"stand_in_live")(&mut live) };
        live
    }

    /// Returns the number of commands that have not run.
    pub fn pending(&self) -> u64 {
        self.number(c"stand_in_pending")
    }

    /// Returns the result of a control function without arguments.
    pub fn number(&self, name: &CStr) -> u64 {
        // SAFETY: see `reset`.
        unsafe { self.function::<extern "C" fn() -> u64>(name)() }
    }

    /// Limits the memory of each device to this many bytes.
    pub fn limit_memory(&self, bytes: u64) {
        // SAFETY: see `reset`.
        unsafe { self.function::<extern "C" fn(u64)>(c"stand_in_limit_memory")(bytes) }
    }

    /// Returns the last launch, and the handle of its stream.
    pub fn last_launch(&self) -> (Geometry, u64) {
        let mut geometry = Geometry::default();
        // SAFETY: see `reset`.
        let stream = unsafe {
            let ask = self
                .function::<unsafe extern "C" fn(*mut Geometry) -> u64>(c"stand_in_last_launch");
            ask(&mut geometry)
        };
        (geometry, stream)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned()
}
