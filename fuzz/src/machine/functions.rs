//! Steps with functions: made, called, registered and found.

use std::ptr;

use ferrite_core::abi::*;

use super::state::{Machine, Outcome, bytes, handle, object, status};
use crate::classes::release;
use crate::program::{Arg, Callback, Reg, Value};
use crate::texts::{self, GLOBALS, Text};
use crate::{builtins, callbacks, limits, normal};

impl Machine {
    pub(super) fn function(&self, callback: &Callback, own: Reg) -> Outcome {
        let context = callbacks::context(callback.clone(), &self.get(own));
        let mut out = ptr::null_mut();
        // SAFETY: the context belongs to the function, if there is one.
        unsafe {
            let status = (self.library.symbols.TVMFFIFunctionCreate)(
                context,
                Some(callbacks::call),
                Some(callbacks::delete),
                &mut out,
            );
            match status {
                0 => callbacks::made(context, out),
                _ => callbacks::delete(context),
            }
            handle(status, out)
        }
    }

    pub(super) fn call(&mut self, function: Reg, args: &[Arg]) -> Outcome {
        let function = self.object_of(function, kTVMFFIFunction).filter(|_| limits::may_call());
        let Some(function) = function else { return Outcome::Skipped };
        // Retained, since a call may move the object out of the register.
        // SAFETY: the register owns the function.
        unsafe { (self.library.symbols.TVMFFIObjectIncRef)(function) };
        let function = object(function);
        let outcome = self.call_value("", &function, args);
        release(&function);
        outcome
    }

    pub(super) fn builtin(&mut self, name: u8, args: &[Arg]) -> Outcome {
        self.builtin_by_name(builtins::name(name), args)
    }

    /// Finds a function of the library and calls it, unless it has a limit that the arguments
    /// exceed.
    pub(super) fn builtin_by_name(&mut self, name: &str, args: &[Arg]) -> Outcome {
        let mut function = ptr::null_mut();
        // SAFETY: name and result live through the call.
        let status = unsafe {
            (self.library.symbols.TVMFFIFunctionGetGlobal)(&bytes(name.as_bytes()), &mut function)
        };
        if status != 0 || function.is_null() {
            return Outcome::Skipped;
        }
        let function = object(function);
        let outcome = self.call_value(name, &function, args);
        release(&function);
        // A copy of a cycle is a cycle, in which no register is.
        if let Outcome::Status(0, copy) = &outcome
            && (name == "ffi.DeepCopy" || name.starts_with("ffi.Structural"))
        {
            self.keep(copy);
        }
        outcome
    }

    fn call_value(&mut self, name: &str, function: &TVMFFIAny, args: &[Arg]) -> Outcome {
        let outcome = self.with_args(args, |library, args| {
            if !limits::allows(name, args) {
                return Outcome::Skipped;
            }
            let mut out = TVMFFIAny::NONE;
            // SAFETY: function and arguments live through the call.
            let status = unsafe {
                (library.symbols.TVMFFIFunctionCall)(
                    function.payload.v_ptr,
                    args.as_ptr(),
                    args.len() as i32,
                    &mut out,
                )
            };
            Outcome::Status(status, out)
        });
        if name.ends_with("Hash") {
            return self.without_address(args, outcome);
        }
        if name.starts_with("ffi.json.") || name.starts_with("ffi.ToJSON") {
            self.anew(outcome)
        } else {
            outcome
        }
    }

    /// Makes a string anew. Upstream has objects for short results of some functions, ours small
    /// strings.
    pub(super) fn anew(&self, outcome: Outcome) -> Outcome {
        match outcome {
            Outcome::Status(0, value)
                if matches!(value.type_index, kTVMFFISmallStr | kTVMFFIStr) =>
            {
                let text = normal::text_of(&value).unwrap_or_default();
                release(&value);
                self.set(&Value::Text { text: Text(text) })
            }
            other => other,
        }
    }

