//! The interpreter of programs: one method for each step, in a file for each section of the header.

mod backend;
mod env;
mod errors;
mod functions;
mod helper;
mod legacy;
mod modules;
mod nulls;
mod overlap;
mod reachable;
mod state;
mod tensors;
mod types;
mod values;

use std::ptr;

use ferrite_core::abi::*;

use crate::classes::release;
use crate::normal;
use crate::notes::note;
use crate::program::{Arg, Line, Program, REGISTERS, Reg, Step};
use crate::{Library, callbacks, classes};

pub use legacy::copied_bytes;
pub use nulls::{LEGACY_NULLS, NULLS};
pub use state::Machine;
pub use tensors::{alignment_of, major_of};

use state::{Outcome, handle, int, object, pointer, status};

impl Machine {
    /// Chooses whether steps on another thread share one that lives on, or each has its own, which
    /// ends with it.
    pub fn keep_thread(&mut self, keep: bool) {
        self.keeps_thread = keep;
    }

    /// Runs a program. `before` is told the number of each step before it runs.
    pub fn run(&mut self, program: &Program, mut before: impl FnMut(usize)) {
        let mut number = 0;
        while let Some(line) = program.lines.get(number) {
            before(number);
            number = match line.step.fork() {
                Some(fork) => self.fork(number, fork, &program.lines[number + 1..], &mut before),
                None => {
                    self.line(number, line);
                    number + 1
                }
            };
        }
    }

    /// Prints each register by the library, releases all values, and empties what may contain
    /// itself. Returns the rules that the library broke.
    pub fn finish(mut self) -> Vec<String> {
        self.join();
        for number in 0..REGISTERS as u8 {
            let args = vec![Arg::Reg { reg: Reg(number) }];
            let outcome = self.builtin_by_name("ffi.ReprPrint", &args);
            self.settle(&format!("{number} register"), None, outcome);
        }
        self.reset_environment();
        reachable::empty_all(&mut self);
        for value in std::mem::take(&mut self.mutable) {
            release(&value);
        }
        self.empty_registers();
        self.remove_globals();
        crate::limits::set_device_code(false);
        self.broken
    }

    fn line(&mut self, number: usize, line: &Line) {
        if !self.may_overlap(&line.step) {
            self.join();
        }
        if !line.other_thread {
            return self.step(number, &line.step);
        }
        let mut machine = std::mem::replace(self, Self::new(self.library));
        let (keeps, step) = (machine.keeps_thread, line.step.clone());
        let job = move || {
            machine.step(number, &step);
            machine
        };
        *self = helper::start(0, keeps, job).join();
    }

    fn step(&mut self, number: usize, step: &Step) {
        let outcome = self.perform(step);
        self.settle(&format!("{number} {}", name_of(step)), target(step), outcome);
    }

    /// Takes the error that a call raised, checks that status and error agree, and stores the
    /// result or the error.
    fn settle(&mut self, what: &str, to: Option<Reg>, outcome: Outcome) {
        let error = self.take_raised();
        let (status, value, shown) = match outcome {
            Outcome::Skipped => return note(|| format!("{what}: skipped")),
            Outcome::Status(status, value) => (Some(status), value, None),
            Outcome::Shown(status, shown) => (Some(status), TVMFFIAny::NONE, Some(shown)),
            Outcome::Raises => (None, TVMFFIAny::NONE, None),
        };
        match (status, error) {
            (Some(0) | None, None) => {
                note(|| match shown {
                    Some(shown) => format!("{what}: ok {shown}"),
                    None => format!("{what}: ok {}", normal::show(self.library, &value)),
                });
                self.store(to, value);
            }
            (Some(-1) | None, Some(error)) => {
                if value.type_index != kTVMFFINone {
                    self.broken.push(format!("{what}: a result and an error"));
                }
                note(|| format!("{what}: {}", normal::show(self.library, &error)));
                self.store(to, error);
            }
            (status, error) => {
                let error = error.unwrap_or(TVMFFIAny::NONE);
                let shown = normal::show(self.library, &error);
                self.broken.push(format!("{what}: status {status:?} with {shown}"));
                note(|| format!("{what}: status {status:?} with {shown}"));
                release(&error);
                release(&value);
            }
        }
    }

    fn take_raised(&self) -> Option<TVMFFIAny> {
        let mut error = ptr::null_mut();
        // SAFETY: the result is writable.
        unsafe { (self.library.symbols.TVMFFIErrorMoveFromRaised)(&mut error) };
        (!error.is_null()).then(|| object(error))
    }

