//! Names of frames: Rust names by the `backtrace` crate, C++ names by the C++ runtime when the process has
//! one.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;
use std::sync::OnceLock;

use backtrace::SymbolName;
use ferrite_core::memory::Buffer;
use ferrite_core::text::SliceWriter;
use libloading::os::unix::{Library, RTLD_LAZY};

/// `abi::__cxa_demangle`.
type CxaDemangle = unsafe extern "C" fn(*const c_char, *mut c_char, *mut usize, *mut c_int) -> *mut c_char;

/// Room for a Rust name; longer ones end early.
const RUST_NAME_BYTES: usize = 512;

/// Runs `read` on the readable form of a name.
pub(super) fn with_demangled<R>(name: &SymbolName<'_>, read: impl FnOnce(&[u8]) -> R) -> R {
    let mangled = name.as_bytes();
    if is_cxx(mangled) {
        return with_cxx_name(mangled, read);
    }
    let mut text = [0; RUST_NAME_BYTES];
    let mut writer = SliceWriter::new(&mut text);
    // Alternate form: without the hash at the end of a Rust name.
    let _ = core::fmt::write(&mut writer, format_args!("{name:#}"));
    let len = writer.len.min(RUST_NAME_BYTES);
    read(text.get(..len).unwrap_or(mangled))
}

/// Whether a name is one of C++. Older names of Rust look alike but end in a hash.
fn is_cxx(mangled: &[u8]) -> bool {
    let hash_at = mangled.len().saturating_sub(20);
    mangled.starts_with(b"_Z") && !mangled.get(hash_at..).is_some_and(|end| end.starts_with(b"17h"))
}

fn with_cxx_name<R>(mangled: &[u8], read: impl FnOnce(&[u8]) -> R) -> R {
    let Some(demangled) = cxx_name(mangled) else {
        return read(mangled);
    };
    // SAFETY: the runtime gave a NUL-terminated string.
    let result = read(unsafe { CStr::from_ptr(demangled) }.to_bytes());
    // SAFETY: `__cxa_demangle` allocates its result with malloc for its caller to free.
    unsafe { free(demangled.cast()) };
    result
}

/// The name from the C++ runtime, allocated by malloc, or none.
fn cxx_name(mangled: &[u8]) -> Option<*mut c_char> {
    let demangle = runtime()?;
    let mut terminated = Buffer::try_with_capacity(mangled.len() + 1).ok()?;
    terminated.try_extend_from_slice(mangled).ok()?;
    terminated.try_push(0).ok()?;
    let mut status = 0;
    // SAFETY: the name is NUL-terminated; without a buffer the runtime allocates one.
    let name = unsafe { demangle(terminated.as_ptr().cast(), ptr::null_mut(), ptr::null_mut(), &mut status) };
    if status == 0 && !name.is_null() { Some(name) } else { None }
}

/// The demangler of the C++ runtime, if there is one by now. It may be out of sight of the program: in a
/// library that a Python extension brought with it.
fn runtime() -> Option<CxaDemangle> {
    static RUNTIME: OnceLock<CxaDemangle> = OnceLock::new();
    /// Give the handle of a library that is loaded already, or none.
    const RTLD_NOLOAD: c_int = 4;
    if let Some(found) = RUNTIME.get() {
        return Some(*found);
    }
    // SAFETY: nothing is loaded, so no initialiser runs.
    let loaded = unsafe { Library::open(Some("libstdc++.so.6\0"), RTLD_LAZY | RTLD_NOLOAD) };
    let runtime = loaded.ok().filter(|_| cfg!(target_os = "linux")).unwrap_or_else(Library::this);
    // SAFETY: the C++ ABI fixes what this name is.
    let found = unsafe { runtime.get::<CxaDemangle>(c"__cxa_demangle").ok().map(|symbol| *symbol)? };
    // The handle is not given back, so that the runtime stays.
    let _ = runtime.into_raw();
    Some(*RUNTIME.get_or_init(|| found))
}

/// What `dladdr` tells.
#[repr(C)]
struct DlInfo {
    file: *const c_char,
    base: *mut c_void,
    symbol: *const c_char,
    address: *mut c_void,
}

unsafe extern "C" {
    fn dladdr(address: *const c_void, info: *mut DlInfo) -> c_int;
    fn free(block: *mut c_void);
}

/// Runs `read` on the name of the exported function around `address`, or on `<unknown>`.
pub(super) fn with_linker_name<R>(address: *const c_void, read: impl FnOnce(&[u8]) -> R) -> R {
    let mut info =
        DlInfo { file: ptr::null(), base: ptr::null_mut(), symbol: ptr::null(), address: ptr::null_mut() };
    // SAFETY: dladdr takes any address and fills the record.
    let found = unsafe { dladdr(address, &mut info) };
    if found == 0 || info.symbol.is_null() {
        return read(b"<unknown>");
    }
    // SAFETY: the name is NUL-terminated and lives as long as the object, which has a frame on this stack.
    let name = unsafe { CStr::from_ptr(info.symbol) }.to_bytes();
    with_demangled(&SymbolName::new(name), read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rust_names_lose_their_hash() {
        let name = SymbolName::new(b"_ZN4core3fmt5write17h0123456789abcdefE");
        assert!(with_demangled(&name, |text| text == b"core::fmt::write"));
    }

    #[test]
    fn c_names_stay() {
        assert!(with_demangled(&SymbolName::new(b"main"), |text| text == b"main"));
    }

    #[test]
    fn cxx_names_are_told_from_rust_names() {
        assert!(is_cxx(b"_ZN3tvm3ffi9ModuleObj12ClearImportsEv"));
        assert!(!is_cxx(b"_ZN4core3fmt5write17h0123456789abcdefE"));
    }
}
