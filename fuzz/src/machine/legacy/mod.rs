//! Steps with the API of TVM 0.5 to 0.20; left out where the library has none. Handles are those of
//! objects, except that an array is the address of the `DLTensor` in a tensor.

mod arrays;
mod devices;
mod functions;
mod modules;
mod objects;
mod values;

use core::ffi::{CStr, c_int};
use std::ptr;

use ferrite_core::abi::*;

use super::{LEGACY_NULLS, Machine, Outcome, object, status};
use crate::classes::release;
use crate::library::Legacy as Symbols;
use crate::normal::quoted;
use crate::program::{Legacy, Reg};
use crate::texts::{self, Text};

pub use arrays::copied_bytes;

/// The API, with the machine on whose registers its steps work.
struct Api<'a> {
    machine: &'a mut Machine,
    symbols: &'static Symbols,
}

impl Machine {
    pub(super) fn legacy(&mut self, call: &Legacy) -> Outcome {
        let Some(symbols) = &self.library.legacy else { return Outcome::Skipped };
        Api { machine: self, symbols }.perform(call)
    }
}

impl Api<'_> {
    fn perform(&mut self, call: &Legacy) -> Outcome {
        match call {
            Legacy::Call { function, args } => self.call(*function, args),
            Legacy::GetGlobal { name } => self.get_global(name),
            Legacy::SetGlobal { name, function, allow_override } => {
                self.set_global(*name, *function, *allow_override)
            }
            Legacy::RemoveGlobal { name } => self.remove_global(*name),
            Legacy::ListGlobals {} => self.list_globals(),
            Legacy::Function { fails } => self.function(*fails),
            Legacy::Array { meta, bytes, exact } => self.array(meta, *bytes, *exact),
            Legacy::CopyArray { from, to } => self.copy_array(*from, *to),
            Legacy::DlPack { tensor, back } => self.dlpack(*tensor, *back),
            Legacy::Object { object, attribute } => self.object(*object, attribute),
            Legacy::Key { key, parent } => self.key(key, *parent),
            Legacy::Module { module, name, imports } => {
                self.module_function(*module, name, *imports)
            }
            Legacy::Import { module, imported } => self.import(*module, *imported),
            Legacy::LoadModule { object } => self.load_module(object),
            Legacy::Error { text, python } => self.last_error(text, *python),
            Legacy::Device { device_type, device_id, size, alignment, stream } => {
                let device =
                    DLDevice { device_type: (*device_type).into(), device_id: (*device_id).into() };
                if *stream { self.streams(device) } else { self.memory(device, *size, *alignment) }
            }
            Legacy::FuncFromEnv { module, name } => self.func_from_env(*module, name),
            Legacy::Null { call } => {
                let (name, call) = texts::choose(LEGACY_NULLS, *call);
                Outcome::Shown(call(self.symbols), name.into())
            }
        }
    }

    /// Sets the last error, and takes what there is of it.
    fn last_error(&self, text: &Text, python: bool) -> Outcome {
        let (text, symbols) = (text.c_string(), self.symbols);
        // SAFETY: the text is a C string; strings of the library live until the next call. There is
        // no Python.
        unsafe {
            (symbols.TVMAPISetLastError)(text.as_ptr().cast());
            if python {
                (symbols.TVMAPISetLastPythonError)(ptr::null_mut());
            }
            let exception = (symbols.TVMGetLastPythonError)();
            let last = CStr::from_ptr((symbols.TVMGetLastError)()).to_bytes();
            let shown = format!("{} {}", quoted(last), !exception.is_null());
            let backtrace = (symbols.TVMGetLastBacktrace)();
            if !backtrace.is_null() {
                drop(CStr::from_ptr(backtrace).to_owned());
            }
            (symbols.TVMDropLastPythonError)();
            self.machine.take_raised().iter().for_each(release);
            Outcome::Shown(0, shown)
        }
    }

    /// Returns the object in a register, if it is one of this type.
    fn object_of(&self, reg: Reg, type_index: i32) -> Option<TVMFFIObjectHandle> {
        self.machine.object_of(reg, type_index)
    }
}

/// Returns the status of a call that failed.
fn succeeds(status: c_int) -> Result<(), c_int> {
    if status == 0 { Ok(()) } else { Err(status) }
}

/// Returns what several calls gave, or the status of the one that failed.
fn shown(result: Result<String, c_int>) -> Outcome {
    result.map_or_else(status, |shown| Outcome::Shown(0, shown))
}

/// Returns the object of an array.
fn of_array(array: *mut DLTensor) -> TVMFFIAny {
    match array.is_null() {
        true => TVMFFIAny::NONE,
        // SAFETY: an array is the content of an object.
        false => object(unsafe { array.cast::<TVMFFIObject>().sub(1) }.cast()),
    }
}
