//! The state of a running program, and results of steps.

use core::ffi::{c_int, c_void};

use ferrite_core::abi::*;

use super::helper::Running;
use crate::classes::{release, retain};
use crate::program::{REGISTERS, Reg};
use crate::{Library, classes};

/// Registers of a running program, and the values to empty at its end.
pub struct Machine {
    pub(super) library: &'static Library,
    pub(super) registers: [TVMFFIAny; REGISTERS],
    /// Values that may contain themselves; retained.
    pub(super) mutable: Vec<TVMFFIAny>,
    /// Violations of the rules of the ABI.
    pub(super) broken: Vec<String>,
    pub(super) keeps_thread: bool,
    /// Threads that run steps beside those of the machine.
    pub(super) running: Vec<Running<Machine>>,
}

// SAFETY: a machine is used by one thread at a time, and objects of the library may be used by any.
unsafe impl Send for Machine {}

impl Machine {
    /// Makes a machine with empty registers.
    pub fn new(library: &'static Library) -> Self {
        classes::use_library(library);
        Self {
            library,
            registers: [TVMFFIAny::NONE; REGISTERS],
            mutable: Vec::new(),
            broken: Vec::new(),
            keeps_thread: false,
            running: Vec::new(),
        }
    }

    /// Stores an owned value, or releases it.
    pub(super) fn store(&mut self, to: Option<Reg>, value: TVMFFIAny) {
        match to {
            Some(to) => self.put(to, value),
            None => release(&value),
        }
    }

    /// Retains a value to the end, where everything in it is emptied.
    pub(super) fn keep(&mut self, value: &TVMFFIAny) {
        retain(value);
        self.mutable.push(*value);
    }

    pub(super) fn put(&mut self, to: Reg, value: TVMFFIAny) {
        if matches!(value.type_index, kTVMFFIList | kTVMFFIDict) {
            self.keep(&value);
        }
        let old = std::mem::replace(&mut self.registers[to.at()], value);
        release(&old);
    }

    pub(super) fn get(&self, reg: Reg) -> TVMFFIAny {
        self.registers[reg.at()]
    }

    /// Returns the object in a register, if it is one of this type.
    pub(super) fn object_of(&self, reg: Reg, type_index: i32) -> Option<*mut c_void> {
        let value = self.get(reg);
        // SAFETY: all eight bytes are initialised.
        (value.type_index == type_index).then_some(unsafe { value.payload.v_ptr })
    }
}

/// Result of a step.
pub(super) enum Outcome {
    /// The step was left out: it would do what the ABI leaves undefined, or it has nothing to work
    /// on.
    Skipped,
    /// Status and result of a call.
    Status(c_int, TVMFFIAny),
    /// Status of a call without a result that is a value, and a description of its result.
    Shown(c_int, String),
    /// A call without a status was made; an error may be raised.
    Raises,
}

/// Returns a call without result.
pub(super) fn status(status: c_int) -> Outcome {
    Outcome::Shown(status, String::new())
}

pub(super) fn int(value: i64) -> TVMFFIAny {
    TVMFFIAny {
        type_index: kTVMFFIInt,
        small_str_len: 0,
        payload: TVMFFIAnyPayload { v_int64: value },
    }
}

pub(super) fn pointer(type_index: i32, pointer: *mut c_void) -> TVMFFIAny {
    TVMFFIAny { type_index, small_str_len: 0, payload: TVMFFIAnyPayload { v_ptr: pointer } }
}

/// Returns an owned value of an owned object.
pub(super) fn object(handle: *mut c_void) -> TVMFFIAny {
    if handle.is_null() {
        return TVMFFIAny::NONE;
    }
    // SAFETY: the object lives.
    pointer(unsafe { (*handle.cast::<TVMFFIObject>()).type_index }, handle)
}

/// Returns what a call gave that writes a handle.
pub(super) fn handle(status: c_int, handle: *mut c_void) -> Outcome {
    Outcome::Status(status, object(handle))
}

pub(super) fn bytes(text: &[u8]) -> TVMFFIByteArray {
    TVMFFIByteArray::from_slice(text)
}
