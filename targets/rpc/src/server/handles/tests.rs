use ferrite_core::abi::type_index;
use ferrite_core::{Any, Shape};

use super::*;
use crate::wire::code;

fn object() -> Content {
    let Ok(object) = Any::from(Shape::from_slice(&[2, 3]).unwrap()).into_object() else {
        unreachable!()
    };
    Content::Object(object)
}

fn text(result: Result<impl Sized, Failure>) -> &'static str {
    match result {
        Err(Failure::Refused(text)) => text,
        _ => "",
    }
}

#[test]
fn released_handles_are_stale_and_their_entry_is_reused() {
    let mut handles = Handles::new(Limits { handles: 24, data_bytes: 100 });
    let first = handles.insert(object()).ok().unwrap();
    assert!(handles.object(first, 0).is_ok());
    assert!(handles.remove(first, code::FREE_HANDLE).is_ok());
    assert_eq!(text(handles.object(first, 0)), "ValueError: no such handle");
    assert_eq!(text(handles.remove(first, code::FREE_HANDLE)), "ValueError: no such handle");
    let second = handles.insert(object()).ok().unwrap();
    assert_eq!(first as u32, second as u32);
    assert_ne!(first, second);
    assert!(handles.object(first, 0).is_err() && handles.object(second, 0).is_ok());
}

#[test]
fn numbers_that_are_no_handle_name_nothing() {
    let mut handles = Handles::new(Limits { handles: 24, data_bytes: 100 });
    let handle = handles.insert(object()).ok().unwrap();
    for wrong in [0, handle + 1, handle - 1, handle | 1 << 63, u64::MAX, handle << 1] {
        assert_eq!(text(handles.object(wrong, 0)), "ValueError: no such handle", "{wrong:x}");
    }
}

#[test]
fn handles_of_another_kind_are_refused() {
    let mut handles = Handles::new(Limits { handles: 24, data_bytes: 100 });
    let handle = handles.insert(object()).ok().unwrap();
    let device = DLDevice { device_type: 1, device_id: 0 };
    assert_eq!(text(handles.region(handle, device)), "TypeError: the handle has another kind");
    assert_eq!(
        text(handles.remove(handle, code::FREE_DATA)),
        "TypeError: the handle has another kind"
    );
    assert!(handles.object(handle, type_index::SHAPE).is_ok());
    assert!(handles.object(handle, type_index::FUNCTION).is_err());
}

#[test]
fn an_entry_without_further_generations_is_not_reused() {
    let mut handles = Handles::new(Limits { handles: 24, data_bytes: 100 });
    handles.insert(object()).ok().unwrap();
    handles.entries.get_mut(0).unwrap().generation = u32::MAX;
    let last = u64::from(u32::MAX) << 32 | 1;
    assert!(handles.remove(last, code::FREE_HANDLE).is_ok());
    assert!(handles.object(last, 0).is_err());
    assert_eq!(handles.insert(object()).ok().unwrap() as u32, 2);
}

#[test]
fn a_full_table_is_an_error_until_a_handle_is_freed() {
    let mut handles = Handles::new(Limits { handles: 24, data_bytes: 100 });
    let mut last = 0;
    let mut count = 0;
    while let Ok(handle) = handles.insert(object()) {
        (last, count) = (handle, count + 1);
    }
    assert_eq!(count, 24);
    assert!(handles.remove(last, code::FREE_HANDLE).is_ok());
    assert!(handles.insert(object()).is_ok());
    assert!(handles.insert(object()).is_err());
}
