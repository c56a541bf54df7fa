//! Functions of programs, as a client in C would write them.

use core::ffi::{c_int, c_void};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use ferrite_core::abi::*;

use crate::classes::{fail, library, release, retain};
use crate::limits;
use crate::normal;
use crate::notes::note;
use crate::program::Callback;

/// State of a function of a program.
struct Context {
    callback: Callback,
    own: TVMFFIAny,
}

/// Number of elements up to which a function appends to a List, so that none grows without bound.
const MAX_APPENDED: i64 = 30;

/// Number of functions and opaque objects that live.
static LIVE: AtomicUsize = AtomicUsize::new(0);

/// Returns that number.
pub fn live() -> usize {
    LIVE.load(Ordering::Relaxed)
}

/// Handles of the functions that live, by context.
static HANDLES: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

/// Whether threads of a program run.
static TOGETHER: AtomicBool = AtomicBool::new(false);

/// Says whether threads of a program run. While they do, functions neither change values nor call
/// other functions.
pub fn set_together(together: bool) {
    TOGETHER.store(together, Ordering::Relaxed);
}

/// Records the function that was made with a context.
pub fn made(context: *mut c_void, handle: *mut c_void) {
    HANDLES
        .lock()
        .expect("no thread panics with the handles")
        .insert(context.addr(), handle.addr());
}

/// Returns `true` if a function is one of a program.
pub fn is_own(handle: *mut c_void) -> bool {
    HANDLES
        .lock()
        .expect("no thread panics with the handles")
        .values()
        .any(|own| *own == handle.addr())
}

/// Makes the context of a function, which owns it until [`delete`].
pub fn context(callback: Callback, own: &TVMFFIAny) -> *mut c_void {
    retain(own);
    LIVE.fetch_add(1, Ordering::Relaxed);
    Box::into_raw(Box::new(Context { callback, own: *own })).cast()
}

/// Releases a context.
///
/// # Safety
/// The context must not be used afterwards.
pub unsafe extern "C" fn delete(context: *mut c_void) {
    LIVE.fetch_sub(1, Ordering::Relaxed);
    HANDLES.lock().expect("no thread panics with the handles").remove(&context.addr());
    // SAFETY: contexts are boxes.
    let context = unsafe { Box::from_raw(context.cast::<Context>()) };
    release(&context.own);
}

/// Calls a function of a program.
///
/// # Safety
/// The context must live, the arguments must be as many as the number says, and the result must be
/// writable.
pub unsafe extern "C" fn call(
    context: *mut c_void,
    args: *const TVMFFIAny,
    num_args: i32,
    result: *mut TVMFFIAny,
) -> c_int {
    // SAFETY: the caller passes a live context and as many arguments as it says.
    let (context, args) = unsafe { (&*context.cast::<Context>(), slice(args, num_args)) };
    note(|| {
        let types: Vec<_> =
            args.iter().map(|arg| normal::type_key(library(), arg.type_index)).collect();
        format!("  {:?} called with ({})", context.callback, types.join(", "))
    });
    match context.callback {
        Callback::Forward {} | Callback::Append {} | Callback::Clear {} | Callback::CallLast {}
            if TOGETHER.load(Ordering::Relaxed) =>
        {
            0
        }
        Callback::First {} => answer(args.first(), result),
        Callback::Last {} => answer(args.last(), result),
        Callback::Own {} => answer(Some(&context.own), result),
        Callback::Count {} => int(kTVMFFIInt, num_args.into(), result),
        Callback::True {} => int(kTVMFFIBool, 1, result),
        Callback::Fail {} => fail(c"as the program says"),
        Callback::Forward {} => call_value(&context.own, args, result),
        Callback::Append {} => append(&context.own, args, result),
        Callback::Clear {} => clear(&context.own, result),
        Callback::CallLast {} => match args.split_last() {
            Some((last, rest)) => call_value(last, &rest[..rest.len().min(1)], result),
            None => 0,
        },
    }
}

