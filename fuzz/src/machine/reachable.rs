//! The end of a program: empties Lists, Dicts and objects that may contain themselves, so that no
//! cycle outlives it.

use core::ffi::c_void;
use std::collections::BTreeSet;
use std::ptr;

use ferrite_core::abi::*;

use super::state::Machine;
use crate::classes::{self, release, retain};
use crate::{callbacks, normal};

/// Empties every mutable value that can be reached from one that the program had in a register.
pub(super) fn empty_all(machine: &mut Machine) {
    let mut seen = BTreeSet::new();
    // Retained, since emptying one releases others.
    let mut work = machine.mutable.clone();
    work.extend(machine.registers);
    work.extend(
        classes::live()
            .into_iter()
            .map(|address| super::state::object(ptr::with_exposed_provenance_mut(address))),
    );
    work.iter().for_each(retain);
    let mut found = Vec::new();
    while let Some(value) = work.pop() {
        // SAFETY: objects have a handle.
        if value.type_index < kTVMFFIStaticObjectBegin
            || !seen.insert(unsafe { value.payload.v_ptr }.addr())
        {
            release(&value);
            continue;
        }
        let before = work.len();
        work.extend(elements(&value));
        work[before..].iter().for_each(retain);
        found.push(value);
    }
    for value in found {
        empty(&value);
        release(&value);
    }
    machine.take_raised().iter().for_each(release);
}

fn elements(value: &TVMFFIAny) -> Vec<TVMFFIAny> {
    match value.type_index {
        // SAFETY: the content of both is a sequence.
        kTVMFFIArray | kTVMFFIList => unsafe {
            let cell = &*normal::content::<TVMFFISeqCell>(value);
            match cell.data.is_null() {
                true => Vec::new(),
                false => {
                    std::slice::from_raw_parts(cell.data.cast::<TVMFFIAny>(), cell.size as usize)
                        .to_vec()
                }
            }
        },
        kTVMFFIMap => entries("ffi.MapForwardIterFunctor", value),
        kTVMFFIDict => entries("ffi.DictForwardIterFunctor", value),
        _ => Vec::new(),
    }
}

/// Returns keys and values, borrowed from the container.
fn entries(iterator: &str, value: &TVMFFIAny) -> Vec<TVMFFIAny> {
    // SAFETY: the second word of both containers is their size.
    let size = unsafe { *normal::content::<u64>(value).add(1) };
    let mut step = TVMFFIAny::NONE;
    if size == 0 || callbacks::call_global(iterator, &[*value], &mut step) != 0 {
        return Vec::new();
    }
    let mut out = Vec::new();
    loop {
        for command in 0..3 {
            let mut result = TVMFFIAny::NONE;
            // SAFETY: the iterator lives.
            unsafe { call(step.payload.v_ptr, command, &mut result) };
            // The container holds keys and values too.
            release(&result);
            match command {
                // SAFETY: the answer is a boolean.
                2 if unsafe { result.payload.v_int64 } == 0 => {
                    release(&step);
                    return out;
                }
                2 => {}
                _ => out.push(result),
            }
        }
    }
}

/// # Safety
/// The function must live.
unsafe fn call(function: *mut c_void, command: i64, result: &mut TVMFFIAny) {
    let arg = super::state::int(command);
    // SAFETY: by contract.
    unsafe { (classes::library().symbols.TVMFFIFunctionCall)(function, &arg, 1, result) };
}

fn empty(value: &TVMFFIAny) {
    let mut result = TVMFFIAny::NONE;
    match value.type_index {
        kTVMFFIList => {
            callbacks::call_global("ffi.ListClear", &[*value], &mut result);
        }
        kTVMFFIDict => {
            callbacks::call_global("ffi.DictClear", &[*value], &mut result);
        }
        // SAFETY: objects have a handle.
        index if index >= kTVMFFIDynObjectBegin => unsafe {
            let handle = value.payload.v_ptr;
            if classes::live().contains(&handle.addr()) {
                classes::clear(handle);
            }
        },
        _ => {}
    }
}
