//! Lazily linked system unwinder: `libgcc_s` is loaded on the first use of the unwinder. Loading it
//! takes longer than loading this library, and most processes never unwind through this library.
//!
//! `std` refers to the unwinder's functions by name. In the shared object, the linker option
//! `--wrap` (`unwinder.ld`, passed by the build scripts) redirects these references to the
//! functions of this file, which call the real ones. Static libraries and programs are linked
//! without the option and use the unwinder as usual. The process has only one unwinder, shared with
//! C++.

use core::ffi::{CStr, c_int, c_void};
use core::mem::transmute;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::process;

/// Library that defines the unwinder's functions, used unless the process has already loaded them.
const LIBRARY: &CStr = c"libgcc_s.so.1";

/// `_URC_END_OF_STACK`: reason code that ends an unwind.
const END_OF_STACK: c_int = 5;

/// Lazily resolved function of the unwinder.
struct Function {
    /// Name, with a null terminator.
    name: &'static str,
    /// Address; null until all functions have been found.
    address: AtomicPtr<c_void>,
}

impl Function {
    const fn new(name: &'static str) -> Function {
        Function { name, address: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Looks up the function, and stores its address. Symbols of the process take precedence over
    /// those of `library`, since sanitizers interpose functions. Returns `false` if the function is
    /// not found.
    fn find(&self, library: *mut c_void) -> bool {
        let name = self.name.as_ptr().cast();
        // SAFETY: the name ends in a NUL; the library is open, or null, which stands for the whole
        // process.
        let found = unsafe { [libc::dlsym(libc::RTLD_DEFAULT, name), libc::dlsym(library, name)] };
        let address = found.into_iter().find(|address| !address.is_null());
        self.address.store(address.unwrap_or(ptr::null_mut()), Ordering::Relaxed);
        address.is_some()
    }
}

/// Whether the addresses of all functions are known.
static FOUND: AtomicBool = AtomicBool::new(false);

/// Resolves the functions unless they are resolved already. Returns `true` if there is an unwinder.
/// Several threads may do this at once, with the same result. No lock is used, since a fork could
/// leave it held in the child.
fn found() -> bool {
    FOUND.load(Ordering::Acquire) || find()
}

/// Looks up all functions together, so that they come from the same unwinder. Returns `false` if
/// one is missing.
#[cold]
fn find() -> bool {
    // SAFETY: the name ends in a NUL, and the initialisers are the system's own. The library stays
    // open, since its addresses are kept.
    let library = unsafe { libc::dlopen(LIBRARY.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    let found = FUNCTIONS.iter().all(|function| function.find(library));
    FOUND.store(found, Ordering::Release);
    found
}

#[cfg(target_arch = "x86_64")]
macro_rules! jump {
    () => {
        "jmp"
    };
}
#[cfg(target_arch = "aarch64")]
macro_rules! jump {
    () => {
        "b"
    };
}

/// Defines three items for each function of the unwinder: a static with its address, a forwarding
/// function, and the symbol that `--wrap` refers to. The symbol is defined in assembly, since it
/// must be hidden; `no_mangle` would export it.
macro_rules! functions {
    ($(fn $name:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)?, or $absent:expr;)*) => {
        static FUNCTIONS: &[&Function] = &[$(&addresses::$name),*];

        #[allow(non_upper_case_globals, reason = "the names of the C functions")]
        mod addresses {
            use super::Function;

            $(pub static $name: Function = Function::new(concat!(stringify!($name), "\0"));)*
        }

        #[allow(non_snake_case, reason = "the names of the C functions")]
        mod calls {
            use super::*;

            $(pub unsafe extern "C-unwind" fn $name($($argument: $kind),*) $(-> $result)? {
                type Callee = unsafe extern "C-unwind" fn($($kind),*) $(-> $result)?;
                if !found() {
                    $absent
                }
                let address = addresses::$name.address.load(Ordering::Relaxed);
                // SAFETY: the unwinder's function of this name has this signature; the caller
                // upholds its contract.
                unsafe { transmute::<*mut c_void, Callee>(address)($($argument),*) }
            })*
        }

        $(core::arch::global_asm!(
            concat!(".pushsection .text.__wrap_", stringify!($name), ",\"ax\",%progbits"),
            concat!(".globl __wrap_", stringify!($name)),
            concat!(".hidden __wrap_", stringify!($name)),
            concat!(".type __wrap_", stringify!($name), ",%function"),
            concat!("__wrap_", stringify!($name), ":"),
            concat!(jump!(), " {}"),
            ".popsection",
            sym calls::$name
        );)*
    };
}

// Without an unwinder, the first two report the end of the stack: backtraces are empty, and `std`
// aborts the process with a message. The others are called by an unwinder, or with a context from
// it.
functions! {
    fn _Unwind_Backtrace(visit: *mut c_void, argument: *mut c_void) -> c_int, or return END_OF_STACK;
    fn _Unwind_RaiseException(exception: *mut c_void) -> c_int, or return END_OF_STACK;
    fn _Unwind_Resume(exception: *mut c_void) -> !, or process::abort();
    fn _Unwind_DeleteException(exception: *mut c_void), or process::abort();
    fn _Unwind_FindEnclosingFunction(address: *mut c_void) -> *mut c_void, or process::abort();
    fn _Unwind_GetCFA(context: *mut c_void) -> usize, or process::abort();
    fn _Unwind_GetDataRelBase(context: *mut c_void) -> usize, or process::abort();
    fn _Unwind_GetIP(context: *mut c_void) -> usize, or process::abort();
    fn _Unwind_GetIPInfo(context: *mut c_void, before: *mut c_int) -> usize, or process::abort();
    fn _Unwind_GetLanguageSpecificData(context: *mut c_void) -> *mut c_void, or process::abort();
    fn _Unwind_GetRegionStart(context: *mut c_void) -> usize, or process::abort();
    fn _Unwind_GetTextRelBase(context: *mut c_void) -> usize, or process::abort();
    fn _Unwind_SetGR(context: *mut c_void, register: c_int, value: usize), or process::abort();
    fn _Unwind_SetIP(context: *mut c_void, value: usize), or process::abort();
}
