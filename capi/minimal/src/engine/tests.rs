//! Tests of the engine, one at a time, since its tables are static.

extern crate std;

use core::ffi::{c_char, c_int, c_void};
use core::ptr::{self, NonNull};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::capacity;
use super::string::StringKind;
use super::workspace::Exhausted;
use super::{Refusal, create_function, errors, init_once, names, release, string, text, workspace};
use ferrite_core::abi::{
    TVMFFIAny, TVMFFIByteArray, TVMFFIErrorCell, TVMFFIFunctionCell, TVMFFIObject, type_index,
};
use ferrite_core::object::refcount;

fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

unsafe extern "C" fn double(
    _: *mut c_void,
    args: *const TVMFFIAny,
    _: i32,
    result: *mut TVMFFIAny,
) -> c_int {
    // SAFETY: the tests call it with one integer.
    unsafe {
        *result = *args;
        (*result).payload.v_int64 *= 2;
    }
    0
}

unsafe extern "C" fn count_up(state: *mut c_void) {
    // SAFETY: the tests hand in a counter.
    unsafe { *state.cast::<u32>() += 1 };
}

fn function(deleted: &mut u32) -> NonNull<TVMFFIObject> {
    // SAFETY: the functions above; the counter outlives the object.
    match unsafe { create_function(ptr::from_mut(deleted).cast(), double, Some(count_up)) } {
        Ok(function) => function,
        Err(refusal) => panic!("{refusal:?}"),
    }
}

fn strong(object: NonNull<TVMFFIObject>) -> u32 {
    // SAFETY: the object is alive.
    unsafe { refcount::strong_count(object.as_ptr()) }
}

fn bytes(text: &[u8]) -> TVMFFIByteArray {
    TVMFFIByteArray { data: text.as_ptr().cast(), size: text.len() }
}

/// Borrows the content of an array; null is empty.
fn content(array: &TVMFFIByteArray) -> &[u8] {
    // SAFETY: the tests pass arrays that the library wrote.
    unsafe { array.as_slice() }
}

#[test]
fn a_function_is_called_and_gives_its_state_back_once() {
    let _turn = turn();
    let mut deleted = 0;
    let function = function(&mut deleted);
    let arg = TVMFFIAny { type_index: type_index::INT, ..TVMFFIAny::NONE };
    let mut result = TVMFFIAny::NONE;
    // SAFETY: the object is alive and has its cell after the header; each reference is given up
    // once.
    unsafe {
        let cell = function.as_ptr().add(1).cast::<TVMFFIFunctionCell>();
        let call = (*cell).safe_call.unwrap_or(double);
        let mut arg = arg;
        arg.payload.v_int64 = 21;
        assert_eq!(call(function.as_ptr().cast(), &arg, 1, &mut result), 0);
        assert_eq!(result.payload.v_int64, 42);
        refcount::retain(function.as_ptr());
        release(function.as_ptr());
        release(function.as_ptr());
    }
    assert_eq!(deleted, 1);
}

#[test]
fn a_weak_reference_keeps_the_slot_and_not_the_state() {
    let _turn = turn();
    let mut deleted = 0;
    let function = function(&mut deleted);
    // SAFETY: the weak reference keeps the header readable.
    unsafe {
        refcount::retain_weak(function.as_ptr());
        release(function.as_ptr());
        assert_eq!((*function.as_ptr()).type_index, type_index::FUNCTION);
        assert_eq!(refcount::release_relaxed(function.as_ptr(), 1), 0);
        if let Some(deleter) = (*function.as_ptr()).deleter.deleter {
            deleter(function.as_ptr().cast(), 2);
        }
        assert_eq!((*function.as_ptr()).type_index, 0);
    }
    assert_eq!(deleted, 1);
}

#[test]
fn a_full_pool_refuses_and_goes_on() {
    let _turn = turn();
    let mut deleted = 0;
    for _ in 0..2 {
        let mut functions = std::vec::Vec::new();
        while let Ok(one) =
            // SAFETY: as in `function`.
            unsafe { create_function((&raw mut deleted).cast(), double, Some(count_up)) }
        {
            functions.push(one);
        }
        assert!(!functions.is_empty() && functions.len() <= capacity::FUNCTIONS);
        for one in functions {
            // SAFETY: one reference each.
            unsafe { release(one.as_ptr()) };
        }
    }
}

#[test]
fn names_are_found_whatever_their_length() {
    let _turn = turn();
    // The table never releases it, so it has no state.
    // SAFETY: a null state is never used.
    let Ok(function) = (unsafe { create_function(ptr::null_mut(), double, None) }) else {
        panic!("a free slot")
    };
    // Names of equal length and last byte, and names shorter than a word.
    const TEXTS: [&[u8]; 7] = [b"", b"a", b"ba", b"ca", b"abcdefga", b"abcdxfga", b"abcdefghia"];
    for text in TEXTS {
        // SAFETY: the names are static, the function is alive.
        unsafe {
            assert!(names::get(&bytes(text)).is_null());
            assert_eq!(names::set(&bytes(text), function, false), Ok(ptr::null_mut()));
            assert_eq!(names::set(&bytes(text), function, false), Err(Refusal::TAKEN));
        }
    }
    for text in TEXTS {
        // A copy: other bytes at another address.
        let copy = text.to_vec();
        // SAFETY: the name is readable; the returned reference is released.
        unsafe {
            let found = names::get(&bytes(&copy));
            assert_eq!(found, function.as_ptr());
            release(found);
            assert!(names::get(&bytes(&[&copy[..], b"?"].concat())).is_null());
        }
    }
    assert_eq!(strong(function), 1 + TEXTS.len() as u32);
    replace_and_fill(function, TEXTS[1], TEXTS.len());
}