    fn perform(&mut self, step: &Step) -> Outcome {
        match step {
            Step::Set { value, .. } => self.set(value),
            Step::Own { value, .. } => self.own(value),
            Step::Copy { from, .. } => self.copy(*from),
            Step::Drop { reg } => self.drop_register(*reg),
            Step::BigIntContent { reg } => self.big_int_content(*reg),
            Step::DataTypeFromText { text, .. } => self.data_type_from_text(text),
            Step::DataTypeToText { code, bits, lanes, .. } => {
                self.data_type_to_text(*code, *bits, *lanes)
            }
            Step::Version {} => self.version(),
            Step::Opaque { odd_index, .. } => self.opaque(*odd_index),
            Step::ObjectAllocator {} => self.object_allocator(),
            Step::InitOnce { init_fails, deinit_fails, empty } => {
                self.init_once(*init_fails, *deinit_fails, *empty)
            }
            Step::Null { call } => self.null(*call),

            Step::Function { callback, own, .. } => self.function(callback, *own),
            Step::Call { function, args, .. } => self.call(*function, args),
            Step::Builtin { name, args, .. } => self.builtin(*name, args),
            Step::GetGlobal { name, .. } => self.get_global(name),
            Step::SetGlobal { name, function, allow_override } => {
                self.set_global(*name, *function, *allow_override)
            }
            Step::SetGlobalInfo { name, function, doc, allow_override } => {
                self.set_global_info(*name, *function, doc, *allow_override)
            }
            Step::ExternC { callback, own, .. } => self.extern_c(callback, *own),

            Step::Error { kind, message, backtrace, .. } => self.error(kind, message, backtrace),
            Step::ErrorWith { kind, message, cause, context, .. } => {
                self.error_with(kind, message, *cause, *context)
            }
            Step::Backtraced { reg, text, mode } => self.backtraced(*reg, text, *mode),
            Step::Raise { error, .. } => self.raise(*error),
            Step::RaiseText { kind, message, .. } => self.raise_text(kind, message),
            Step::RaiseParts { kind, parts, .. } => self.raise_parts(kind, parts),
            Step::Backtrace { crossing } => self.backtrace(*crossing),

            Step::Class { class, parent, slots, overflow } => {
                self.class(*class, *parent, *slots, *overflow)
            }
            Step::KeyToIndex { key } => self.key_to_index(key),
            Step::TypeInfo { index, dynamic } => self.type_info(*index, *dynamic),
            Step::Field { class, field, flags, default } => {
                self.field(*class, *field, *flags, *default)
            }
            Step::Method { class, name, function, is_static } => {
                self.method(*class, name, *function, *is_static)
            }
            Step::Metadata { class, kind, doc } => self.metadata(*class, *kind, doc),
            Step::Attr { class, name, value } => self.attr(*class, *name, *value),
            Step::Column { name } => self.column(name),
            Step::New { class, .. } => self.new_object(*class),
            Step::GetField { object, field, .. } => self.get_field(*object, *field),
            Step::SetField { object, field, value } => self.set_field(*object, *field, value),
            Step::PyClass { class, init_only } => self.py_class(*class, *init_only),

            Step::Import { meta, versioned, major, flags, alignment, contiguous, .. } => {
                let how = tensors::Import {
                    versioned: *versioned,
                    major: *major,
                    flags: *flags,
                    alignment: *alignment,
                    contiguous: *contiguous,
                };
                self.import(meta, &how)
            }
            Step::Export { tensor, versioned, back, .. } => self.export(*tensor, *versioned, *back),
            Step::View { source, meta, .. } => self.view(*source, meta),

            Step::Stream { device_type, device_id, stream } => {
                self.stream(*device_type, *device_id, *stream)
            }
            Step::Allocator { mode, global } => self.allocator(*mode, *global),
            Step::TensorAlloc { meta, .. } => self.tensor_alloc(meta),
            Step::Signals { fails } => self.signals(*fails),
            Step::CApi { name } => self.c_api(name),
            Step::ContextSymbol { name } => self.context_symbol(name),
            Step::SystemSymbol { name } => self.system_symbol(*name),
            Step::Imports { module, name } => self.imports(*module, name),

            Step::Workspace { device_type, size } => self.workspace(*device_type, *size),
            Step::Launch { tasks, fails, barrier } => self.launch(*tasks, *fails, *barrier),
            Step::RunOnce { fails } => self.run_once(*fails),

            Step::Weak { reg, released } => self.weak(*reg, *released),
            Step::Payload { payload, .. } => self.payload(payload),
            Step::Library { object, .. } => self.open_library(object),
            Step::Legacy { call, .. } => self.legacy(call),
            // These are done before the step.
            Step::Fork { .. } | Step::Join {} => status(0),
        }
    }

