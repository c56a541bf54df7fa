//! Steps with functions: made, called, registered and found.

use core::ffi::{CStr, c_int, c_void};
use std::ptr;

use ferrite_core::abi::*;

use super::Api;
use super::values::{NULL, Values};
use crate::machine::{Outcome, handle, object, status};
use crate::program::{Arg, Reg};
use crate::texts::{self, GLOBALS, Text};
use crate::{classes, limits};

impl Api<'_> {
    pub(super) fn call(&mut self, function: Reg, args: &[Arg]) -> Outcome {
        let function = self.object_of(function, kTVMFFIFunction).filter(|_| limits::may_call());
        let Some(function) = function else { return Outcome::Skipped };
        // Retained, since a call may move the object out of the register.
        classes::retain(&object(function));
        let symbols = self.symbols;
        let (mut bits, mut code) = (0, NULL);
        let outcome = self.machine.with_args(args, |_, args| {
            let mut values = Values::new(args);
            // SAFETY: function and values live through the call.
            status(unsafe {
                (symbols.TVMFuncCall)(
                    function,
                    values.bits.as_mut_ptr(),
                    values.codes.as_mut_ptr(),
                    args.len() as c_int,
                    &mut bits,
                    &mut code,
                )
            })
        });
        // SAFETY: the function was retained.
        unsafe { (symbols.TVMFuncFree)(function) };
        match outcome {
            Outcome::Shown(0, _) => self.result(bits, code),
            Outcome::Shown(status, _) => Outcome::Status(status, TVMFFIAny::NONE),
            other => other,
        }
    }

    pub(super) fn get_global(&self, name: &Text) -> Outcome {
        if !limits::may_find(&name.0) {
            return Outcome::Skipped;
        }
        let mut out = ptr::null_mut();
        // SAFETY: the name is a C string, and the result is owned.
        handle(
            unsafe { (self.symbols.TVMFuncGetGlobal)(name.c_string().as_ptr().cast(), &mut out) },
            out,
        )
    }

    pub(super) fn set_global(&self, name: u8, function: Reg, allow_override: bool) -> Outcome {
        let Some(function) = self.object_of(function, kTVMFFIFunction) else {
            return Outcome::Skipped;
        };
        let name = Text::new(texts::choose(GLOBALS, name)).c_string();
        // SAFETY: the name is a C string; the function lives.
        status(unsafe {
            (self.symbols.TVMFuncRegisterGlobal)(
                name.as_ptr().cast(),
                function,
                allow_override.into(),
            )
        })
    }

    pub(super) fn remove_global(&self, name: u8) -> Outcome {
        let name = Text::new(texts::choose(GLOBALS, name)).c_string();
        // SAFETY: the name is a C string.
        status(unsafe { (self.symbols.TVMFuncRemoveGlobal)(name.as_ptr().cast()) })
    }

    pub(super) fn list_globals(&self) -> Outcome {
        let (mut size, mut names) = (0, ptr::null_mut());
        // SAFETY: the list lives until the next call of the function.
        unsafe {
            let status = (self.symbols.TVMFuncListGlobalNames)(&mut size, &mut names);
            let all =
                (0..size.max(0) as usize).all(|at| !CStr::from_ptr(*names.add(at)).is_empty());
            Outcome::Shown(status, format!("some {}, all with a name {all}", size > 0))
        }
    }

    pub(super) fn function(&self, fails: bool) -> Outcome {
        let mut out = ptr::null_mut();
        let own = ptr::without_provenance_mut(fails.into());
        // SAFETY: the function takes its number for the data.
        let status =
            unsafe { (self.symbols.TVMFuncCreateFromCFunc)(Some(packed), own, None, &mut out) };
        handle(status, out)
    }
}

/// A function that returns its first argument, or fails if its own data is not null.
unsafe extern "C" fn packed(
    values: *mut u64,
    codes: *mut c_int,
    num_args: c_int,
    result: *mut c_void,
    own: *mut c_void,
) -> c_int {
    let Some(symbols) = &classes::library().legacy else { return 0 };
    // SAFETY: the caller passes as many values and codes as it says, and the place of the result.
    unsafe {
        if !own.is_null() {
            (symbols.TVMAPISetLastError)(c"as the program says".as_ptr());
            return -1;
        }
        if num_args > 0 { (symbols.TVMCFuncSetReturn)(result, values, codes, 1) } else { 0 }
    }
}