/// Replacing returns the previous function; a full table refuses new names only.
fn replace_and_fill(function: NonNull<TVMFFIObject>, name: &'static [u8], used: usize) {
    // SAFETY: as above.
    unsafe {
        assert_eq!(names::set(&bytes(name), function, true), Ok(function.as_ptr()));
        release(function.as_ptr());
        for number in used..capacity::NAMES {
            let text = std::format!("name {number}").into_bytes().leak();
            assert_eq!(names::set(&bytes(text), function, false), Ok(ptr::null_mut()));
        }
        assert_eq!(names::set(&bytes(b"one more"), function, true), Err(Refusal::NAMES));
        assert!(names::get(&bytes(b"one more")).is_null());
        assert_eq!(names::set(&bytes(name), function, true), Ok(function.as_ptr()));
        release(function.as_ptr());
    }
}

/// Returns kind and message of an error object, and releases it.
fn texts(error: *mut TVMFFIObject) -> (std::vec::Vec<u8>, std::vec::Vec<u8>) {
    // SAFETY: an error object with a reference of the caller.
    unsafe {
        assert_eq!((*error).type_index, type_index::ERROR);
        let cell = error.add(1).cast::<TVMFFIErrorCell>();
        let texts = (content(&(*cell).kind).to_vec(), content(&(*cell).message).to_vec());
        assert!((*cell).update_backtrace.is_some());
        release(error);
        texts
    }
}

fn error(kind: *const c_char, parts: &[*const c_char]) -> *mut TVMFFIObject {
    // SAFETY: the tests pass C strings and nulls.
    unsafe { errors::create(kind, parts.as_ptr(), parts.len() as i32) }
}

#[test]
fn errors_are_put_together_from_parts() {
    let _turn = turn();
    let parts = [c"one ".as_ptr(), ptr::null(), c"".as_ptr(), c"two".as_ptr()];
    assert_eq!(
        texts(error(c"KeyError".as_ptr(), &parts)),
        (b"KeyError".to_vec(), b"one two".to_vec())
    );
    assert_eq!(texts(error(ptr::null(), &[])), (b"RuntimeError".to_vec(), b"".to_vec()));
    // SAFETY: nulls are allowed, and so is a negative count.
    unsafe {
        assert_eq!(texts(errors::create(c"KeyError".as_ptr(), ptr::null(), 3)).1, b"");
        assert_eq!(texts(errors::create(c"KeyError".as_ptr(), parts.as_ptr(), -1)).1, b"");
    }
    let long = std::vec![c"0123456789".as_ptr(); capacity::ERROR_BYTES];
    let (kind, message) = texts(error(c"KeyError".as_ptr(), &long));
    assert!(
        (capacity::ERROR_BYTES..capacity::ERROR_BYTES + 8).contains(&(kind.len() + message.len()))
    );
}

#[test]
fn without_a_slot_there_is_still_an_error() {
    let _turn = turn();
    let held: std::vec::Vec<_> =
        (0..capacity::ERRORS).map(|_| error(c"KeyError".as_ptr(), &[])).collect();
    let last = error(c"KeyError".as_ptr(), &[c"no room".as_ptr()]);
    assert_eq!(error(c"KeyError".as_ptr(), &[]), last);
    for _ in 0..2 {
        assert_eq!(texts(last), (b"MemoryError".to_vec(), b"".to_vec()));
    }
    for one in held {
        assert_eq!(texts(one).0, b"KeyError");
    }
}

#[test]
fn the_raised_error_changes_hands() {
    let _turn = turn();
    let first = error(c"KeyError".as_ptr(), &[]);
    // SAFETY: the reference moves into the slot and back.
    unsafe {
        assert!(errors::swap(first).is_null());
        assert_eq!(errors::swap(ptr::null_mut()), first);
    }
    texts(first);
}

#[test]
fn every_refusal_has_kind_and_message() {
    let text = |text: *const c_char| {
        // SAFETY: refusals name C strings.
        unsafe { content(&TVMFFIByteArray { data: text, size: text::c_str_len(text) }).to_vec() }
    };
    for (refusal, kind, message) in [
        (Refusal::ARGUMENT, "ValueError", "bad argument"),
        (Refusal::TYPE, "TypeError", "wrong type"),
        (Refusal::BUSY, "RuntimeError", "in use"),
        (Refusal::STRING_BYTES, "MemoryError", "STRING_BYTES"),
    ] {
        let texts = refusal.kind_and_message();
        assert_eq!((text(texts.0), text(texts.1)), (kind.into(), message.into()));
    }
}

