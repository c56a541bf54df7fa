//! Stack walk by the call frame information of each module. Unwinding rules are cached by address,
//! so raising an error at the same place again costs a few nanoseconds per frame.

mod eh_frame;
mod rule;

use core::arch::asm;
use core::ptr;

use super::super::cache::Cache;
use super::super::modules::Module;
use super::frame::{Frame, Visitor};
use super::unwinder;
pub(in super::super) use rule::Rule;
use rule::{Base, Step, UNKNOWN};

/// Registers of a frame: its code address, and the registers needed to find its caller.
struct Registers {
    pc: usize,
    stack: usize,
    frame: usize,
}

/// Calls `visit` for each frame of the current thread. Allocates memory only for the cache.
#[inline(never)]
pub(in super::super) fn trace(cache: &mut Cache, visit: &mut Visitor<'_>) {
    let mut registers = Registers { pc: 0, stack: 0, frame: 0 };
    // SAFETY: three registers are read, nothing else is touched.
    unsafe {
        asm!(
            "lea {pc}, [rip]",
            "mov {stack}, rsp",
            "mov {frame}, rbp",
            pc = out(reg) registers.pc,
            stack = out(reg) registers.stack,
            frame = out(reg) registers.frame,
            options(nomem, nostack, preserves_flags),
        );
    }
    loop {
        let Rule { function, step } =
            cache.rule(registers.pc, || find(registers.pc).unwrap_or(UNKNOWN));
        let caller = match step {
            Step::Unknown => {
                let begin = |pc, stack| pc == registers.pc && stack == registers.stack;
                return unwinder::trace(cache, begin, visit);
            }
            Step::Last => None,
            // SAFETY: the rule is the compiler's own for this code, and the registers is that of a
            // live frame of it.
            Step::To { .. } => unsafe { caller(&registers, step) },
        };
        if !visit(cache, &Frame { pc: registers.pc, function: &|| function }) {
            return;
        }
        let Some(caller) = caller else { return };
        registers = caller;
    }
}

/// Returns the frame that called this one; `None` for the outermost frame.
///
/// # Safety
/// The frame must be live, and the step must belong to its code.
unsafe fn caller(registers: &Registers, step: Step) -> Option<Registers> {
    let Step::To { base, distance, return_address, frame_pointer } = step else { return None };
    let start = match base {
        Base::StackPointer => registers.stack,
        Base::FramePointer => registers.frame,
    };
    let stack = start.wrapping_add_signed(distance as isize);
    // The stack grows down: any other value is corrupt or does not point into a stack.
    if stack <= registers.stack || stack % size_of::<usize>() != 0 {
        return None;
    }
    let read = |offset: i32| {
        let at = ptr::with_exposed_provenance::<usize>(stack.wrapping_add_signed(offset as isize));
        // SAFETY: the caller guarantees frame and step, which say that a register was saved there.
        unsafe { at.read_unaligned() }
    };
    let pc = read(return_address);
    let frame = frame_pointer.map_or(registers.frame, read);
    (pc != 0).then_some(Registers { pc, stack, frame })
}

/// Computes the unwinding rule for the code before the return address `pc`. Returns `None` if its
/// module has no call frame information for it.
#[cold]
fn find(pc: usize) -> Option<Rule> {
    let code = pc.checked_sub(1)?;
    let module = Module::containing(code)?;
    let header = module.headers().iter().find(|header| header.p_type == libc::PT_GNU_EH_FRAME)?;
    let address = module.base.wrapping_add(header.p_vaddr as usize);
    eh_frame::rule(module.segment(address)?, address, code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// Returns the frames of both walks from the first common frame on.
    #[inline(never)]
    fn both() -> (Vec<usize>, Vec<usize>) {
        let (mut quick, mut slow) = (Vec::new(), Vec::new());
        let mut cache = Cache::new();
        // Twice: with rules computed, then with rules from the cache.
        for _ in 0..2 {
            quick.clear();
            cache.refresh(Some([1, 0]));
            trace(&mut cache, &mut |_, frame| {
                quick.push(frame.pc);
                true
            });
        }
        unwinder::trace(&mut cache, |_, _| true, &mut |_, frame| {
            slow.push(frame.pc);
            true
        });
        (quick, slow)
    }

    fn assert_same_callers() {
        let (quick, slow) = both();
        // Frames within this file differ; their callers' do not.
        let callers = |frames: &[usize]| {
            frames.iter().rev().copied().take(frames.len().saturating_sub(6)).collect::<Vec<_>>()
        };
        let (quick, slow) = (callers(&quick), callers(&slow));
        let count = quick.len().min(slow.len());
        assert!(count > 3, "{count}");
        assert_eq!(quick[..count], slow[..count]);
    }

    #[test]
    fn the_unwinder_finds_the_same_frames() {
        assert_same_callers();
        std::thread::spawn(assert_same_callers).join().unwrap();
    }

    #[test]
    fn frames_of_c_functions_are_passed() {
        unsafe extern "C" fn compare(_: *const libc::c_void, _: *const libc::c_void) -> i32 {
            assert_same_callers();
            0
        }
        let mut many = [0u8; 64];
        // SAFETY: elements of one byte, and a comparison that does not look at them.
        unsafe { libc::qsort(many.as_mut_ptr().cast(), 64, 1, Some(compare)) };
    }

    #[test]
    fn an_aligned_stack_is_passed() {
        #[repr(align(64))]
        struct Aligned([u8; 64]);
        #[inline(never)]
        fn aligned(depth: usize) -> u8 {
            let local = core::hint::black_box(Aligned([depth as u8; 64]));
            if depth == 0 {
                assert_same_callers();
            } else {
                aligned(depth - 1);
            }
            core::hint::black_box(&local).0[depth % 64]
        }
        assert_eq!(aligned(5), 5);
    }

    #[test]
    fn code_of_no_module_has_no_rule() {
        let local = 0;
        assert!(find((&raw const local).addr()).is_none());
        assert!(find(0).is_none());
    }
}
