//! Call frames: register files and argument areas, reused across calls.

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::error::{Error, Result};
use ferrite_core::platform::memory::{AllocError, Buffer};
use ferrite_core::{Any, AnyView, plain_ensure};

use super::UseGuard;
use super::inputs::{self, Addresses};
use crate::compiled::ValueList;
use crate::executable::FunctionInfo;

/// Maximum number of registers of all nested calls: 256 MiB. More are assumed to be infinite
/// recursion.
const MOST_REGISTERS: usize = 1 << 24;

/// The frames of nested calls, outermost first, followed by unused frames kept for reuse.
#[derive(Default)]
pub(super) struct Frames {
    frames: Buffer<RegisterFrame>,
    /// Number of frames in use.
    depth: usize,
    /// Number of registers of the frames in use.
    registers: usize,
    /// Number of frames in use that have copies of inputs.
    #[cfg(feature = "all-builtins")]
    with_copies: usize,
}

#[derive(Default)]
struct RegisterFrame {
    registers: ValueList,
    arguments: Buffer<TVMFFIAny>,
    /// Copies of inputs that kernels cannot use where they are.
    #[cfg(feature = "all-builtins")]
    copies: Buffer<inputs::InputCopy>,
}

#[cfg(feature = "all-builtins")]
impl Frames {
    /// Returns the frame of the innermost call.
    fn innermost(&mut self) -> Option<&mut RegisterFrame> {
        self.frames.get_mut(self.depth.checked_sub(1)?)
    }
}

impl RegisterFrame {
    /// Grows the frame to the sizes that a function needs. All registers must be None, and remain
    /// so.
    fn fit(&mut self, info: &FunctionInfo) -> Result<()> {
        if self.registers.len() < info.registers {
            self.registers = ValueList::try_new(info.registers)?;
        }
        let missing = info.call_arguments.saturating_sub(self.arguments.len());
        if missing > 0 {
            self.arguments.try_resize(info.call_arguments, TVMFFIAny::NONE)?;
        }
        Ok(())
    }
}

/// Frame of a running call. Dropping it clears the registers and pops the frame. The registers and
/// the argument area do not move while nested calls push frames.
pub(super) struct CallFrame<'a> {
    entry: &'a UseGuard<'a>,
    /// Registers of the function.
    pub registers: *mut Any,
    /// Argument area, in which the function assembles the arguments of its calls.
    pub arguments: *mut TVMFFIAny,
    info: &'a FunctionInfo,
}

impl<'a> CallFrame<'a> {
    /// Pushes the frame of a call, with the arguments in its first registers. Tensors that are not
    /// aligned are copied.
    ///
    /// # Errors
    /// MemoryError; ValueError if calls are nested too deep, and in builds without all builtins for
    /// a tensor that is not aligned; errors of arguments that cannot be owned.
    pub(super) fn begin(
        entry: &'a UseGuard<'a>,
        info: &'a FunctionInfo,
        args: &[AnyView<'_>],
    ) -> Result<CallFrame<'a>> {
        let frames = &mut entry.state().frames;
        plain_ensure!(
            info.registers <= MOST_REGISTERS - frames.registers,
            VALUE_ERROR,
            "Calls are nested too deep: their registers take more than {} bytes",
            MOST_REGISTERS * size_of::<Any>()
        );
        if frames.depth == frames.frames.len() {
            frames.frames.try_push(RegisterFrame::default())?;
        }
        let frame = frames
            .frames
            .get_mut(frames.depth)
            .ok_or(AllocError::new(size_of::<RegisterFrame>()))?;
        frame.fit(info)?;
        let registers = frame.registers.start();
        let arguments = frame.arguments.as_mut_slice().as_mut_ptr();
        frames.depth += 1;
        frames.registers += info.registers;
        let call = CallFrame { entry, registers, arguments, info };
        let args = args.get(..info.registers.min(args.len())).unwrap_or_default();
        let mut addresses = Addresses::default();
        for (index, arg) in args.iter().enumerate() {
            let value = match addresses.retain_tensor(arg) {
                Some(tensor) => tensor,
                None => match arg.retain() {
                    Some(value) => value,
                    // SAFETY: the registers end before the arguments do, builtins get views of
                    // them, and `Return` refuses a pointer.
                    None => unsafe { arg.to_owned_or_pointer()? },
                },
            };
            // SAFETY: the frame has that register, whose value is None.
            unsafe { call.registers.add(index).write(value) };
        }
        if addresses.need_check() {
            #[cfg(feature = "all-builtins")]
            call.align_inputs(args.len())?;
            #[cfg(not(feature = "all-builtins"))]
            inputs::refuse(entry.0.executable(), info, args)?;
        }
        Ok(call)
    }

