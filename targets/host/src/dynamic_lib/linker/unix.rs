//! `dlopen` and its family.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use super::truncated;

/// Failure to open a library, with the linker's message. Valid until this thread's next call of the
/// linker.
pub(in super::super) struct LoadError(Option<NonNull<c_char>>);

impl LoadError {
    /// Takes the message of this thread's last failure.
    fn last() -> LoadError {
        // SAFETY: takes no argument; returns null or text that ends in a NUL.
        LoadError(NonNull::new(unsafe { libc::dlerror() }))
    }

    /// Creates the message of a failure that this module finds itself.
    fn of_text(text: &'static CStr) -> LoadError {
        LoadError(NonNull::new(text.as_ptr().cast_mut()))
    }

    /// Calls `use_text` with the message.
    pub(in super::super) fn with_text<R>(&self, use_text: impl FnOnce(&[u8]) -> R) -> R {
        // SAFETY: the linker's text, or one of this module, which ends in a NUL.
        use_text(self.0.map_or(b"", |text| unsafe { CStr::from_ptr(text.as_ptr()) }.to_bytes()))
    }
}

/// Opens the library at `path`, whose functions are resolved when they are first called.
///
/// # Safety
/// The library's initialisers run, and must be sound.
pub(in super::super) unsafe fn open(path: &CStr) -> Result<NonNull<c_void>, LoadError> {
    // SAFETY: the caller's promise.
    unsafe { open_with(path, libc::RTLD_LAZY | libc::RTLD_LOCAL) }
}

/// Opens the library at `path`, all of whose functions are resolved before it returns.
///
/// # Safety
/// Same requirements as [`open`].
pub(in super::super) unsafe fn open_resolved(path: &CStr) -> Result<NonNull<c_void>, LoadError> {
    // SAFETY: the caller's promise.
    unsafe { open_with(path, libc::RTLD_NOW | libc::RTLD_LOCAL) }
}

unsafe fn open_with(path: &CStr, flags: c_int) -> Result<NonNull<c_void>, LoadError> {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    math::bring();
    if truncated::is_truncated(path) {
        return Err(LoadError::of_text(c"the file is truncated"));
    }
    // SAFETY: the path ends in a NUL; the caller guarantees the initialisers.
    NonNull::new(unsafe { libc::dlopen(path.as_ptr(), flags) }).ok_or_else(LoadError::last)
}

/// The C math library, which compiled models call without listing it as a dependency.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod math {
    use core::sync::atomic::{AtomicBool, Ordering};

    /// Makes the functions of `libm` known to all libraries that are opened afterwards. The shared
    /// object of this library needs it, but programs in Rust and with the archive link it only if
    /// they call it themselves.
    pub(super) fn bring() {
        static IS_HERE: AtomicBool = AtomicBool::new(false);
        if !IS_HERE.swap(true, Ordering::Relaxed) {
            // SAFETY: the name ends in a NUL. The initialisers of the C library's own parts have no
            // conditions.
            unsafe { libc::dlopen(c"libm.so.6".as_ptr(), libc::RTLD_LAZY | libc::RTLD_GLOBAL) };
        }
    }
}

/// Returns a handle of the library of this name if the process has loaded it, and keeps it loaded.
pub(in super::super) fn find_loaded(name: &CStr) -> Option<NonNull<c_void>> {
    // SAFETY: the name ends in a NUL. Nothing is loaded, so no initialiser runs.
    NonNull::new(unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD) })
}

/// Closes a library.
///
/// # Safety
/// The handle must come from this module, and must not be used afterwards.
pub(in super::super) unsafe fn close(handle: NonNull<c_void>) {
    // SAFETY: the caller's promise.
    unsafe { libc::dlclose(handle.as_ptr()) };
}

/// Returns the address of a symbol, which the library or one of its dependencies defines.
///
/// # Safety
/// The library must be open.
pub(in super::super) unsafe fn symbol(
    handle: NonNull<c_void>,
    name: &CStr,
) -> Option<NonNull<c_void>> {
    // SAFETY: the caller's promise; only the address is taken.
    NonNull::new(unsafe { libc::dlsym(handle.as_ptr(), name.as_ptr()) })
}

/// Returns the base address of the program or library that contains an address; `None` if none
/// does.
pub(in super::super) fn object_of(address: *const c_void) -> Option<usize> {
    let mut found = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: the record is a local variable. Zeros are valid for it, and remain if nothing is
    // found.
    unsafe {
        let status = libc::dladdr(address, found.as_mut_ptr());
        (status != 0).then(|| found.assume_init().dli_fbase.addr())
    }
}

/// Returns the address of a symbol of the program or library that contains an address. `None` if it
/// defines none.
pub(in super::super) fn symbol_beside(
    address: *const c_void,
    name: &CStr,
) -> Option<NonNull<c_void>> {
    let object = object_of(address)?;
    let is_beside = |found: &NonNull<c_void>| object_of(found.as_ptr()) == Some(object);
    // SAFETY: the name ends in a NUL; only the address is taken.
    let shared = NonNull::new(unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) });
    if let Some(found) = shared.filter(is_beside) {
        return Some(found);
    }
    let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: as in `object_of`, which found the object; its name is null or ends in a NUL, and its
    // handle is never closed.
    unsafe {
        libc::dladdr(address, info.as_mut_ptr());
        let file = NonNull::new(info.assume_init().dli_fname.cast_mut())?;
        symbol(find_loaded(CStr::from_ptr(file.as_ptr()))?, name).filter(is_beside)
    }
}

/// Returns `true` if libraries that are opened find a symbol of this name in the process.
pub(in super::super) fn process_shows(name: &CStr) -> bool {
    // SAFETY: the name ends in a NUL; only the address is taken.
    !unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }.is_null()
}
