//! Loading of driver libraries: shared objects that are installed only on some systems, such as
//! `libcuda.so.1`.

use core::ffi::{CStr, c_void};
use core::ptr::NonNull;

use ferrite_core::error::Result;
use ferrite_core::plain_error;
use ferrite_core::platform::memory::Buffer;

use super::linker;
use super::loading::apart_from_forks;

/// An open driver library. It is never closed, since drivers leave threads and handlers behind.
#[derive(Clone, Copy)]
pub struct DriverLibrary {
    handle: NonNull<c_void>,
    name: &'static CStr,
}

// SAFETY: a handle of the dynamic linker may be used from any thread.
unsafe impl Send for DriverLibrary {}
// SAFETY: looking symbols up changes nothing.
unsafe impl Sync for DriverLibrary {}

impl DriverLibrary {
    /// Opens the first of these libraries that is installed.
    ///
    /// # Errors
    /// RuntimeError if none can be opened. The message lists all names, and contains the system's
    /// message for the last one.
    pub fn open(names: &'static [&'static CStr]) -> Result<DriverLibrary> {
        let mut last = None;
        for name in names {
            // SAFETY: the initialisers belong to a driver installed on the system.
            match apart_from_forks(|| unsafe { linker::open_resolved(name) }) {
                Ok(handle) => return Ok(DriverLibrary { handle, name }),
                Err(error) => last = Some(error),
            }
        }
        let mut list = Buffer::new();
        for name in names {
            if !list.is_empty() {
                list.try_extend_from_slice(b", ")?;
            }
            list.try_extend_from_slice(name.to_bytes())?;
        }
        let failure = |reason: &[u8]| {
            plain_error!(
                RUNTIME_ERROR,
                "The driver is not installed: looked for {} ({})",
                list.as_slice(),
                reason
            )
        };
        Err(last.map_or_else(|| failure(b""), |error| error.with_text(failure)))
    }

    /// Opens the library at `path`. `name` identifies it in error messages.
    ///
    /// # Errors
    /// RuntimeError with the system's message if the library cannot be opened.
    pub fn open_at(path: &CStr, name: &'static CStr) -> Result<DriverLibrary> {
        // SAFETY: as in `open`; the caller guarantees the library.
        let handle =
            apart_from_forks(|| unsafe { linker::open_resolved(path) }).map_err(|error| {
                error.with_text(|reason| {
                    plain_error!(RUNTIME_ERROR, "Cannot open {} ({})", path.to_bytes(), reason)
                })
            })?;
        Ok(DriverLibrary { handle, name })
    }

    /// Returns the first of these libraries that the process has already loaded, and keeps it
    /// loaded. Returns `None` if none is loaded.
    pub fn find_loaded(names: &'static [&'static CStr]) -> Option<DriverLibrary> {
        names.iter().find_map(|name| {
            apart_from_forks(|| linker::find_loaded(name))
                .map(|handle| DriverLibrary { handle, name })
        })
    }

    /// Returns the address of a function, or `None` if neither the library nor its dependencies
    /// define it.
    pub fn find(&self, name: &CStr) -> Option<NonNull<c_void>> {
        // SAFETY: the handle stays open.
        unsafe { linker::symbol(self.handle, name) }
    }

    /// Returns the address of a function.
    ///
    /// # Errors
    /// RuntimeError with the names of the function and the library if it is missing.
    pub fn function(&self, name: &CStr) -> Result<NonNull<c_void>> {
        self.find(name).ok_or_else(|| {
            let library = self.name.to_bytes();
            plain_error!(
                RUNTIME_ERROR,
                "The driver {} has no function {}",
                library,
                name.to_bytes()
            )
        })
    }
}

/// Returns `true` if two addresses lie in the same shared object.
pub fn same_object(one: *const c_void, other: *const c_void) -> bool {
    linker::object_of(one).is_some_and(|found| linker::object_of(other) == Some(found))
}

/// Returns the address of a symbol of the program or library that contains `known`. `None` if it
/// defines none.
pub fn symbol_beside(known: NonNull<c_void>, name: &CStr) -> Option<NonNull<c_void>> {
    linker::symbol_beside(known.as_ptr(), name)
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn a_symbol_is_found_in_the_library_of_another_one_only() {
        let library = DriverLibrary::find_loaded(&[c"libc.so.6"]);
        let Some(known) = library.and_then(|library| library.find(c"strlen")) else { return };
        assert!(symbol_beside(known, c"malloc").is_some());
        assert!(symbol_beside(known, c"no_such_function").is_none());
        let own = NonNull::new((library_of_this_test as *const c_void).cast_mut()).unwrap();
        assert!(symbol_beside(own, c"strlen").is_none());
    }

    fn library_of_this_test() {}

    #[test]
    fn libraries_of_the_process_are_found_and_others_not_loaded() {
        let library = DriverLibrary::find_loaded(&[c"libno_such_driver.so.9", c"libc.so.6"]);
        assert!(library.is_some_and(|library| library.find(c"malloc").is_some()));
        assert!(DriverLibrary::find_loaded(&[c"libno_such_driver.so.9"]).is_none());
    }

    #[test]
    fn addresses_belong_to_objects() -> Result<()> {
        let libc = DriverLibrary::open(&[c"libc.so.6"])?;
        let (one, other) = (libc.function(c"malloc")?.as_ptr(), libc.function(c"free")?.as_ptr());
        assert!(same_object(one, other) && !same_object(one, same_object as *const c_void));
        assert!(!same_object(core::ptr::null(), core::ptr::null()));
        Ok(())
    }

    #[test]
    fn the_first_library_that_is_there_is_opened() -> Result<()> {
        let library = DriverLibrary::open(&[c"libno_such_driver.so.9", c"libc.so.6"])?;
        assert!(library.function(c"malloc").is_ok() && library.find(c"no_such_function").is_none());
        let error = library.function(c"no_such_function").unwrap_err();
        assert_eq!(error.message_bytes(), b"The driver libc.so.6 has no function no_such_function");
        Ok(())
    }

    #[test]
    fn missing_libraries_are_named() {
        let names = &[c"libno_such_driver.so.9", c"libno_such_driver.so.8"];
        let error = DriverLibrary::open(names).map(drop).unwrap_err();
        let message = std::string::String::from_utf8_lossy(error.message_bytes()).into_owned();
        assert_eq!(error.kind_bytes(), b"RuntimeError");
        let expected = "The driver is not installed: looked for libno_such_driver.so.9, libno_such_driver.so.8 (";
        assert!(message.starts_with(expected), "{message}");
    }
}