/// A function that takes no context: a symbol of the system library.
///
/// # Safety
/// The arguments must be as many as the number says, and the result must be writable.
pub unsafe extern "C" fn symbol(
    _: *mut c_void,
    args: *const TVMFFIAny,
    num_args: i32,
    result: *mut TVMFFIAny,
) -> c_int {
    // SAFETY: the caller passes as many arguments as it says.
    answer(unsafe { slice(args, num_args) }.first(), result)
}

/// Makes the content of an opaque object.
pub fn opaque() -> *mut c_void {
    LIVE.fetch_add(1, Ordering::Relaxed);
    Box::into_raw(Box::new(7u64)).cast()
}

/// Releases the content of an opaque object.
///
/// # Safety
/// The content must not be used afterwards.
pub unsafe extern "C" fn delete_opaque(content: *mut c_void) {
    LIVE.fetch_sub(1, Ordering::Relaxed);
    // SAFETY: the content is a box.
    drop(unsafe { Box::from_raw(content.cast::<u64>()) });
}

/// # Safety
/// The pointer must point to that many values, unless the number is not positive.
unsafe fn slice<'a>(args: *const TVMFFIAny, num_args: i32) -> &'a [TVMFFIAny] {
    match usize::try_from(num_args) {
        // SAFETY: by contract.
        Ok(len) if len > 0 => unsafe { std::slice::from_raw_parts(args, len) },
        _ => &[],
    }
}

fn answer(value: Option<&TVMFFIAny>, result: *mut TVMFFIAny) -> c_int {
    // SAFETY: the value lives, and the result is writable.
    value.map_or(0, |value| unsafe { (library().symbols.TVMFFIAnyViewToOwnedAny)(value, result) })
}

fn int(type_index: i32, value: i64, result: *mut TVMFFIAny) -> c_int {
    let payload = TVMFFIAnyPayload { v_int64: value };
    // SAFETY: the result is writable.
    unsafe { *result = TVMFFIAny { type_index, small_str_len: 0, payload } };
    0
}

/// Calls a value that is a function, and returns None for others.
fn call_value(function: &TVMFFIAny, args: &[TVMFFIAny], result: *mut TVMFFIAny) -> c_int {
    if function.type_index != kTVMFFIFunction || !limits::may_call() {
        return 0;
    }
    // SAFETY: function and arguments live.
    unsafe {
        (library().symbols.TVMFFIFunctionCall)(
            function.payload.v_ptr,
            args.as_ptr(),
            args.len() as i32,
            result,
        )
    }
}

/// Calls a global function of the library.
pub fn call_global(name: &str, args: &[TVMFFIAny], result: &mut TVMFFIAny) -> c_int {
    let mut function = std::ptr::null_mut();
    let name = TVMFFIByteArray::from_slice(name.as_bytes());
    // SAFETY: name, function and arguments live.
    unsafe {
        let status = (library().symbols.TVMFFIFunctionGetGlobal)(&name, &mut function);
        if status != 0 || function.is_null() {
            return status;
        }
        let status = (library().symbols.TVMFFIFunctionCall)(
            function,
            args.as_ptr(),
            args.len() as i32,
            result,
        );
        (library().symbols.TVMFFIObjectDecRef)(function);
        status
    }
}

fn append(list: &TVMFFIAny, args: &[TVMFFIAny], result: *mut TVMFFIAny) -> c_int {
    // SAFETY: the value is a List, whose content is a sequence.
    let is_small = list.type_index == kTVMFFIList
        && unsafe { (*normal::content::<TVMFFISeqCell>(list)).size } < MAX_APPENDED;
    match args.first() {
        // SAFETY: the result is writable.
        Some(arg) if is_small => {
            call_global("ffi.ListAppend", &[*list, *arg], unsafe { &mut *result })
        }
        _ => 0,
    }
}

fn clear(value: &TVMFFIAny, result: *mut TVMFFIAny) -> c_int {
    // SAFETY: the result is writable.
    let result = unsafe { &mut *result };
    match value.type_index {
        kTVMFFIList => call_global("ffi.ListClear", &[*value], result),
        kTVMFFIDict => call_global("ffi.DictClear", &[*value], result),
        _ => 0,
    }
}
