//! Steps with the functions for compiled code; left out where the library has none.

use core::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

use ferrite_core::abi::*;

use super::state::{Machine, Outcome};
use crate::classes::{fail, library};

/// State that the tasks of a loop share.
struct Loop {
    fails: bool,
    barrier: bool,
    ran: AtomicI32,
}

impl Machine {
    pub(super) fn workspace(&self, device_type: i8, size: u16) -> Outcome {
        let Some(backend) = &self.library.backend else { return Outcome::Skipped };
        let device_type = device_type.into();
        // SAFETY: the workspace is written within its size, and freed once.
        unsafe {
            let memory = (backend.TVMBackendAllocWorkspace)(device_type, 0, size.into(), 2, 32);
            if memory.is_null() {
                return Outcome::Raises;
            }
            if device_type == kDLCPU {
                memory.cast::<u8>().write_bytes(0xa5, size.into());
            }
            let status = (backend.TVMBackendFreeWorkspace)(device_type, 0, memory);
            Outcome::Shown(status, format!("aligned {}", memory.addr() % 64 == 0))
        }
    }

    pub(super) fn launch(&self, tasks: i8, fails: bool, barrier: bool) -> Outcome {
        let Some(backend) = &self.library.backend else { return Outcome::Skipped };
        let state = Loop { fails, barrier, ran: AtomicI32::new(0) };
        let data = (&raw const state).cast_mut().cast();
        // SAFETY: the tasks share the state, which outlives the loop.
        let status =
            unsafe { (backend.TVMBackendParallelLaunch)(Some(task), data, (tasks % 9).into()) };
        Outcome::Shown(status, format!("ran {}", state.ran.into_inner() > 0))
    }

    pub(super) fn run_once(&self, fails: bool) -> Outcome {
        let Some(backend) = &self.library.backend else { return Outcome::Skipped };
        let mut handle = ptr::null_mut();
        let run: unsafe extern "C" fn(*mut c_void) -> c_int = if fails { refuse } else { accept };
        // SAFETY: the handle is written by the library only.
        let status = unsafe {
            let first = (backend.TVMBackendRunOnce)(&mut handle, Some(run), ptr::null_mut(), 0);
            if first != 0 {
                return super::state::status(first);
            }
            (backend.TVMBackendRunOnce)(&mut handle, Some(refuse), ptr::null_mut(), 0)
        };
        Outcome::Shown(status, format!("done {}", !handle.is_null()))
    }
}

unsafe extern "C" fn task(number: c_int, env: *mut ParallelGroupEnv, data: *mut c_void) -> c_int {
    // SAFETY: the data is the state of the loop.
    let state = unsafe { &*data.cast::<Loop>() };
    state.ran.fetch_add(1, Ordering::Relaxed);
    if state.fails && number == 0 {
        return fail(c"as the program says");
    }
    match &library().backend {
        // SAFETY: the environment is that of the task.
        Some(backend) if state.barrier => unsafe {
            (backend.TVMBackendParallelBarrier)(number, env)
        },
        _ => 0,
    }
}

unsafe extern "C" fn accept(_: *mut c_void) -> c_int {
    0
}

unsafe extern "C" fn refuse(_: *mut c_void) -> c_int {
    fail(c"as the program says")
}
