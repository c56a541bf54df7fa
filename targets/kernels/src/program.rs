//! The program around the kernels in tests: errors, workspaces and threads.

use core::cell::RefCell;
use core::ffi::{CStr, c_char, c_int, c_void};
use std::alloc::{Layout, alloc, dealloc};
use std::string::String;

use ferrite_core::abi::{ParallelGroupEnv, TVMFFIAny, TVMFFIByteArray};

std::thread_local! {
    static RAISED: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Takes the error that was raised on the calling thread: kind and message.
pub fn take_raised() -> String {
    RAISED.take()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn TVMFFIErrorSetRaisedFromCStr(kind: *const c_char, message: *const c_char) {
    // SAFETY: both are strings of C.
    let (kind, message) = unsafe { (CStr::from_ptr(kind), CStr::from_ptr(message)) };
    RAISED.set(format!("{}: {}", kind.to_string_lossy(), message.to_string_lossy()));
}

const HEADER: usize = 64;

#[unsafe(no_mangle)]
extern "C" fn TVMBackendAllocWorkspace(
    _: c_int,
    _: c_int,
    bytes: u64,
    _: c_int,
    _: c_int,
) -> *mut c_void {
    let size = bytes as usize + HEADER;
    let layout = Layout::from_size_align(size, HEADER).unwrap();
    // SAFETY: the size is not zero; the header has space for the size.
    unsafe {
        let memory = alloc(layout);
        memory.cast::<usize>().write(size);
        memory.add(HEADER).cast()
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn TVMBackendFreeWorkspace(_: c_int, _: c_int, memory: *mut c_void) -> c_int {
    // SAFETY: the memory is that of `TVMBackendAllocWorkspace`.
    unsafe {
        let memory = memory.cast::<u8>().sub(HEADER);
        let layout = Layout::from_size_align(memory.cast::<usize>().read(), HEADER).unwrap();
        dealloc(memory, layout);
    }
    0
}

/// Data of a parallel loop.
#[derive(Clone, Copy)]
struct Shared(*mut c_void);

// SAFETY: the caller of the loop gives data that tasks share.
unsafe impl Send for Shared {}

impl Shared {
    fn pointer(self) -> *mut c_void {
        self.0
    }
}

/// Number of tasks of a parallel loop.
const TASKS: c_int = 3;

#[unsafe(no_mangle)]
unsafe extern "C" fn TVMBackendParallelLaunch(
    run: unsafe extern "C" fn(c_int, *mut ParallelGroupEnv, *mut c_void) -> c_int,
    data: *mut c_void,
    _: c_int,
) -> c_int {
    let data = Shared(data);
    let failed = std::thread::scope(|scope| {
        let tasks: Vec<_> = (0..TASKS)
            .map(|task| {
                scope.spawn(move || {
                    let mut group =
                        ParallelGroupEnv { sync_handle: core::ptr::null_mut(), num_task: TASKS };
                    // SAFETY: the caller gives a function that tasks may call with the data.
                    unsafe { run(task, &raw mut group, data.pointer()) }
                })
            })
            .collect();
        tasks.into_iter().any(|task| task.join().unwrap() != 0)
    });
    if failed { -1 } else { 0 }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn TVMFFIFunctionGetGlobal(
    _: *const TVMFFIByteArray,
    _: *mut *mut c_void,
) -> c_int {
    -1
}

#[unsafe(no_mangle)]
unsafe extern "C" fn TVMFFIFunctionCall(
    _: *mut c_void,
    _: *mut TVMFFIAny,
    _: i32,
    _: *mut TVMFFIAny,
) -> c_int {
    -1
}

#[unsafe(no_mangle)]
unsafe extern "C" fn TVMFFIObjectDecRef(_: *mut c_void) -> c_int {
    0
}
