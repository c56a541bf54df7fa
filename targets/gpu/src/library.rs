//! Driver libraries as tables of function pointers. A library is opened on first use and never
//! closed.

pub use ferrite_host::dynamic_lib::driver::{DriverLibrary, same_object};

#[cfg(feature = "cuda")]
use core::ffi::CStr;

#[cfg(feature = "cuda")]
use ferrite_core::error::Result;
#[cfg(feature = "cuda")]
use ferrite_core::platform::memory::Buffer;

/// Opens the library at a path, or the first of these paths in the folder at the path. The outer
/// result fails with a MemoryError, the inner one if no library loads.
#[cfg(feature = "cuda")]
pub(crate) fn open_in(path: &'static CStr, in_folder: &[&str]) -> Result<Result<DriverLibrary>> {
    for name in in_folder {
        let mut file = Buffer::new();
        file.try_extend_from_slice(path.to_bytes())?;
        file.try_extend_from_slice(name.as_bytes())?;
        file.try_push(0)?;
        if let Ok(file) = CStr::from_bytes_with_nul(&file)
            && let Ok(library) = DriverLibrary::open_at(file, path)
        {
            return Ok(Ok(library));
        }
    }
    Ok(DriverLibrary::open_at(path, path))
}

/// Declares a table of functions that a driver library exports.
///
/// ```ignore
/// driver_table! {
///     /// The functions of the driver.
///     pub struct Api from ["libfoo.so.2", "libfoo.so.1"] {
///         fn fooInit(flags: c_uint) -> c_int;
///         optional fn fooNew() -> c_int;
///     }
/// }
/// let api = Api::open()?; // opens the first library that is there
/// let status = unsafe { (api.fooInit)(0) };
/// ```
///
/// A missing library is a RuntimeError that names all candidates; a missing function is a
/// RuntimeError that names function and library. An optional function is an `Option`.
#[cfg(any(feature = "opencl", feature = "cuda", feature = "rocm"))]
macro_rules! driver_table {
    (
        $(#[$meta:meta])*
        pub struct $table:ident from [$($library:literal),+ $(,)?] {
            $(fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)?;)*
            $(optional fn $optional:ident($($optional_argument:ident: $optional_type:ty),* $(,)?)
                $(-> $optional_result:ty)?;)*
        }
    ) => {
        $(#[$meta])*
        #[expect(non_snake_case, reason = "the driver spells its functions")]
        pub struct $table {
            $(pub $name: unsafe extern "C" fn($($argument: $type),*) $(-> $result)?,)*
            $(pub $optional: Option<unsafe extern "C" fn($($optional_argument: $optional_type),*) $(-> $optional_result)?>,)*
        }

        impl $table {
            /// Opens the library and looks up its functions.
            ///
            /// # Errors
            /// RuntimeError if the library or one of its functions is missing.
            pub fn open() -> ferrite_core::Result<$table> {
                const NAMES: &[&core::ffi::CStr] = &[$(
                    match core::ffi::CStr::from_bytes_with_nul(concat!($library, "\0").as_bytes()) {
                        Ok(name) => name,
                        Err(_) => panic!("a name of a library has no NUL"),
                    }
                ),+];
                Self::find_in($crate::library::DriverLibrary::open(NAMES)?)
            }

            /// Looks up the functions in an open library.
            ///
            /// # Errors
            /// RuntimeError if a function is missing.
            pub fn find_in(library: $crate::library::DriverLibrary) -> ferrite_core::Result<$table> {
                // SAFETY: the address of a function is a valid function pointer; the driver's
                // documentation specifies the types of these functions.
                unsafe {
                    Ok($table {
                        $($name: core::mem::transmute::<
                            *mut core::ffi::c_void,
                            unsafe extern "C" fn($($type),*) $(-> $result)?,
                        >(
                            library.function($crate::library::c_name!($name))?.as_ptr()
                        ),)*
                        $($optional: core::mem::transmute::<
                            *mut core::ffi::c_void,
                            Option<unsafe extern "C" fn($($optional_type),*) $(-> $optional_result)?>,
                        >(
                            library
                                .find($crate::library::c_name!($optional))
                                .map_or(core::ptr::null_mut(), core::ptr::NonNull::as_ptr)
                        ),)*
                    })
                }
            }
        }
    };
}

/// Returns an identifier as a C string.
#[cfg(any(feature = "opencl", feature = "cuda", feature = "rocm", feature = "vulkan"))]
macro_rules! c_name {
    ($name:ident) => {{
        const NAME: &core::ffi::CStr =
            match core::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes())
            {
                Ok(name) => name,
                Err(_) => panic!("an identifier has no NUL"),
            };
        NAME
    }};
}

#[cfg(any(feature = "opencl", feature = "cuda", feature = "rocm", feature = "vulkan"))]
pub(crate) use c_name;
#[cfg(any(feature = "opencl", feature = "cuda", feature = "rocm"))]
pub(crate) use driver_table;
