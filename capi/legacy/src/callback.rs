//! Functions implemented by C callbacks: creation, return values, and ownership of arguments.

use core::cell::Cell;
use core::ffi::{c_int, c_void};

use core::ptr;

use ferrite_core::abi::TVMFFIObject;
use ferrite_core::error::Result;
use ferrite_core::error::raised_error::Mark;
use ferrite_core::object::ObjectRef;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{Any, AnyView, Function, plain_bail};

use super::converted::{ArgumentStorage, ConvertedArguments};
use super::crossing::Views;
use super::{argument, crossing, error};
use ferrite_boundary::{self as boundary, arg};
use ferrite_core::abi::packed::code;
use ferrite_core::abi::packed::{TVMFunctionHandle, TVMRetValueHandle, TVMValue};

/// A packed function implemented in C. Returns 0 on success. Any other status is a failure, for
/// which the callback has set the thread's last error.
pub type TVMPackedCFunc = unsafe extern "C" fn(
    args: *mut TVMValue,
    type_codes: *mut c_int,
    num_args: c_int,
    ret: TVMRetValueHandle,
    resource_handle: *mut c_void,
) -> c_int;

/// Finalizer that frees a callback's resource.
pub type TVMPackedCFuncFinalizer = unsafe extern "C" fn(resource_handle: *mut c_void);

/// A callback with its resource and finalizer. The finalizer runs when this is dropped.
struct Callback {
    function: TVMPackedCFunc,
    resource: *mut c_void,
    finalizer: Option<TVMPackedCFuncFinalizer>,
}

// SAFETY: a callback may be called and freed on every thread (contract of the API).
unsafe impl Send for Callback {}
// SAFETY: as above.
unsafe impl Sync for Callback {}

impl Drop for Callback {
    fn drop(&mut self) {
        if let Some(finalizer) = self.finalizer {
            // SAFETY: called once, with its resource.
            unsafe { finalizer(self.resource) }
        }
    }
}

/// References to a callback's array arguments, which the front end releases. Front ends of 0.5 and
/// 0.6 release an array argument without having retained it. Later ones call [`TVMCbArgToReturn`]
/// first, which transfers the reference kept here.
struct Loans {
    arrays: Buffer<Cell<*mut TVMFFIObject>>,
    outer: *const Loans,
}

thread_local! {
    /// The references kept for the innermost running callback of this thread.
    static INNERMOST: Cell<*const Loans> = const { Cell::new(ptr::null()) };
}

impl Loans {
    /// Retains each array among the arguments.
    ///
    /// # Errors
    /// MemoryError.
    ///
    /// # Safety
    /// The arguments must be valid.
    unsafe fn new(args: &ConvertedArguments<'_>) -> Result<Loans> {
        let mut arrays = Buffer::new();
        for index in 0..args.count as usize {
            // SAFETY: the caller guarantees valid arguments, which have one value and one code
            // each.
            unsafe {
                if *args.codes.add(index) == code::ND_ARRAY {
                    let array = (*args.values.add(index)).v_handle;
                    arrays.try_push(Cell::new(crossing::object_of(array.cast())))?;
                }
            }
        }
        for array in arrays.iter() {
            // SAFETY: the arguments of a call are alive; the callback owns this reference.
            unsafe { retain(array.get()) };
        }
        Ok(Loans { arrays, outer: ptr::null() })
    }

    /// Runs a callback while its array arguments can be claimed.
    fn during<R>(mut self, body: impl FnOnce() -> R) -> R {
        self.outer = INNERMOST
            .try_with(|innermost| innermost.replace(&raw const self))
            .unwrap_or(ptr::null());
        let returned = body();
        let _ = INNERMOST.try_with(|innermost| innermost.set(self.outer));
        returned
    }

    /// Transfers the kept reference to an array to the callback. Returns `false` if there is none.
    fn claim(array: *mut TVMFFIObject) -> bool {
        let mut here = INNERMOST.try_with(Cell::get).unwrap_or(ptr::null());
        // SAFETY: the loans of running callbacks lie on this thread's stack.
        while let Some(loans) = unsafe { here.as_ref() } {
            if let Some(found) = loans.arrays.iter().find(|lent| lent.get() == array) {
                found.set(ptr::null_mut());
                return true;
            }
            here = loans.outer;
        }
        false
    }
}

/// Adds a reference to an object. Null is ignored.
///
/// # Safety
/// `object` must be null or a live object.
unsafe fn retain(object: *mut TVMFFIObject) {
    if let Some(object) = ptr::NonNull::new(object) {
        // SAFETY: the caller guarantees the object.
        core::mem::forget(unsafe { ObjectRef::borrow_raw(object) });
    }
}

