//! Call frames: register files and argument areas, reused across calls.

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::error::Result;
use ferrite_core::memory::{AllocError, Buffer};
use ferrite_core::{Any, AnyView, plain_ensure};

use super::Entry;
use crate::executable::FunctionInfo;

/// Maximum number of registers of all nested calls: 256 MiB. More are assumed to be infinite recursion.
const MOST_REGISTERS: usize = 1 << 24;

/// The frames of nested calls, outermost first, followed by unused frames kept for reuse.
#[derive(Default)]
pub(super) struct Frames {
    frames: Buffer<Frame>,
    /// Number of frames in use.
    depth: usize,
    /// Number of registers of the frames in use.
    registers: usize,
}

#[derive(Default)]
struct Frame {
    registers: Buffer<Any>,
    arguments: Buffer<TVMFFIAny>,
}

impl Frame {
    /// Grows the frame to the sizes that a function needs. All registers must be None, and remain so.
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

/// Frame of a running call. Dropping it clears the registers and pops the frame. The registers and the argument area do not
/// move while nested calls push frames.
pub(super) struct CallFrame<'a> {
    entry: &'a Entry<'a>,
    /// Registers of the function.
    pub registers: *mut Any,
    /// Argument area, in which the function assembles the arguments of its calls.
    pub arguments: *mut TVMFFIAny,
    count: usize,
}

impl<'a> CallFrame<'a> {
    /// Pushes the frame of a call, with the arguments in its first registers.
    ///
    /// # Errors
    /// MemoryError; ValueError if calls are nested too deep; errors of arguments that cannot be owned.
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
        let frame = frames.frames.get_mut(frames.depth).ok_or(AllocError::new(size_of::<Frame>()))?;
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
