//! The bytecode interpreter: a loop over instructions that were validated when the executable was
//! loaded.

use ferrite_core::abi::{TVMFFIAny, type_index};
use ferrite_core::call::function::{failure, invoke_safe_call};
use ferrite_core::error::raised_error::Mark;
use ferrite_core::error::{Error, Result};
use ferrite_core::names::type_table;
use ferrite_core::platform::stack;
use ferrite_core::{Any, AnyView, plain_error};

use super::frame::CallFrame;
use super::pools::{Callee, Pools};
#[cfg(feature = "std")]
use super::profile;
use super::{UseGuard, inputs, instrument, wrong_count};
use crate::builtins::memory::place_tensor;
use crate::executable::FunctionInfo;
use crate::executable::code::{Destination, Instruction, Operand, PLACE_ARGUMENTS};
use crate::memory::SpareTensor;

/// Runs a bytecode function.
///
/// # Errors
/// InternalError for a wrong number of arguments; ValueError if calls are nested too deep; errors
/// of the called functions; MemoryError.
pub(super) fn run(
    entry: &UseGuard<'_>,
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

/// Interpreter of one running function.
struct Interpreter<'a> {
    entry: &'a UseGuard<'a>,
    pools: &'a Pools,
    frame: CallFrame<'a>,
}

