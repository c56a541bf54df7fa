//! Function objects: packed calls with [`AnyView`] arguments, and the safe-call convention of C.

use core::ffi::{c_int, c_void};
use core::mem::{align_of, size_of};
use core::ptr;

use crate::abi::{TVMFFIAny, TVMFFIFunctionCell, TVMFFIObject, TVMFFISafeCallType, type_index};
use crate::call::typed::{Callee, TypedFn};
use crate::error::Result;
use crate::error::raised_error::Mark;
use crate::object::ObjectClass;
use crate::object::free::LEAF_DELETER;
use crate::object::object_alloc::{self, ObjectRecord};
use crate::plain_error;
use crate::value::any::{Any, AnyView};

#[cfg(target_has_atomic = "ptr")]
mod cached;
mod call;
mod moved;
mod scoped;
mod serve;
mod status;
mod typed_function;

pub use crate::value::convert::{Argument, Arguments};
#[cfg(target_has_atomic = "ptr")]
pub use cached::CachedGlobal;
pub use moved::Moved;
pub use serve::{serve_in_place, serve_safe_call};
pub use status::{check_status, checked, failure, failure_unmarked, raised_since, take_raised};
pub use typed_function::TypedFunction;

crate::object_class! {
    /// A reference to a function object.
    ///
    /// Functions may be called from any thread, and by several threads at once.
    ///
    /// # Upstream
    /// `tvm::ffi::Function` in `function.h`.
    pub struct Function, type_index::FUNCTION, "ffi.Function"
}

/// The common first fields of all function objects.
#[repr(C)]
struct FunctionRecord {
    header: TVMFFIObject,
    cell: TVMFFIFunctionCell,
}

/// The record of a function object over a C callback.
#[repr(C)]
struct ExternRecord {
    function: FunctionRecord,
    context: *mut c_void,
    safe_call: TVMFFISafeCallType,
    deleter: Option<unsafe extern "C" fn(*mut c_void)>,
}

/// The record of a function object over a Rust closure.
#[repr(C)]
struct ClosureRecord<F> {
    function: FunctionRecord,
    closure: F,
}

#[cfg(not(feature = "client"))]
impl ExternRecord {
    /// Returns the addresses that identify a callback: its context, function and deleter, which are
    /// adjacent in the record and never change. Creates no Rust reference to the record, because
    /// other threads may change its count.
    ///
    /// # Safety
    /// The record must be alive.
    unsafe fn callback(record: *const ExternRecord) -> [usize; 3] {
        const _: () = assert!(
            core::mem::offset_of!(ExternRecord, deleter)
                == core::mem::offset_of!(ExternRecord, context) + 2 * size_of::<usize>(),
            "no padding"
        );
        const AT: usize = core::mem::offset_of!(ExternRecord, context);
        // SAFETY: the record contains three adjacent words at this offset, each a pointer or null.
        unsafe { record.byte_add(AT).cast::<[usize; 3]>().read() }
    }
}

// SAFETY: repr(C), header first.
unsafe impl ObjectRecord for ExternRecord {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        let record: *mut ExternRecord = this.cast();
        // SAFETY: the record is initialised and ours alone; the deleter belongs to its context.
        unsafe {
            if let Some(deleter) = (*record).deleter {
                deleter((*record).context);
            }
        }
    }
}

// SAFETY: repr(C), header first; alignment is checked where records are made.
unsafe impl<F> ObjectRecord for ClosureRecord<F> {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        // SAFETY: the record is initialised and ours alone.
        unsafe { ptr::drop_in_place(&raw mut (*this.cast::<ClosureRecord<F>>()).closure) };
    }
}

