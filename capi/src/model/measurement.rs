//! Memory of a model, and time per operator.

use core::ffi::{c_char, c_int, c_void};

use ferrite_core::AnyView;
use ferrite_core::abi::{TVMFFIAny, TVMFFIByteArray, TVMFFIObjectHandle};
use ferrite_relax::model::Model;

use crate::boundary::{self, arg};

/// Returns the bytes of main memory that the tensors of models occupy while they run, and the most
/// that they ever occupied. Weights, inputs and the objects themselves are not counted. All models
/// of the process share the counters of their kind of allocator.
///
/// Only in host builds with the feature `relax`. Returns 0 and stores the bytes in `used` and
/// `peak`. On failure, returns -1 with an error raised: ValueError for a null pointer, TypeError
/// for an object that is not a model, RuntimeError while another thread uses the model.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn FerriteModelMemory(
    model: TVMFFIObjectHandle,
    used: *mut usize,
    peak: *mut usize,
) -> c_int {
    // SAFETY: as the caller guarantees.
    boundary::status(|| unsafe {
        let (used, peak) =
            (boundary::out(used, arg(2, "used"))?, boundary::out(peak, arg(3, "peak"))?);
        let usage = boundary::object_of::<Model>(model, arg(1, "model"))?.memory()?;
        used.write(usage.used);
        peak.write(usage.peak);
        Ok(())
    })
}

/// Calls a function of a model `repetitions` times, and reports the time of each function that it
/// called.
///
/// Only in host builds with the feature `relax`. `report` is called on this thread after the last
/// repetition, once for each kernel, built-in and function of the model that was called, the
/// longest time first: with `context`, the name, which is borrowed and not null-terminated, the
/// number of calls, and the time of all calls in nanoseconds, including the functions that they
/// call. Functions that are native code (exec_mode `compiled`) make their calls themselves, so
/// these are not reported.
///
/// Returns 0. On failure, returns -1 with an error raised and without a report: ValueError for a
/// null pointer and a negative number of arguments; errors of `FerriteModelCall`.
///
/// # Safety
/// Same requirements as `TVMFFIFunctionCall`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn FerriteModelProfile(
    model: TVMFFIObjectHandle,
    function: *const c_char,
    args: *const TVMFFIAny,
    num_args: i32,
    repetitions: i32,
    report: Option<
        unsafe extern "C" fn(
            context: *mut c_void,
            name: *const TVMFFIByteArray,
            calls: u64,
            nanoseconds: u64,
        ),
    >,
    context: *mut c_void,
) -> c_int {
    // SAFETY: the caller's promise.
    boundary::status(|| unsafe {
        let model = boundary::object_of::<Model>(model, arg(1, "model"))?;
        let function = model.function(boundary::c_str(function, arg(2, "function"))?)?;
        boundary::slice(args, num_args, arg(3, "args"))?;
        let args = AnyView::slice_from_raw(args, num_args as usize);
        let report = boundary::callback(report, arg(6, "report"))?;
        let ((), profile) = model
            .profile(|| (0..repetitions).try_for_each(|_| function.call_packed(args).map(drop)))?;
        for (name, operator) in profile.operators()?.iter() {
            let name = TVMFFIByteArray { data: name.as_ptr().cast(), size: name.len() };
            let nanoseconds = u64::try_from(operator.time.as_nanos()).unwrap_or(u64::MAX);
            report(context, &name, operator.calls, nanoseconds);
        }
        Ok(())
    })
}