    /// Hides a hash unless the argument is a value whose hash has no address in it.
    fn without_address(&self, args: &[Arg], outcome: Outcome) -> Outcome {
        let hashed = args.first().map(|arg| match arg {
            Arg::Reg { reg } | Arg::Movable { reg } | Arg::TensorPtr { reg } => {
                self.get(*reg).type_index
            }
            _ => kTVMFFIInt,
        });
        match outcome {
            Outcome::Status(0, value)
                if hashed.is_some_and(|index| index >= kTVMFFIStaticObjectBegin)
                    && !matches!(
                        hashed,
                        Some(kTVMFFIStr | kTVMFFIBytes | kTVMFFIShape | kTVMFFIBigInt)
                    ) =>
            {
                release(&value);
                Outcome::Shown(0, "a hash".into())
            }
            other => other,
        }
    }

    pub(super) fn get_global(&self, name: &Text) -> Outcome {
        let mut out = ptr::null_mut();
        // SAFETY: name and result live through the call.
        let status =
            unsafe { (self.library.symbols.TVMFFIFunctionGetGlobal)(&bytes(&name.0), &mut out) };
        // Functions with limits are called by the step Builtin only.
        if status == 0 && !out.is_null() && !limits::may_find(&name.0) {
            release(&object(out));
            return Outcome::Skipped;
        }
        handle(status, out)
    }

    pub(super) fn set_global(&self, name: u8, function: Reg, allow_override: bool) -> Outcome {
        let Some(function) = self.object_of(function, kTVMFFIFunction) else {
            return Outcome::Skipped;
        };
        let name = texts::choose(GLOBALS, name);
        // SAFETY: name and function live through the call.
        status(unsafe {
            (self.library.symbols.TVMFFIFunctionSetGlobal)(
                &bytes(name.as_bytes()),
                function,
                allow_override.into(),
            )
        })
    }

    pub(super) fn set_global_info(
        &self,
        name: u8,
        function: Reg,
        doc: &Text,
        allow_override: bool,
    ) -> Outcome {
        if self.object_of(function, kTVMFFIFunction).is_none() {
            return Outcome::Skipped;
        }
        let info = TVMFFIMethodInfo {
            name: bytes(texts::choose(GLOBALS, name).as_bytes()),
            doc: bytes(&doc.0),
            metadata: bytes(&doc.0),
            flags: 0,
            method: self.get(function),
        };
        // SAFETY: the record and what it refers to live through the call.
        status(unsafe {
            (self.library.symbols.TVMFFIFunctionSetGlobalFromMethodInfo)(
                &info,
                allow_override.into(),
            )
        })
    }

    pub(super) fn extern_c(&mut self, callback: &Callback, own: Reg) -> Outcome {
        let context = callbacks::context(callback.clone(), &self.get(own));
        let address = |address| super::state::pointer(kTVMFFIOpaquePtr, address);
        let args = [
            address(context),
            address(callbacks::call as *mut _),
            address(callbacks::delete as *mut _),
        ];
        let mut out = TVMFFIAny::NONE;
        let status = callbacks::call_global("ffi.FunctionFromExternC", &args, &mut out);
        if status != 0 || out.type_index != kTVMFFIFunction {
            // SAFETY: without a function, nothing owns the context.
            unsafe { callbacks::delete(context) };
        } else {
            // SAFETY: functions are objects, which have a handle.
            callbacks::made(context, unsafe { out.payload.v_ptr });
        }
        Outcome::Status(status, out)
    }

    /// Removes what the program registered.
    pub(super) fn remove_globals(&mut self) {
        for name in GLOBALS {
            let arg = Arg::RawStr { text: Text::new(name) };
            if let Outcome::Status(_, value) =
                self.builtin_by_name("ffi.FunctionRemoveGlobal", &[arg])
            {
                release(&value);
            }
        }
        self.take_raised().iter().for_each(release);
    }
}