impl Interpreter<'_> {
    /// Runs instructions from index `start` until the function returns.
    ///
    /// # Safety
    /// The function that contains the instruction must have been validated, and the frame must be
    /// large enough for it.
    unsafe fn run(&self, start: usize) -> Result<Any> {
        let code = self.entry.0.executable().code();
        let (instructions, operands) = (code.instructions().as_ptr(), code.operands().as_ptr());
        // SAFETY: instructions, operands and registers were checked: each instruction continues
        // with one of the same function, and registers are those of its frame.
        unsafe {
            let mut at = instructions.add(start);
            loop {
                match *at {
                    Instruction::Clear { function, destination } => {
                        if instrument::is_set(self.entry) {
                            self.call_with_instrument(function, &[], destination)?;
                        } else if let Some(register) = destination.register() {
                            let value = core::mem::take(&mut *self.frame.registers.add(register));
                            self.retire(value);
                        }
                        at = at.add(1);
                    }
                    Instruction::Place { function, first, destination } => {
                        let operands = &*operands
                            .add(first as usize)
                            .cast::<[Operand; PLACE_ARGUMENTS as usize]>();
                        if instrument::is_set(self.entry) {
                            self.call_with_instrument(function, operands, destination)?;
                        } else {
                            self.place(operands, destination)?;
                        }
                        at = at.add(1);
                    }
                    Instruction::Call { count, function, first, destination } => {
                        let operands = core::slice::from_raw_parts(
                            operands.add(first as usize),
                            usize::from(count),
                        );
                        if instrument::is_set(self.entry) {
                            self.call_with_instrument(function, operands, destination)?;
                        } else {
                            self.call(function, operands, destination)?;
                        }
                        at = at.add(1);
                    }
                    Instruction::Return { value } => {
                        self.frame.check_copies()?;
                        // The frame ends, so a register gives its value away.
                        let value = if value.is_literal() {
                            self.read(value).clone()
                        } else {
                            core::mem::take(&mut *self.frame.registers.add(value.index()))
                        };
                        return Any::from_result(value.into_raw());
                    }
                    Instruction::Jump { target } => at = instructions.add(target as usize),
                    Instruction::Branch { condition, target } => {
                        let continues = is_true(self.read(condition))?;
                        at = if continues { at.add(1) } else { instructions.add(target as usize) };
                    }
                }
            }
        }
    }

    /// Returns the value of an operand.
    ///
    /// # Safety
    /// The operand must have been validated for the function. No register may be written while the
    /// value is borrowed.
    #[inline(always)]
    unsafe fn read(&self, operand: Operand) -> &Any {
        let base = if operand.is_literal() {
            self.pools.literals.as_ptr()
        } else {
            self.frame.registers.cast_const()
        };
        // SAFETY: the caller guarantees the operand.
        unsafe { &*base.add(operand.index()) }
    }

    /// Stores a result in its destination, and releases the previous value.
    ///
    /// # Safety
    /// The register must have been validated for the function.
    #[inline(always)]
    unsafe fn write(&self, destination: Destination, value: Any) {
        if let Some(register) = destination.register() {
            // SAFETY: the caller guarantees the register. The old value is dropped when the new one
            // is in place, as its destructor may run other code.
            drop(unsafe { core::mem::replace(&mut *self.frame.registers.add(register), value) });
        }
    }

    /// Drops a value that the function no longer needs, or keeps it for reuse if it is a spare
    /// tensor.
    #[inline(always)]
    fn retire(&self, value: Any) {
        // Destructors may run other code, so the value is dropped when the state is not borrowed.
        if cfg!(feature = "speed")
            && let Ok(spare) = SpareTensor::of(value)
        {
            self.entry.state().spare_tensors.keep(spare);
        }
    }

    /// Places a tensor in a storage.
    ///
    /// # Safety
    /// The instruction must have been validated for the function.
    #[inline(always)]
    unsafe fn place(
        &self,
        operands: &[Operand; PLACE_ARGUMENTS as usize],
        destination: Destination,
    ) -> Result<()> {
        // SAFETY: the caller guarantees the operands, which are borrowed until the tensor is made.
        unsafe {
            let [storage, offset, shape, dtype] =
                operands.map(|operand| self.read(operand).as_view());
            let tensor = place_tensor(
                storage,
                offset,
                shape,
                dtype,
                Some(&mut self.entry.state().spare_tensors),
            )?;
            self.write(destination, tensor);
        }
        Ok(())
    }

    /// Calls a function, and stores its result.
    ///
    /// # Safety
    /// The instruction must have been validated for the function.
    #[inline(always)]
    unsafe fn call(
        &self,
        function: u32,
        operands: &[Operand],
        destination: Destination,
    ) -> Result<()> {
        // SAFETY: the caller guarantees function and operands. No register is written while
        // arguments are borrowed. The handle is that of a function among the literals, and a
        // successful call leaves an owned value (ABI).
        unsafe {
            let callee = self.pools.callees.get_unchecked(function as usize);
            let args = self.arguments(operands);
            let Callee::Packed { safe_call, handle } = callee else {
                let value = self.invoke(callee, function as usize, args)?;
                return self.write_result(destination, value);
            };
            let mut result = TVMFFIAny::NONE;
            let before = Mark::now();
            let status = safe_call(*handle, args.as_ptr().cast(), args.len() as i32, &mut result);
            if status != 0 {
                return Err(failure(status, before));
            }
            self.write_result(destination, Any::from_raw(result))
        }
    }

    /// Stores the result of a function, in which kernels can use all tensors, in its destination.
    ///
    /// # Safety
    /// Same requirements as [`write`](Self::write).
    #[inline(always)]
    unsafe fn write_result(&self, destination: Destination, value: Any) -> Result<()> {
        let is_stored = destination.register().is_some();
        let value = if is_stored && inputs::result_needs_check(&value) {
            self.entry.align_result(value)?
        } else {
            value
        };
        // SAFETY: contract of this function.
        unsafe { self.write(destination, value) };
        Ok(())
    }

    /// Returns the arguments of a call, copied next to each other into the frame's argument area.
    ///
    /// # Safety
    /// The operands must have been validated for the function, whose frame has space for as many
    /// arguments. The arguments are borrowed until the next call of this frame; no register of the
    /// frame may be written meanwhile.
    #[inline(always)]
    unsafe fn arguments(&self, operands: &[Operand]) -> &[AnyView<'_>] {
        let args = self.frame.arguments;
        // SAFETY: the caller guarantees operands and space.
        unsafe {
            for (index, operand) in operands.iter().enumerate() {
                args.add(index).write(*self.read(*operand).as_raw());
            }
            AnyView::slice_from_raw(args, operands.len())
        }
    }

    /// Calls a function with the instrument and the clock around the call.
    ///
    /// # Safety
    /// Same requirements as [`call`](Self::call).
    #[cold]
    unsafe fn call_with_instrument(
        &self,
        function: u32,
        operands: &[Operand],
        destination: Destination,
    ) -> Result<()> {
        let function = function as usize;
        // SAFETY: the caller guarantees function and operands.
        unsafe {
            let (args, callee) =
                (self.arguments(operands), self.pools.callees.get_unchecked(function));
            let invoke = || self.invoke(callee, function, args);
            #[cfg(feature = "std")]
            let invoke = || profile::call_timed(self.entry, function, invoke);
            let value =
                instrument::call_instrumented(self.entry, self.pools, function, args, invoke)?;
            self.write_result(destination, value)
        }
    }

    fn invoke(&self, callee: &Callee, function: usize, args: &[AnyView<'_>]) -> Result<Any> {
        match callee {
            Callee::Builtin(body) => body(args),
            // SAFETY: the handle is that of a function among the literals.
            Callee::Packed { safe_call, handle } => unsafe {
                invoke_safe_call(*safe_call, *handle, args)
            },
            Callee::Bytecode | Callee::Native(_) => self.entry.call(function, args),
        }
    }
}

/// Returns the truth value of a condition: any integer except 0 is true.
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