impl Callback {
    fn call(&self, args: &[AnyView<'_>]) -> Result<Any> {
        let mut storage = ArgumentStorage::new();
        let converted = storage.convert(args)?;
        if self.finalizer.is_none() {
            return self.run(converted);
        }
        // A callback with a finalizer belongs to a front end, which frees its arguments.
        // SAFETY: the arguments are valid until the callback returns.
        unsafe { Loans::new(&converted)? }.during(|| self.run(converted))
    }

    fn run(&self, args: ConvertedArguments<'_>) -> Result<Any> {
        let mut returned = Any::NONE;
        let place: *mut Any = &mut returned;
        let before = Mark::now();
        // SAFETY: the callback has this type, and its arguments are valid until it returns.
        let status = unsafe {
            let ConvertedArguments { values, codes, count, .. } = args;
            (self.function)(values, codes, count, place.cast(), self.resource)
        };
        if status == 0 { Ok(returned) } else { Err(error::callback_error(status, before)) }
    }
}

/// Creates a function object from a C callback.
///
/// The function owns `resource_handle`. If `fin` is not null, it is called with `resource_handle`
/// exactly once, when the function is destroyed or when this call fails, on any thread. A callback
/// with a finalizer is assumed to belong to a front end: it owns a reference to each NDArray
/// argument, and releases it by `TVMArrayFree`. A callback without a finalizer borrows NDArray
/// arguments.
///
/// Returns 0 and stores the function, owned by the caller, in `out`. On failure, returns -1 with an
/// error raised.
///
/// # Safety
/// `func` and `fin` must be callable on any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFuncCreateFromCFunc(
    func: Option<TVMPackedCFunc>,
    resource_handle: *mut c_void,
    fin: Option<TVMPackedCFuncFinalizer>,
    out: *mut TVMFunctionHandle,
) -> c_int {
    boundary::status(|| {
        let Some(function) = func else {
            // The resource is freed in any case.
            if let Some(finalizer) = fin {
                // SAFETY: called once, with its resource.
                unsafe { finalizer(resource_handle) };
            }
            return boundary::callback(func, arg(1, "func")).map(drop);
        };
        let callback = Callback { function, resource: resource_handle, finalizer: fin };
        // SAFETY: contract of the crate.
        let out = unsafe { boundary::out(out, arg(4, "out"))? };
        out.write_object(Some(Function::from_packed(move |args| callback.call(args))?));
        Ok(())
    })
}

/// Sets the return value of the running callback. A later call replaces the value. Without a call,
/// the callback returns null.
///
/// Strings and bytes are copied, and objects are retained. Returns 0, or -1 with an error raised:
/// ValueError if `num_ret` is not 1 or a pointer is null, TypeError for an unknown type code, or
/// MemoryError.
///
/// # Safety
/// `ret` must be the handle passed to the running callback.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMCFuncSetReturn(
    ret: TVMRetValueHandle,
    value: *mut TVMValue,
    type_code: *mut c_int,
    num_ret: c_int,
) -> c_int {
    boundary::status(|| {
        if num_ret != 1 {
            plain_bail!(VALUE_ERROR, "A callback returns one value, not {}", num_ret);
        }
        // SAFETY: contract of the crate, and of this function.
        unsafe {
            let place = boundary::non_null(ret.cast::<Any>(), arg(1, "ret"))?;
            let value = *boundary::reference(value, arg(2, "value"))?;
            let type_code = *boundary::reference(type_code, arg(3, "type_code"))?;
            let mut views = Views::new();
            let view = argument::view(value, type_code, 0, &mut views)?;
            drop(place.replace(AnyView::from_raw(view).to_owned_or_pointer()?));
        }
        Ok(())
    })
}

/// Converts a borrowed callback argument into an owned value, in place. Numbers and other plain
/// values are unchanged.
///
/// `code` is either the type code itself, as passed by 0.5 and 0.6, or its address, as passed by
/// later releases; addresses are at least 4096. An object passed by rvalue reference (14) is moved,
/// and its type code becomes 8.
///
/// Returns 0, or -1 with an error raised: TypeError for a string, bytes or an unknown type code, or
/// ValueError for an rvalue reference whose object was moved before.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMCbArgToReturn(value: *mut TVMValue, code: *mut c_int) -> c_int {
    boundary::status(|| {
        let value = boundary::non_null(value, arg(1, "value"))?;
        let mut by_value = code.addr() as u32 as c_int;
        let is_address = code.addr() >= FIRST_ADDRESS;
        let code = if is_address { code } else { &raw mut by_value };
        // SAFETY: contract of the module: either the caller's address, or a local copy.
        unsafe { make_owned(value.as_ptr(), code) }
    })
}

/// Lowest value of `code` that is taken for an address rather than a type code.
const FIRST_ADDRESS: usize = 4096;

/// Converts a borrowed argument into an owned value, in place.
///
/// # Safety
/// Both pointers must be valid, and the value must match its type code.
unsafe fn make_owned(value: *mut TVMValue, type_code: *mut c_int) -> Result<()> {
    // SAFETY: the caller guarantees both.
    unsafe {
        let pointer = (*value).v_handle;
        match *type_code {
            code::TEXT | code::BYTES => {
                plain_bail!(
                    TYPE_ERROR,
                    "A text or bytes among the arguments cannot be kept: copy it"
                )
            }
            code::OBJECT | code::MODULE | code::FUNCTION => retain(pointer.cast()),
            code::ND_ARRAY => {
                let object = crossing::object_of(pointer.cast());
                if !Loans::claim(object) {
                    retain(object);
                }
            }
            code::RVALUE_REF => match argument::take_rvalue(pointer) {
                Some(object) => {
                    *value = TVMValue::of_pointer(object.as_ptr().cast());
                    *type_code = code::OBJECT;
                }
                None => {
                    plain_bail!(VALUE_ERROR, "The object of an rvalue reference was taken before")
                }
            },
            code::INT..=code::DL_TENSOR | code::BOOL => {}
            other => plain_bail!(TYPE_ERROR, "There is no type code {}", other),
        }
    }
    Ok(())
}
