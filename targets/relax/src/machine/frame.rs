//! Register files and argument areas, recycled from call to call.

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;
use ferrite_core::{Any, AnyView, plain_ensure};

use super::Entry;
use crate::executable::FunctionInfo;

/// Registers of all nested calls together: 256 MiB, beyond which a recursion has no end.
const MOST_REGISTERS: usize = 1 << 24;

/// The frames of nested calls, outermost first, and behind them those that were used before.
#[derive(Default)]
pub(super) struct Frames {
    frames: Buffer<Frame>,
    /// The number of frames in use.
    depth: usize,
    /// Registers of the frames in use.
    registers: usize,
}

#[derive(Default)]
struct Frame {
    registers: Buffer<Any>,
    arguments: Buffer<TVMFFIAny>,
}

impl Frame {
    /// Makes the frame large enough. All registers are None before and after.
    fn fit(&mut self, info: &FunctionInfo) -> Result<()> {
        let missing = info.registers.saturating_sub(self.registers.len());
        self.registers.try_reserve(missing)?;
        for _ in 0..missing {
            self.registers.try_push(Any::NONE)?;
        }
        let missing = info.call_arguments.saturating_sub(self.arguments.len());
        if missing > 0 {
            self.arguments.try_resize(info.call_arguments, TVMFFIAny::NONE)?;
        }
        Ok(())
    }
}

/// The frame of a call, which ends with the value. Both areas stay where they are.
pub(super) struct CallFrame<'a> {
    entry: &'a Entry<'a>,
    /// The registers of the function.
    pub registers: *mut Any,
    /// Room for the arguments of its calls.
    pub arguments: *mut TVMFFIAny,
    count: usize,
}

impl<'a> CallFrame<'a> {
    /// Begins a call with these arguments.
    ///
    /// # Errors
    /// MemoryError; ValueError when calls are nested too deep; those of values that cannot be owned.
    pub(super) fn begin(
        entry: &'a Entry<'a>,
        info: &FunctionInfo,
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
            frames.frames.try_push(Frame::default())?;
        }
        let frame = &mut frames.frames[frames.depth];
        frame.fit(info)?;
        let registers = frame.registers.as_mut_slice().as_mut_ptr();
        let arguments = frame.arguments.as_mut_slice().as_mut_ptr();
        frames.depth += 1;
        frames.registers += info.registers;
        let call = CallFrame { entry, registers, arguments, count: info.registers };
        for (index, arg) in args.iter().enumerate().take(info.registers) {
            let value = (*arg).to_owned()?;
            // SAFETY: the frame has that register, whose value is None.
            unsafe { call.registers.add(index).write(value) };
        }
        Ok(call)
    }
}

impl Drop for CallFrame<'_> {
    fn drop(&mut self) {
        for index in 0..self.count {
            // SAFETY: the frame has as many registers.
            let register = unsafe { &mut *self.registers.add(index) };
            // Destructors may call the machine, which then uses the frames behind this one.
            if !register.is_none() {
                *register = Any::NONE;
            }
        }
        let frames = &mut self.entry.state().frames;
        frames.depth -= 1;
        frames.registers -= self.count;
    }
}
