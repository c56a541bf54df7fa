//! Loops that call a function, and the same loop without a call, whose cost is subtracted.

use core::ffi::c_void;
use core::hint::black_box;

use ferrite::abi::{TVMFFIAny, TVMFFIFunctionCell, TVMFFISafeCallType};
use ferrite::{Any, AnyView, Function, ObjectClass, function, type_index};

use crate::failure::Outcome;

/// A function with its arguments.
pub struct Calls<'a> {
    safe_call: Option<TVMFFISafeCallType>,
    handle: *mut c_void,
    arguments: &'a [AnyView<'a>],
}

impl<'a> Calls<'a> {
    /// Borrows a function and its arguments.
    pub fn new(function: &'a Function, arguments: &'a [AnyView<'a>]) -> Calls<'a> {
        let object = function.as_object().as_ptr();
        // SAFETY: the cell of a function follows the header of its object (ABI).
        let safe_call = unsafe { (*object.add(1).cast::<TVMFFIFunctionCell>()).safe_call };
        Calls { safe_call, handle: object.cast(), arguments }
    }

    /// Calls the function `count` times, and releases its results.
    ///
    /// # Errors
    /// The first error that the function raises.
    #[inline(never)]
    pub fn run(&self, count: u64) -> Outcome<()> {
        let Some(safe_call) = self.safe_call else { return Ok(()) };
        for _ in 0..count {
            let mut cell = black_box(TVMFFIAny::NONE);
            // SAFETY: the arguments live until the call returns; the cell holds None.
            let status = unsafe {
                safe_call(
                    self.handle,
                    self.arguments.as_ptr().cast(),
                    self.arguments.len() as i32,
                    &mut cell,
                )
            };
            if status != 0 {
                return Err(function::take_raised().into());
            }
            release(black_box(cell));
        }
        Ok(())
    }

    /// Runs the loop of [`run`](Calls::run) without the call, to measure the cost of the loop.
    #[inline(never)]
    pub fn run_empty(&self, count: u64) {
        for _ in 0..count {
            let cell = black_box(TVMFFIAny::NONE);
            release(black_box(cell));
        }
    }
}

/// Releases a result; values without an object take one comparison.
#[inline(always)]
fn release(cell: TVMFFIAny) {
    if cell.type_index >= type_index::STATIC_OBJECT_BEGIN {
        // SAFETY: a function that returns success has written an owned value (ABI).
        drop(unsafe { Any::from_raw(cell) });
    }
}
