//! Runs a model as firmware does, with kernels that only allocate their workspaces, in an arena of
//! a given size. `plan.py` searches for the smallest arena with it.
#![no_std]
#![allow(clippy::missing_safety_doc, reason = "plan.py is the only caller")]

use core::ffi::{c_int, c_void};
use core::ptr::NonNull;
use core::slice;

use ferrite_core::AnyView;
use ferrite_core::abi::{TVMFFIAny, TVMFFISafeCallType};
use ferrite_core::call::backend;
use ferrite_core::error::{Result, raised_error};
use ferrite_core::platform::memory;
use ferrite_relax::builtins;
use ferrite_relax::executable::{Executable, Source};
use ferrite_relax::memory::Kind;
use ferrite_relax::model::{Kernel as LinkedKernel, Kernels, Model};

/// Bytes of a page of WebAssembly memory.
const PAGE: usize = 65536;

/// Number of calls, each after the result of the previous one is released: the first leaves frames
/// behind. Number of conversations of a language model.
const CALLS: usize = 3;

const CPU: i32 = 1;

/// The builtins of the build.
#[unsafe(no_mangle)]
pub static FerriteModelBuiltins: builtins::List = builtins::ALL;

/// A kernel: its name, and the workspaces that it allocates.
#[repr(C)]
pub struct Kernel {
    name: *const u8,
    name_bytes: usize,
    /// Sizes of workspaces in the order of their allocation; -1 frees the most recent one.
    workspaces: *const i64,
    num_workspaces: usize,
}

/// The error of the last run: kind and message.
static mut ERROR: [u8; ERROR_BYTES] = [0; ERROR_BYTES];
const ERROR_BYTES: usize = 512;

/// Returns zeroed memory that is never freed; null if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn reserve(bytes: usize) -> *mut u8 {
    match core::arch::wasm32::memory_grow(0, bytes.div_ceil(PAGE)) {
        usize::MAX => core::ptr::null_mut(),
        page => (page * PAGE) as *mut u8,
    }
}

/// Returns the address of the error, which ends with a null byte.
#[unsafe(no_mangle)]
pub extern "C" fn error() -> *const u8 {
    (&raw const ERROR).cast()
}

/// Adds the arena to the pool. Must be called only once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn give(arena: *mut u8, bytes: usize) {
    if let Some(start) = NonNull::new(arena) {
        // SAFETY: the caller reserved the memory.
        unsafe { memory::add_region(start, bytes) };
    }
}

/// Loads the model and calls a function of it: a few times, or with the cache of a language model
/// once for each token of conversations, whose length is `context`, or 0. Returns 0, or 1 with an
/// error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn run(
    executable: *const u8,
    executable_bytes: usize,
    kernels: *const Kernel,
    num_kernels: usize,
    function: *const u8,
    function_bytes: usize,
    args: *const TVMFFIAny,
    num_args: usize,
    context: usize,
) -> c_int {
    // SAFETY: the caller reserved and filled the memory.
    let outcome = unsafe {
        let executable = slice::from_raw_parts(executable, executable_bytes);
        let kernels = slice::from_raw_parts(kernels, num_kernels);
        let function = slice::from_raw_parts(function, function_bytes);
        call(executable, kernels, function, AnyView::slice_from_raw(args, num_args), context)
    };
    let Err(error) = outcome else { return 0 };
    // SAFETY: there is one thread.
    let text = unsafe { slice::from_raw_parts_mut((&raw mut ERROR).cast::<u8>(), ERROR_BYTES) };
    let parts = [error.kind_bytes(), b": ".as_slice(), error.message_bytes()];
    let bytes = parts.into_iter().flatten().copied().take(text.len() - 1).chain([0]);
    text.iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte);
    1
}

fn call(
    executable: &'static [u8],
    kernels: &[Kernel],
    function: &[u8],
    args: &[AnyView<'_>],
    context: usize,
) -> Result<()> {
    let mut table = [LinkedKernel { name: core::ptr::null(), call: None }; MOST];
    let count = kernels.len().min(MOST);
    for (number, kernel) in kernels.iter().enumerate().take(count) {
        table[number] =
            LinkedKernel { name: kernel.name.cast(), call: Some(STUBS[number / 16][number % 16]) };
    }
    // SAFETY: there is one thread, and one run.
    let table = unsafe {
        (&raw mut KERNELS).write(kernels.as_ptr());
        (&raw mut TABLE).write(table);
        slice::from_raw_parts((&raw const TABLE).cast::<LinkedKernel>(), count)
    };
    let executable = Executable::load(Source::Static(executable))?;
    // SAFETY: the names end with null bytes.
    let model = Model::new(executable, Kind::Naive, unsafe { Kernels::linked(table) })?;
    if let (1.., [token]) = (context, args) {
        return converse(&model, function, *token, context);
    }
    (0..CALLS).try_for_each(|_| model.call_packed(function, args).map(drop))
}

/// Calls a function of a language model once for each token of conversations, with the token and
/// the cache.
fn converse(model: &Model, function: &[u8], token: AnyView<'_>, context: usize) -> Result<()> {
    let cache = model.call_packed(b"create", &[])?;
    let cache = cache.view();
    for _ in 0..CALLS {
        model.call_packed(b"reset", &[cache])?;
        for _ in 0..context {
            model.call_packed(b"begin", &[cache])?;
            model.call_packed(function, &[token, cache])?;
        }
    }
    Ok(())
}

/// Maximum number of kernels.
const MOST: usize = 16 * 16;

static mut KERNELS: *const Kernel = core::ptr::null();
static mut TABLE: [LinkedKernel; MOST] =
    [LinkedKernel { name: core::ptr::null(), call: None }; MOST];

macro_rules! rows_of_stubs {
    ($($row:literal)*) => { [$(rows_of_stubs!(@ $row: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)),*] };
    (@ $row:literal: $($column:literal)*) => { [$(stub::<{ 16 * $row + $column }>),*] };
}

/// A stub for each kernel, in rows of 16: kernels get no handle that could tell them apart.
const STUBS: [[TVMFFISafeCallType; 16]; 16] = rows_of_stubs!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);

/// Allocates and frees the workspaces of a kernel. Returns 1.0: kernels that compute a number are
/// scales.
unsafe extern "C" fn stub<const NUMBER: usize>(
    _handle: *mut c_void,
    _args: *const TVMFFIAny,
    _num_args: i32,
    result: *mut TVMFFIAny,
) -> c_int {
    // SAFETY: `run` got that many kernels.
    let workspaces = unsafe {
        let kernel = &*KERNELS.add(NUMBER);
        slice::from_raw_parts(kernel.workspaces, kernel.num_workspaces)
    };
    let mut open = [NonNull::dangling(); 64];
    let mut count = 0;
    for size in workspaces {
        let outcome = if *size < 0 {
            count -= 1;
            // SAFETY: allocated below.
            unsafe { backend::free_workspace(CPU, 0, open[count]) }
        } else {
            backend::alloc_workspace(CPU, 0, size.cast_unsigned()).map(|workspace| {
                open[count] = workspace;
                count += 1;
            })
        };
        if let Err(error) = outcome {
            raised_error::set(error);
            return -1;
        }
    }
    // SAFETY: a caller gives the place of the result.
    unsafe { result.write(*AnyView::from(1.0f64).as_raw()) };
    0
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