impl Function {
    /// Creates a function from a closure over packed arguments.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::{Any, Function};
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let count = Function::from_packed(|args| Ok(Any::from(args.len() as i64)))?;
    /// assert_eq!(count.call::<i64>((1, "two", 3.0))?, 3);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// MemoryError. The closure is then dropped.
    ///
    /// # Upstream
    /// `Function::FromPacked`.
    pub fn from_packed<F>(closure: F) -> Result<Function>
    where
        F: Fn(&[AnyView<'_>]) -> Result<Any> + Send + Sync + 'static,
    {
        const { assert!(align_of::<F>() <= 16) };
        // SAFETY: the allocation has room for the record.
        let init = move |record: *mut ClosureRecord<F>| unsafe {
            (&raw mut (*record).function.cell).write(cell(closure_safe_call::<F>));
            (&raw mut (*record).closure).write(closure);
        };
        // SAFETY: init writes cell and closure, which the record's destroy drops.
        unsafe { object_alloc::allocate(type_index::FUNCTION, 0, init).map(Function) }
    }

    /// Creates a function from a typed closure. Each call checks the number and types of its
    /// arguments.
    ///
    /// ```
    /// # use ferrite_core::{Function, Result};
    /// # fn main() -> Result<()> {
    /// let add = Function::from_typed(|a: i64, b: i64| a + b)?;
    /// assert_eq!(add.call_packed(&[2i64.into(), 3i64.into()])?.get::<i64>()?, 5);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// MemoryError.
    ///
    /// # Upstream
    /// `Function::FromTyped`.
    pub fn from_typed<Args, F>(closure: F) -> Result<Function>
    where
        F: TypedFn<Args> + Send + Sync + 'static,
        Args: 'static,
    {
        Function::from_packed(move |args| closure.invoke(&Callee::new("", F::SIGNATURE), args))
    }

    /// Creates a function from a C callback. `deleter` is called with `context` when the function
    /// is destroyed, and not called if this function fails.
    ///
    /// # Errors
    /// MemoryError.
    ///
    /// # Safety
    /// `safe_call` must accept `context` on any thread until `deleter` is called.
    ///
    /// # Upstream
    /// `TVMFFIFunctionCreate`.
    pub unsafe fn from_extern_c(
        context: *mut c_void,
        safe_call: TVMFFISafeCallType,
        deleter: Option<unsafe extern "C" fn(*mut c_void)>,
    ) -> Result<Function> {
        let init = |record: *mut ExternRecord| {
            // SAFETY: the allocation has room for the record.
            unsafe {
                (&raw mut (*record).function.cell).write(cell(EXTERN_SAFE_CALL));
                (&raw mut (*record).context).write(context);
                (&raw mut (*record).safe_call).write(safe_call);
                (&raw mut (*record).deleter).write(deleter);
                if LEAVES && deleter.is_none() {
                    (*record.cast::<TVMFFIObject>()).deleter.deleter = Some(LEAF_DELETER);
                }
            }
        };
        // SAFETY: init writes every field.
        unsafe { object_alloc::allocate(type_index::FUNCTION, 0, init).map(Function) }
    }

    /// Calls the function with `args` and returns its result.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::{AnyView, Function};
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let add = Function::from_typed(|a: i64, b: f64| a as f64 + b)?;
    /// assert_eq!(add.call_packed(&[AnyView::from(1i64), AnyView::from(0.5)])?.get::<f64>()?, 1.5);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The error that the function raised; ValueError if the function object has no safe call;
    /// TypeError if it returned a DLTensor pointer, which nothing keeps alive.
    ///
    /// # Upstream
    /// `TVMFFIFunctionCall`.
    pub fn call_packed(&self, args: &[AnyView<'_>]) -> Result<Any> {
        // SAFETY: a function's safe call takes the function itself as its handle (ABI).
        unsafe { invoke_safe_call(self.safe_call()?, self.as_object().as_ptr().cast(), args) }
    }

    /// Returns `true` if both are the same object, or have the same C callback, context and
    /// deleter.
    #[cfg(not(feature = "client"))]
    pub(crate) fn same_callback(&self, other: &Function) -> bool {
        if self.as_object().ptr_eq(other.as_object()) {
            return true;
        }
        match (self.as_extern(), other.as_extern()) {
            // SAFETY: both functions are alive.
            (Some(one), Some(other)) => unsafe {
                ExternRecord::callback(one) == ExternRecord::callback(other)
            },
            _ => false,
        }
    }

    #[cfg(not(feature = "client"))]
    fn as_extern(&self) -> Option<*const ExternRecord> {
        let record = self.as_object().as_ptr();
        // SAFETY: functions with this library's own trampoline have this library's record.
        unsafe {
            let found = (*record.cast::<FunctionRecord>()).cell.safe_call?;
            ptr::fn_addr_eq(found, EXTERN_SAFE_CALL).then_some(record.cast_const().cast())
        }
    }

    fn safe_call(&self) -> Result<TVMFFISafeCallType> {
        // SAFETY: the cell follows the header of every function object (ABI).
        let safe_call =
            unsafe { (*self.as_object().as_ptr().cast::<FunctionRecord>()).cell.safe_call };
        safe_call.ok_or_else(
            || plain_error!(VALUE_ERROR, "The function object has no safe_call"; "no safe_call"),
        )
    }
}

/// Whether functions without a deleter of their context are leaves. Size-optimised builds treat all
/// functions alike.
const LEAVES: bool = cfg!(feature = "speed");

const fn cell(safe_call: TVMFFISafeCallType) -> TVMFFIFunctionCell {
    TVMFFIFunctionCell { safe_call: Some(safe_call), cpp_call: ptr::null_mut() }
}

/// Calls a function with the safe-call convention and returns its result.
///
/// # Errors
/// The error that the function raised; InternalError that names its status if it failed without
/// raising one; TypeError if it returned a DLTensor pointer; ValueError for more arguments than an
/// `i32` can count.
///
/// # Safety
/// `safe_call` must accept `handle`.
pub unsafe fn invoke_safe_call(
    safe_call: TVMFFISafeCallType,
    handle: *mut c_void,
    args: &[AnyView<'_>],
) -> Result<Any> {
    let Ok(count) = i32::try_from(args.len()) else {
        return Err(plain_error!(VALUE_ERROR, "Too many arguments: {}", args.len()));
    };
    let mut result: TVMFFIAny = *AnyView::NONE.as_raw();
    let before = Mark::now();
    // SAFETY: AnyView is transparent over the cell; the result is a valid cell holding None.
    let status = unsafe { safe_call(handle, args.as_ptr().cast(), count, &mut result) };
    if status != 0 {
        return Err(failure(status, before));
    }
    // SAFETY: a successful call leaves an owned value in the result (ABI).
    unsafe { Any::from_result(result) }
}

/// The address of [`extern_safe_call`], which identifies functions over C callbacks. A static,
/// because the compiler may emit several copies of the function.
static EXTERN_SAFE_CALL: TVMFFISafeCallType = extern_safe_call;

/// The safe call of functions over C callbacks: calls the callback with its context.
unsafe extern "C" fn extern_safe_call(
    handle: *mut c_void,
    args: *const TVMFFIAny,
    count: i32,
    result: *mut TVMFFIAny,
) -> c_int {
    let record: *const ExternRecord = handle.cast();
    // SAFETY: the handle is a live function with this record, the only kind that uses this
    // trampoline.
    unsafe { ((*record).safe_call)((*record).context, args, count, result) }
}

/// The safe call of functions over Rust closures: calls the closure.
unsafe extern "C" fn closure_safe_call<F>(
    handle: *mut c_void,
    args: *const TVMFFIAny,
    count: i32,
    result: *mut TVMFFIAny,
) -> c_int
where
    F: Fn(&[AnyView<'_>]) -> Result<Any>,
{
    // SAFETY: the handle is a live function with a closure of this type, the only kind that uses
    // this trampoline.
    let closure = unsafe { &(*handle.cast::<ClosureRecord<F>>()).closure };
    // SAFETY: the arguments are those of a safe call (ABI).
    unsafe { serve_safe_call(args, count, result, closure) }
}

const _: () = {
    assert!(size_of::<FunctionRecord>() == if size_of::<usize>() == 8 { 40 } else { 32 });
    assert!(core::mem::offset_of!(ExternRecord, context) == size_of::<FunctionRecord>());
};

#[cfg(test)]
mod tests;
