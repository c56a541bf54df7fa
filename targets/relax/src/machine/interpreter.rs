//! The loop over instructions, which were checked when the executable was loaded.

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::error::{Error, Result};
use ferrite_core::function::take_raised;
use ferrite_core::{Any, AnyView, plain_error, stack, type_index, type_table};

use super::frame::CallFrame;
use super::pools::{Callee, Pools};
use super::{Entry, instrument, wrong_count};
use crate::builtins::memory::{alloc_tensor, place_tensor};
use crate::executable::FunctionInfo;
use crate::executable::code::{Destination, Instruction, Operand};

/// Runs a function of bytecode.
///
/// # Errors
/// InternalError for a wrong number of arguments; ValueError when calls are nested too deep; those of the functions called;
/// MemoryError.
pub(super) fn run(
    entry: &Entry<'_>,
    pools: &Pools,
    info: &FunctionInfo,
    args: &[AnyView<'_>],
) -> Result<Any> {
    if args.len() != info.arguments {
        return Err(wrong_count(entry.0.executable(), info, args.len()));
    }
    stack::nest(|| {
        let frame = CallFrame::begin(entry, info, args)?;
        // SAFETY: the frame is that of the function, whose instructions were checked for it.
        unsafe { Interpreter { entry, pools, frame }.run(info.instructions.start) }
    })
}

/// The run of one function.
struct Interpreter<'a> {
    entry: &'a Entry<'a>,
    pools: &'a Pools,
    frame: CallFrame<'a>,
}

impl Interpreter<'_> {
    /// # Safety
    /// The function that has the instruction was checked, and the frame is large enough for it.
    unsafe fn run(&self, start: usize) -> Result<Any> {
        let code = self.entry.0.executable().code();
        let (instructions, operands) = (code.instructions(), code.operands());
        let mut at = start;
        loop {
            // SAFETY: instructions, operands and registers were checked: each continues with one of the same function, and registers
            // are those of its frame.
            unsafe {
                match *instructions.get_unchecked(at) {
                    Instruction::Call { count, function, first, destination } => {
                        let operands =
                            operands.get_unchecked(first as usize..first as usize + usize::from(count));
                        self.call(function as usize, operands, destination)?;
                        at += 1;
                    }
                    Instruction::Return { value } => {
                        // The frame ends, so a register gives its value away.
                        return Ok(if value.is_literal() {
                            self.read(value).clone()
                        } else {
                            core::mem::take(&mut *self.frame.registers.add(value.index()))
                        });
                    }
                    Instruction::Jump { target } => at = target as usize,
                    Instruction::Branch { condition, target } => {
                        at = if is_true(self.read(condition))? { at + 1 } else { target as usize };
                    }
                }
            }
        }
    }

    /// The value of an operand.
    ///
    /// # Safety
    /// The operand was checked for the function. No register is written while the value is borrowed.
    #[inline(always)]
    unsafe fn read(&self, operand: Operand) -> &Any {
        let base = if operand.is_literal() {
            self.pools.literals.as_ptr()
        } else {
            self.frame.registers.cast_const()
        };
        // SAFETY: the caller vouches for the operand.
        unsafe { &*base.add(operand.index()) }
    }

    /// Puts a result where it goes; what was there is released.
    ///
    /// # Safety
    /// The register was checked for the function.
    #[inline(always)]
    unsafe fn write(&self, destination: Destination, value: Any) {
        if let Some(register) = destination.register() {
            // SAFETY: the caller vouches for the register. The old value is dropped when the new one is in place, as its destructor may
            // run other code.
            drop(unsafe { core::mem::replace(&mut *self.frame.registers.add(register), value) });
        }
    }

    /// Makes a call.
    ///
    /// # Safety
    /// The instruction was checked for the function.
    #[inline(always)]
    unsafe fn call(&self, function: usize, operands: &[Operand], destination: Destination) -> Result<()> {
        // SAFETY: the caller vouches for function and operands. No register is written while arguments are borrowed.
        unsafe {
            let value = if instrument::is_set(self.entry) {
                self.call_with_instrument(function, operands)?
            } else {
                match (self.pools.callees.get_unchecked(function), operands) {
                    (Callee::Null, _) => Any::NONE,
                    (Callee::AllocTensor, [storage, offset, shape, dtype]) => place_tensor(
                        self.read(*storage).as_view(),
                        self.read(*offset).as_view(),
                        self.read(*shape).as_view(),
                        self.read(*dtype).as_view(),
                    )?,
                    (callee, operands) => self.invoke(callee, function, self.arguments(operands))?,
                }
            };
            self.write(destination, value);
        }
        Ok(())
    }

    /// The arguments of a call, side by side.
    ///
    /// # Safety
    /// The operands were checked for the function, whose frame has space for as many arguments. They are borrowed until the next call
    /// of this frame; no register of it is written meanwhile.
    #[inline(always)]
    unsafe fn arguments(&self, operands: &[Operand]) -> &[AnyView<'_>] {
        let args = self.frame.arguments;
        // SAFETY: the caller vouches for operands and space.
        unsafe {
            for (index, operand) in operands.iter().enumerate() {
                args.add(index).write(*self.read(*operand).as_raw());
            }
            AnyView::slice_from_raw(args, operands.len())
        }
    }

    /// # Safety
    /// As [`call`](Self::call).
    #[cold]
    unsafe fn call_with_instrument(&self, function: usize, operands: &[Operand]) -> Result<Any> {
        // SAFETY: the caller vouches for function and operands.
        unsafe {
            let (args, callee) = (self.arguments(operands), self.pools.callees.get_unchecked(function));
            instrument::around(self.entry, self.pools, function, args, || self.invoke(callee, function, args))
        }
    }

    #[inline(always)]
    fn invoke(&self, callee: &Callee, function: usize, args: &[AnyView<'_>]) -> Result<Any> {
        match callee {
            Callee::Null => Ok(Any::NONE),
            Callee::AllocTensor => alloc_tensor(args),
            Callee::Builtin(body) => body(args),
            Callee::Packed { safe_call, handle } => {
                let mut result = TVMFFIAny::NONE;
                // SAFETY: the handle is that of a function among the literals, and the arguments are valid cells.
                let status =
                    unsafe { safe_call(*handle, args.as_ptr().cast(), args.len() as i32, &mut result) };
                if status != 0 {
                    return Err(take_raised());
                }
                // SAFETY: a successful call leaves an owned value (ABI).
                Ok(unsafe { Any::from_raw(result) })
            }
            Callee::Bytecode | Callee::Native(_) => self.entry.call(function, args),
        }
    }
}

/// The truth of a condition: any integer but 0.
#[inline]
fn is_true(condition: &Any) -> Result<bool> {
    match condition.type_index() {
        type_index::INT | type_index::BOOL => Ok(condition.view().payload_bits() != 0),
        _ => Err(no_condition(condition)),
    }
}

#[cold]
fn no_condition(condition: &Any) -> Error {
    plain_error!(
        TYPE_ERROR,
        "Cannot convert from type `{}` to `int`",
        type_table::type_key_of(condition.type_index())
    )
}
