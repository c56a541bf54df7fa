//! Queries to the dynamic linker about libraries, which this process loads.

use std::path::Path;

/// Reason why this program loads no library: musl's static programs have no dynamic linker. `None`
/// for programs with one.
pub const ABSENT: Option<&str> = if cfg!(all(target_env = "musl", target_feature = "crt-static")) {
    Some(
        "this command is linked statically, and cannot load libraries: build it without the \
         target feature crt-static",
    )
} else {
    None
};

/// Version, in the layout that `TVMFFIGetVersion` writes.
type Version = [u32; 3];

/// Loads a `libtvm_ffi` and returns the version that its code reports; `None` if it does not load
/// or has no such function.
pub fn version_of(path: &Path) -> Option<String> {
    let library = Handle::open(path)?;
    let symbol = library.find("TVMFFIGetVersion")?;
    let mut version = Version::default();
    // SAFETY: the ABI guarantees that the function of this name has this type, and writes three
    // numbers.
    unsafe {
        let get =
            std::mem::transmute::<*mut libc::c_void, unsafe extern "C" fn(*mut Version)>(symbol);
        get(&raw mut version);
    }
    Some(version.map(|number| number.to_string()).join("."))
}

/// Returns the names that neither the loaded library at `path`, nor its dependencies, nor this
/// process define.
pub fn unresolved<'a>(path: &Path, names: &'a [String]) -> Vec<&'a str> {
    let Some(library) = Handle::open(path) else { return Vec::new() };
    let names = names.iter().map(String::as_str);
    names
        .filter(|name| library.find(name).is_none() && Handle::PROCESS.find(name).is_none())
        .collect()
}

/// A library, which is never closed.
struct Handle(*mut libc::c_void);

#[cfg(unix)]
impl Handle {
    /// The program and the libraries whose symbols are global.
    const PROCESS: Handle = Handle(libc::RTLD_DEFAULT);

    fn open(path: &Path) -> Option<Handle> {
        use std::os::unix::ffi::OsStrExt;
        let absolute = path.canonicalize().ok()?;
        let file = std::ffi::CString::new(absolute.as_os_str().as_bytes()).ok()?;
        // SAFETY: the path ends in a NUL. The user asked to run the library.
        let library = unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_LAZY | libc::RTLD_LOCAL) };
        (!library.is_null()).then_some(Handle(library))
    }

    fn find(&self, name: &str) -> Option<*mut libc::c_void> {
        let name = std::ffi::CString::new(name).ok()?;
        // SAFETY: the library stays loaded, and the name ends in a NUL.
        let symbol = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        (!symbol.is_null()).then_some(symbol)
    }
}

/// Other systems resolve all symbols when they load a library.
#[cfg(not(unix))]
impl Handle {
    const PROCESS: Handle = Handle(std::ptr::null_mut());

    fn open(_: &Path) -> Option<Handle> {
        None
    }

    fn find(&self, _: &str) -> Option<*mut libc::c_void> {
        None
    }
}
