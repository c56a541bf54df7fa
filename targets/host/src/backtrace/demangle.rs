//! Demangles function names: Rust names with the `rustc-demangle` crate, C++ names with the C++
//! runtime if the process has loaded one.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::fmt::Write;
use core::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::text::{Lossy, SliceWriter};

/// Type of `abi::__cxa_demangle`.
type CxaDemangle =
    unsafe extern "C" fn(*const c_char, *mut c_char, *mut usize, *mut c_int) -> *mut c_char;

/// Capacity in bytes for a demangled Rust name. Longer names are truncated.
const RUST_NAME_BYTES: usize = 512;

/// Demangles a name and passes it to `read`. A name that is not mangled is passed unchanged.
pub(super) fn with_demangled<R>(mangled: &[u8], read: impl FnOnce(&[u8]) -> R) -> R {
    if is_cxx(mangled) {
        return with_cxx_name(mangled, read);
    }
    let mut text = [0; RUST_NAME_BYTES];
    let mut writer = SliceWriter::new(&mut text);
    let rust_name =
        core::str::from_utf8(mangled).ok().and_then(|name| rustc_demangle::try_demangle(name).ok());
    // Truncation is not an error.
    let _ = match rust_name {
        // The alternate form leaves out the hash at the end.
        Some(name) => write!(writer, "{name:#}"),
        None => write!(writer, "{}", Lossy(mangled)),
    };
    let len = writer.len.min(RUST_NAME_BYTES);
    read(text.get(..len).unwrap_or(mangled))
}

/// Returns `true` for a mangled C++ name. Legacy Rust names share its prefix but end in a hash.
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
    unsafe { libc::free(demangled.cast()) };
    result
}

/// Demangles a name with the C++ runtime. Returns a C string allocated with `malloc`, or `None` if
/// there is no runtime or the name is malformed.
fn cxx_name(mangled: &[u8]) -> Option<*mut c_char> {
    let demangle = runtime()?;
    let mut terminated = Buffer::try_with_capacity(mangled.len() + 1).ok()?;
    terminated.try_extend_from_slice(mangled).ok()?;
    terminated.try_push(0).ok()?;
    let mut status = 0;
    // SAFETY: the name is NUL-terminated; without a buffer the runtime allocates one.
    let name = unsafe {
        demangle(terminated.as_ptr().cast(), ptr::null_mut(), ptr::null_mut(), &mut status)
    };
    if status == 0 && !name.is_null() { Some(name) } else { None }
}

/// Returns the demangler of the C++ runtime, if the process has loaded one. The runtime may be
/// invisible to global symbol lookup, as a dependency of a Python extension.
fn runtime() -> Option<CxaDemangle> {
    static RUNTIME: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
    let mut address = RUNTIME.load(Ordering::Relaxed);
    if address.is_null() {
        // Concurrent threads find the same address. There is no lock, which a fork could leave
        // held.
        address = find_runtime();
        RUNTIME.store(address, Ordering::Relaxed);
    }
    if address.is_null() {
        return None;
    }
    // SAFETY: the C++ ABI fixes the type of this function.
    Some(unsafe { core::mem::transmute::<*mut c_void, CxaDemangle>(address) })
}

fn find_runtime() -> *mut c_void {
    let name = c"__cxa_demangle".as_ptr();
    // SAFETY: nothing is loaded, so no initialiser runs. A handle that is found is never closed, so
    // the runtime stays loaded.
    unsafe {
        let loaded = libc::dlopen(c"libstdc++.so.6".as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        libc::dlsym(if loaded.is_null() { libc::RTLD_DEFAULT } else { loaded }, name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rust_names_lose_their_hash() {
        for name in
            [&b"_ZN4core3fmt5write17h0123456789abcdefE"[..], b"_RNvNtCs1234_4core3fmt5write"]
        {
            assert!(with_demangled(name, |text| text == b"core::fmt::write"));
        }
    }

    #[test]
    fn c_names_stay() {
        assert!(with_demangled(b"main", |text| text == b"main"));
    }

    #[test]
    fn cxx_names_are_told_from_rust_names() {
        assert!(is_cxx(b"_ZN3tvm3ffi9ModuleObj12ClearImportsEv"));
        assert!(!is_cxx(b"_ZN4core3fmt5write17h0123456789abcdefE"));
    }
}
