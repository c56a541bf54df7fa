//! Calls of functions as C code makes them, and reference counts.

use ferrite::abi::{TVMFFIAny, TVMFFIFunctionCell};
use ferrite::{Any, AnyView, Error, Function, ObjectClass, raised_error, type_index};

/// Outcome of a call.
pub struct Returned {
    /// Status that the function returned.
    pub status: i32,
    /// Error that the function left raised.
    pub raised: Option<Error>,
    /// Result cell, as the function left it; after a failure, the ABI requires None.
    pub result: TVMFFIAny,
    /// Whether the function changed the array of its arguments.
    pub changed_arguments: bool,
}

/// Calls a function. The result is not released.
pub fn call(function: &Function, arguments: &[Any]) -> Returned {
    let views: Vec<_> = arguments.iter().map(AnyView::from).collect();
    let before: Vec<[u8; 16]> = views.iter().map(|view| bytes_of(view.as_raw())).collect();
    let cells: *const TVMFFIAny =
        if views.is_empty() { core::ptr::null() } else { views.as_ptr().cast() };
    let mut result = TVMFFIAny::NONE;
    let handle = function.as_object().as_ptr();
    // SAFETY: the cell of a function follows the header of its object (ABI); the arguments live
    // until the call returns.
    let status = unsafe {
        let cell = handle.add(1).cast::<TVMFFIFunctionCell>();
        match (*cell).safe_call {
            Some(safe_call) => safe_call(handle.cast(), cells, views.len() as i32, &mut result),
            None => 0,
        }
    };
    let changed_arguments =
        views.iter().zip(&before).any(|(view, before)| bytes_of(view.as_raw()) != *before);
    Returned { status, raised: raised_error::take(), result, changed_arguments }
}

fn bytes_of(cell: &TVMFFIAny) -> [u8; 16] {
    // SAFETY: a cell has 16 bytes, all of which are initialised.
    unsafe { core::ptr::from_ref(cell).cast::<[u8; 16]>().read() }
}

impl Returned {
    /// Returns `true` if the function wrote a value to the result cell.
    pub fn has_result(&self) -> bool {
        self.result.type_index != type_index::NONE
    }

    /// Returns `true` if bytes that the ABI requires to be zero are not.
    pub fn has_padding(&self) -> bool {
        let is_small =
            matches!(self.result.type_index, type_index::SMALL_STR | type_index::SMALL_BYTES);
        if is_small { self.result.small_str_len > 7 } else { self.result.small_str_len != 0 }
    }

    /// Takes the result, to be released.
    ///
    /// # Safety
    /// The function must have returned success, or else the cell must hold a value that it owns.
    pub unsafe fn take(&self) -> Any {
        // SAFETY: the caller guarantees an owned value in the cell.
        unsafe { Any::from_raw(self.result) }
    }
}

/// Releases a result of a successful call.
pub fn release(returned: &Returned) {
    // SAFETY: a function that returns success has written an owned value (ABI).
    drop(unsafe { returned.take() });
}

/// Returns the strong count of the object in a value; 0 for values without one.
pub fn count_of(value: &Any) -> u32 {
    match value.as_object() {
        // SAFETY: the value owns a reference, so that the object is alive.
        Some(object) => unsafe {
            (&raw const (*object.as_ptr()).combined_ref_count).read_volatile() as u32
        },
        None => 0,
    }
}

/// Adds references to the objects of values, which are never released: functions that release too
/// much then destroy nothing.
pub fn keep_alive(values: &[Any]) {
    for value in values.iter().filter(|value| value.as_object().is_some()) {
        for _ in 0..SPARE {
            core::mem::forget(value.clone());
        }
    }
}

/// Number of spare references.
const SPARE: usize = 16;
