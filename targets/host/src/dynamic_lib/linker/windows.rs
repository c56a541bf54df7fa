//! `LoadLibraryExW` and its family.

use core::char::{REPLACEMENT_CHARACTER, decode_utf16};
use core::ffi::{CStr, c_void};
use core::ptr::{self, NonNull};

use ferrite_core::platform::memory::{AllocError, Buffer};
use windows_sys::Win32::Foundation::{
    ERROR_INVALID_NAME, ERROR_NOT_ENOUGH_MEMORY, FreeLibrary, GetLastError, HMODULE, WIN32_ERROR,
};
use windows_sys::Win32::Storage::FileSystem::GetFullPathNameW;
use windows_sys::Win32::System::Diagnostics::Debug::{
    FORMAT_MESSAGE_FROM_SYSTEM, FORMAT_MESSAGE_IGNORE_INSERTS, FormatMessageW,
    SEM_FAILCRITICALERRORS, SetThreadErrorMode,
};
use windows_sys::Win32::System::LibraryLoader::{
    GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
    GetModuleHandleExW, GetProcAddress, LOAD_WITH_ALTERED_SEARCH_PATH, LoadLibraryExW,
};

/// Longest message in UTF-16 units; longer ones are truncated.
const MESSAGE_UNITS: usize = 256;

/// Failure to open a library: the system's error code.
pub(in super::super) struct LoadError(WIN32_ERROR);

impl LoadError {
    /// Calls `use_text` with the system's message, without the line break at its end.
    pub(in super::super) fn with_text<R>(&self, use_text: impl FnOnce(&[u8]) -> R) -> R {
        let mut units = [0; MESSAGE_UNITS];
        let flags = FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS;
        let size = units.len() as u32;
        // SAFETY: the buffer has this size; messages with inserts are not expanded, so there are no
        // arguments.
        let written = unsafe {
            FormatMessageW(flags, ptr::null(), self.0, 0, units.as_mut_ptr(), size, ptr::null())
        };
        // A unit becomes at most three bytes of UTF-8.
        let (mut text, mut len) = ([0; 3 * MESSAGE_UNITS], 0);
        for letter in decode_utf16(units.iter().copied().take(written as usize)) {
            len += letter.unwrap_or(REPLACEMENT_CHARACTER).encode_utf8(&mut text[len..]).len();
        }
        use_text(text[..len].trim_ascii_end())
    }
}

impl From<AllocError> for LoadError {
    fn from(_: AllocError) -> LoadError {
        LoadError(ERROR_NOT_ENOUGH_MEMORY)
    }
}

/// Opens the library at `path`, in UTF-8. The libraries that it needs are searched for in its own
/// folder first. A name without a folder is searched for as the system does.
///
/// # Safety
/// The library's initialisers run, and must be sound.
pub(in super::super) unsafe fn open(path: &CStr) -> Result<NonNull<c_void>, LoadError> {
    let name = wide(path)?;
    let has_folder = path.to_bytes().iter().any(|byte| b"/\\:".contains(byte));
    let (name, flags) =
        if has_folder { (absolute(&name)?, LOAD_WITH_ALTERED_SEARCH_PATH) } else { (name, 0) };
    // SAFETY: the name ends in a zero; the caller guarantees the initialisers.
    let (handle, code) = without_dialogs(|| unsafe {
        let handle = LoadLibraryExW(name.as_slice().as_ptr(), ptr::null_mut(), flags);
        (handle, GetLastError())
    });
    NonNull::new(handle).ok_or(LoadError(code))
}

pub(in super::super) use open as open_resolved;

/// Runs `open` while a damaged file makes the system return an error rather than show a dialog and
/// wait.
fn without_dialogs<R>(open: impl FnOnce() -> R) -> R {
    let mut before = 0;
    // SAFETY: the place for the previous mode is a local variable.
    let is_set = unsafe { SetThreadErrorMode(SEM_FAILCRITICALERRORS, &mut before) } != 0;
    let result = open();
    if is_set {
        // SAFETY: null: the mode of this module is not needed.
        unsafe { SetThreadErrorMode(before, ptr::null_mut()) };
    }
    result
}