#[test]
fn short_strings_are_in_the_value_and_long_ones_in_a_slot() {
    let _turn = turn();
    let letters = [b's'; capacity::STRING_BYTES + 1];
    for kind in [StringKind::Text, StringKind::Bytes] {
        for len in 0..=capacity::STRING_BYTES {
            let mut out = TVMFFIAny { type_index: 9, small_str_len: 9, ..TVMFFIAny::NONE };
            out.payload.v_int64 = -1;
            // SAFETY: all lengths are in range; a string object is released.
            unsafe {
                assert_eq!(string::create(&bytes(&letters[..len]), kind, &mut out), Ok(()));
                if len <= 7 {
                    assert_eq!((out.type_index, out.small_str_len), (kind as i32, len as u32));
                    let mut expected = [0; 8];
                    expected[..len].copy_from_slice(&letters[..len]);
                    assert_eq!(out.payload.v_int64.to_ne_bytes(), expected);
                } else {
                    let object = out.payload.v_obj;
                    assert_eq!(out.small_str_len, 0);
                    assert_eq!(content(&*object.add(1).cast()), &letters[..len]);
                    release(object);
                }
            }
        }
        let mut untouched = TVMFFIAny::NONE;
        // SAFETY: as above.
        let result = unsafe { string::create(&bytes(&letters), kind, &mut untouched) };
        assert_eq!((result, untouched.type_index), (Err(Refusal::STRING_BYTES), 0));
    }
}

#[test]
fn workspaces_are_a_stack_in_the_buffer() {
    let _turn = turn();
    assert_eq!(workspace::allocate(0), Err(Exhausted { asked: 0, free: 0 }));
    let mut buffer = [0_u64; 64];
    let size = size_of_val(&buffer);
    // SAFETY: the buffer outlives its use; released workspaces came from it.
    unsafe {
        assert_eq!(workspace::set_buffer(buffer.as_mut_ptr().cast(), size), Ok(()));
        let Ok(first) = workspace::allocate(100) else { panic!("there is room") };
        let Ok(second) = workspace::allocate(0) else { panic!("there is room") };
        first.cast::<u8>().write_bytes(1, 100);
        assert_eq!(first.addr() % ferrite_core::platform::config::WORKSPACE_ALIGN, 0);
        assert_eq!(workspace::set_buffer(ptr::null_mut(), 0), Err(Refusal::BUSY));
        assert_eq!(workspace::free(first), Err(Refusal::WORKSPACE));
        assert_eq!((workspace::free(second), workspace::free(first)), (Ok(()), Ok(())));
        assert!((100..200).contains(&workspace::high_water()));
        let Err(exhausted) = workspace::allocate(u64::MAX) else { panic!("there is no room") };
        assert_eq!(exhausted.asked, usize::MAX);
        let Ok(all) = workspace::allocate(exhausted.free as u64) else {
            panic!("it was said to be free")
        };
        assert_eq!(workspace::high_water(), size);
        assert!(workspace::allocate(0).is_err());
        assert_eq!(workspace::free(all), Ok(()));
        assert_eq!(workspace::set_buffer(ptr::null_mut(), 0), Ok(()));
    }
}

#[test]
fn numbers_are_decimal() {
    for number in [0, 7, 10, 4096, usize::MAX] {
        let mut room = core::mem::MaybeUninit::uninit();
        let text = text::decimal(&mut room, number);
        // SAFETY: a C string in the room.
        let text = unsafe { core::ffi::CStr::from_ptr(text) };
        assert_eq!(text.to_bytes(), std::format!("{number}").as_bytes());
    }
}

unsafe extern "C" fn make(result: *mut *mut c_void) -> c_int {
    // SAFETY: the result is a place for a pointer.
    unsafe { *result = ptr::dangling_mut::<u64>().cast() };
    0
}

unsafe extern "C" fn make_nothing(_: *mut *mut c_void) -> c_int {
    0
}

unsafe extern "C" fn make_fails(result: *mut *mut c_void) -> c_int {
    // SAFETY: as above.
    unsafe { *result = ptr::dangling_mut::<u64>().cast() };
    -7
}

#[test]
fn handles_are_made_once() {
    let mut handle = ptr::null_mut();
    let place = &raw mut handle;
    // SAFETY: the handle is only used here.
    unsafe {
        assert_eq!(init_once::init(place, make_nothing), Err(Refusal::NO_HANDLE));
        assert_eq!((init_once::init(place, make_fails), place.read()), (Ok(-7), ptr::null_mut()));
        assert_eq!(init_once::init(place, make), Ok(0));
        assert_eq!(init_once::init(place, make_fails), Ok(0));
        let made = place.read();
        assert_eq!((init_once::take(place), init_once::take(place)), (made, ptr::null_mut()));
        place.write(place.cast());
        assert_eq!(init_once::init(place, make), Err(Refusal::BUSY));
        assert_eq!(init_once::take(place), ptr::null_mut());
    }
}