    /// Calls `f` with the arguments of a packed call.
    fn with_args(
        &mut self,
        args: &[Arg],
        f: impl FnOnce(&Library, &[TVMFFIAny]) -> Outcome,
    ) -> Outcome {
        let texts: Vec<_> = args
            .iter()
            .map(|arg| match arg {
                Arg::RawStr { text } => text.c_string(),
                Arg::ByteArray { text } => text.0.clone(),
                _ => Vec::new(),
            })
            .collect();
        let arrays: Vec<_> = texts.iter().map(|text| TVMFFIByteArray::from_slice(text)).collect();
        let uses = |reg: Reg| args.iter().filter(|arg| register(arg) == Some(reg)).count();
        let registers = self.registers.as_mut_ptr();
        let values: Vec<TVMFFIAny> = args
            .iter()
            .enumerate()
            .map(|(at, arg)| match arg {
                Arg::Int { value } => int((*value).into()),
                Arg::Bool { value } => {
                    TVMFFIAny { type_index: kTVMFFIBool, ..int((*value).into()) }
                }
                Arg::RawStr { .. } => pointer(kTVMFFIRawStr, texts[at].as_ptr().cast_mut().cast()),
                Arg::ByteArray { .. } => {
                    pointer(kTVMFFIByteArrayPtr, (&raw const arrays[at]).cast_mut().cast())
                }
                Arg::Reg { reg } => self.registers[reg.at()],
                Arg::TensorPtr { reg } => match self.registers[reg.at()] {
                    // SAFETY: the content of a tensor object is a DLTensor.
                    tensor if tensor.type_index == kTVMFFITensor => {
                        pointer(kTVMFFIDLTensorPtr, unsafe {
                            normal::content::<DLTensor>(&tensor).cast_mut().cast()
                        })
                    }
                    _ => TVMFFIAny::NONE,
                },
                Arg::Movable { reg } => match self.registers[reg.at()] {
                    // The object must not be an argument otherwise too: it may end in the call.
                    value if value.type_index >= kTVMFFIStaticObjectBegin && uses(*reg) == 1 => {
                        // SAFETY: the register exists, and its payload is a handle.
                        pointer(kTVMFFIObjectRValueRef, unsafe {
                            (&raw mut (*registers.add(reg.at())).payload).cast()
                        })
                    }
                    value => value,
                },
            })
            .collect();
        let outcome = f(self.library, &values);
        self.registers.iter_mut().for_each(forget_moved);
        if let Outcome::Status(-1, _) = outcome {
            // The argument that made the call fail may come before or after one that was moved.
            let passed = args.iter().zip(&values);
            let movable = passed.filter(|(_, value)| value.type_index == kTVMFFIObjectRValueRef);
            movable
                .filter_map(|(arg, _)| register(arg))
                .for_each(|reg| self.put(reg, TVMFFIAny::NONE));
        }
        outcome
    }
}

/// Empties a register from which an object was moved.
fn forget_moved(register: &mut TVMFFIAny) {
    // SAFETY: objects have a handle.
    if register.type_index >= kTVMFFIStaticObjectBegin
        && unsafe { register.payload.v_ptr.is_null() }
    {
        *register = TVMFFIAny::NONE;
    }
}

/// Returns the register that an argument names.
pub fn register(arg: &Arg) -> Option<Reg> {
    match arg {
        Arg::Reg { reg } | Arg::TensorPtr { reg } | Arg::Movable { reg } => Some(*reg),
        _ => None,
    }
}

/// Returns the name of a step.
pub fn name_of(step: &Step) -> &'static str {
    let mut code = Vec::new();
    crate::code::Coded::write(step, &mut code);
    Step::NAMES[usize::from(code[0])]
}

/// Returns the register to which a result goes.
pub fn target(step: &Step) -> Option<Reg> {
    match step {
        Step::Set { to, .. }
        | Step::Own { to, .. }
        | Step::Copy { to, .. }
        | Step::Function { to, .. }
        | Step::Call { to, .. }
        | Step::Builtin { to, .. }
        | Step::GetGlobal { to, .. }
        | Step::Error { to, .. }
        | Step::ErrorWith { to, .. }
        | Step::Raise { to, .. }
        | Step::RaiseText { to, .. }
        | Step::RaiseParts { to, .. }
        | Step::Opaque { to, .. }
        | Step::New { to, .. }
        | Step::GetField { to, .. }
        | Step::Import { to, .. }
        | Step::Export { to, .. }
        | Step::View { to, .. }
        | Step::DataTypeFromText { to, .. }
        | Step::DataTypeToText { to, .. }
        | Step::TensorAlloc { to, .. }
        | Step::ExternC { to, .. }
        | Step::Payload { to, .. }
        | Step::Library { to, .. }
        | Step::Legacy { to, .. } => Some(*to),
        _ => None,
    }
}

/// Returns the number of objects of programs that live: functions, opaque objects, records and
/// tensors.
pub fn live() -> usize {
    callbacks::live() + classes::live().len() + crate::tensors::live()
}