/// Converts a path to UTF-16 with a zero at its end.
fn wide(path: &CStr) -> Result<Buffer<u16>, LoadError> {
    let path = path.to_str().map_err(|_| LoadError(ERROR_INVALID_NAME))?;
    let mut name = Buffer::try_with_capacity(path.len() + 1)?;
    for unit in path.encode_utf16() {
        name.try_push(unit)?;
    }
    name.try_push(0)?;
    Ok(name)
}

/// Makes a path absolute, with the system's separators, as `LOAD_WITH_ALTERED_SEARCH_PATH`
/// requires.
fn absolute(name: &Buffer<u16>) -> Result<Buffer<u16>, LoadError> {
    let mut full = Buffer::new();
    // SAFETY: the name ends in a zero; without a buffer, the system returns the size that it needs.
    let size = unsafe { GetFullPathNameW(name.as_ptr(), 0, ptr::null_mut(), ptr::null_mut()) };
    full.try_resize(size as usize, 0)?;
    // SAFETY: as above; the buffer has this size.
    let len = unsafe { GetFullPathNameW(name.as_ptr(), size, full.as_mut_ptr(), ptr::null_mut()) };
    if len == 0 || len >= size {
        return Err(LoadError(ERROR_INVALID_NAME)); // another thread changed the current folder, or the path is not one
    }
    Ok(full)
}

/// Returns a handle of the library of this name if the process has loaded it, and keeps it loaded.
pub(in super::super) fn find_loaded(name: &CStr) -> Option<NonNull<c_void>> {
    let name = wide(name).ok()?;
    let mut handle: HMODULE = ptr::null_mut();
    // SAFETY: the name ends in a zero, and the place for the handle is a local variable.
    let found = unsafe { GetModuleHandleExW(0, name.as_ptr(), &mut handle) };
    NonNull::new(handle).filter(|_| found != 0)
}

/// Closes a library.
///
/// # Safety
/// The handle must come from this module, and must not be used afterwards.
pub(in super::super) unsafe fn close(handle: NonNull<c_void>) {
    // SAFETY: the caller's promise.
    unsafe { FreeLibrary(handle.as_ptr()) };
}

/// Returns the address of a symbol that the library exports.
///
/// # Safety
/// The library must be open.
pub(in super::super) unsafe fn symbol(
    handle: NonNull<c_void>,
    name: &CStr,
) -> Option<NonNull<c_void>> {
    // SAFETY: the caller's promise; only the address is taken, which may be that of a variable.
    let address = unsafe { GetProcAddress(handle.as_ptr(), name.as_ptr().cast()) };
    address.and_then(|address| NonNull::new(address as *mut c_void))
}

/// Returns the base address of the program or library that contains an address; `None` if none
/// does.
pub(in super::super) fn object_of(address: *const c_void) -> Option<usize> {
    let flags =
        GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
    let mut handle: HMODULE = ptr::null_mut();
    // SAFETY: with these flags, the address may be any; the place for the handle is a local
    // variable.
    let found = unsafe { GetModuleHandleExW(flags, address.cast(), &mut handle) };
    (found != 0).then(|| handle.addr())
}

/// Returns the address of a symbol of the program or library that contains an address. `None` if it
/// defines none.
pub(in super::super) fn symbol_beside(
    address: *const c_void,
    name: &CStr,
) -> Option<NonNull<c_void>> {
    let module = NonNull::new(ptr::without_provenance_mut(object_of(address)?))?;
    // SAFETY: the module contains the address, so that it is loaded.
    unsafe { symbol(module, name) }
}

/// Returns `true`: a library names the file of each of its imports, so none could be shown to it.
pub(in super::super) fn process_shows(_: &CStr) -> bool {
    true
}