    /// Checks, when the function has returned, that it did not write to the copy of an input.
    ///
    /// # Errors
    /// ValueError that names the input.
    #[inline(always)]
    pub(super) fn check_copies(&self) -> Result<()> {
        #[cfg(feature = "all-builtins")]
        if self.entry.state().frames.with_copies != 0 {
            let copies = self.take_copies();
            // SAFETY: the caller of the model keeps its arguments until the call ends.
            let checked =
                unsafe { inputs::check_unchanged(&copies, self.entry.0.executable(), self.info) };
            self.entry.drop_copies(copies);
            return checked;
        }
        Ok(())
    }
}

#[cfg(feature = "all-builtins")]
impl CallFrame<'_> {
    /// Replaces the tensors in the first registers that kernels cannot use.
    #[cold]
    fn align_inputs(&self, count: usize) -> Result<()> {
        let Some(allocator) = self.entry.pools()?.allocators.last().copied() else { return Ok(()) };
        // SAFETY: the frame has as many registers, which are this call's until it ends.
        let inputs = unsafe { core::slice::from_raw_parts_mut(self.registers, count) };
        let mut copies = self.entry.spare_copies();
        inputs::replace(inputs, inputs::Origin::Arguments, allocator, &mut copies)?;
        self.entry.keep_copies(copies)
    }

    /// Takes the copies of inputs out of the frame.
    #[cold]
    fn take_copies(&self) -> Buffer<inputs::InputCopy> {
        let frames = &mut self.entry.state().frames;
        let copies =
            frames.innermost().map(|frame| core::mem::take(&mut frame.copies)).unwrap_or_default();
        frames.with_copies -= usize::from(!copies.is_empty());
        copies
    }
}

#[cfg(feature = "all-builtins")]
impl UseGuard<'_> {
    /// Returns a result of a function that the innermost call made, with tensors that kernels can
    /// use.
    ///
    /// # Errors
    /// MemoryError; ValueError for tuples that are nested too deep.
    #[cold]
    pub(super) fn align_result(&self, result: Any) -> Result<Any> {
        let Some(allocator) = self.pools()?.allocators.last().copied() else { return Ok(result) };
        let mut result = [result];
        let mut copies = self.spare_copies();
        inputs::replace(&mut result, inputs::Origin::Result, allocator, &mut copies)?;
        self.keep_copies(copies)?;
        let [result] = result;
        Ok(result)
    }

    /// Keeps the error for a result that native code stored.
    #[cold]
    pub(super) fn keep_result_error(&self, error: &Error) {
        self.state().result_error = Some(error.clone());
    }

    /// Takes the error for a result that native code stored.
    pub(super) fn take_result_error(&self) -> Option<Error> {
        self.state().result_error.take()
    }

    /// Returns a list for copies: that of the innermost call, unless it has copies.
    fn spare_copies(&self) -> Buffer<inputs::InputCopy> {
        let frame = self.state().frames.innermost().filter(|frame| frame.copies.is_empty());
        frame.map(|frame| core::mem::take(&mut frame.copies)).unwrap_or_default()
    }

    /// Adds copies to the frame of the innermost call.
    fn keep_copies(&self, copies: Buffer<inputs::InputCopy>) -> Result<()> {
        let frames = &mut self.state().frames;
        let Some(frame) = frames.innermost() else { return Ok(()) };
        if frame.copies.is_empty() {
            frame.copies = copies;
            let has_copies = !frame.copies.is_empty();
            frames.with_copies += usize::from(has_copies);
            return Ok(());
        }
        frame.copies.try_reserve(copies.len())?;
        copies.into_iter().try_for_each(|copy| frame.copies.try_push(copy))?;
        Ok(())
    }

    /// Drops the copies of the innermost call, and keeps their list for later calls.
    fn drop_copies(&self, mut copies: Buffer<inputs::InputCopy>) {
        // Destructors may call the machine, so nothing of its state is borrowed meanwhile.
        copies.clear();
        if let Some(frame) = self.state().frames.innermost() {
            frame.copies = copies;
        }
    }
}

#[cfg(not(feature = "all-builtins"))]
impl UseGuard<'_> {
    /// Returns the result as it is.
    pub(super) fn align_result(&self, result: Any) -> Result<Any> {
        Ok(result)
    }

    /// Does nothing.
    pub(super) fn keep_result_error(&self, _error: &Error) {}

    /// Returns `None`.
    pub(super) fn take_result_error(&self) -> Option<Error> {
        None
    }
}

impl Drop for CallFrame<'_> {
    fn drop(&mut self) {
        #[cfg(feature = "all-builtins")]
        if self.entry.state().frames.with_copies != 0 {
            self.entry.drop_copies(self.take_copies());
        }
        for index in 0..self.info.registers {
            // SAFETY: the frame has as many registers.
            let register = unsafe { &mut *self.registers.add(index) };
            // Destructors may call the machine, which then uses the frames behind this one.
            if !register.is_none() {
                *register = Any::NONE;
            }
        }
        let frames = &mut self.entry.state().frames;
        frames.depth -= 1;
        frames.registers -= self.info.registers;
    }
}
