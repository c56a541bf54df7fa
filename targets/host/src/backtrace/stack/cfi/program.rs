//! Interpreter for DWARF call frame instructions, limited to what finding the caller needs.
#![forbid(unsafe_code)]

use super::instructions::*;
use super::reader::Reader;

// DWARF register numbers of x86-64.
const FRAME_POINTER: u64 = 6;
const STACK_POINTER: u64 = 7;
const RETURN_ADDRESS: u64 = 16;

/// Maximum depth of the stack of remembered rows (`DW_CFA_remember_state`). Compilers use a depth
/// of one.
const MAX_SAVED: usize = 4;

/// Register from which the caller's stack pointer is computed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Base {
    StackPointer,
    FramePointer,
}

/// Rule for getting from a frame to its caller: the result of running a program.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Step {
    /// The caller's stack pointer is the base register plus `distance`. The return address and the
    /// saved frame pointer are at these offsets from the caller's stack pointer. If `frame_pointer`
    /// is `None`, the frame pointer is unchanged.
    To { base: Base, distance: i32, return_address: i32, frame_pointer: Option<i32> },
    /// The frame is the outermost one.
    Last,
    /// The rule is more complex than `To` can express.
    Unknown,
}

/// Rule for restoring one register, in a row of the unwinding table.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Saved {
    InPlace,
    At(i32),
    Nowhere,
    Elsewhere,
}

/// Current row of the unwinding table: the rules that apply at a code address.
#[derive(Clone, Copy)]
struct Row {
    base: Option<Base>,
    distance: i64,
    frame_pointer: Saved,
    return_address: Saved,
}

/// Contents of a common information entry (CIE), which apply to all its functions.
pub(super) struct Unit<'a> {
    pub code_alignment: u64,
    pub data_alignment: i64,
    pub pointer_encoding: u8,
    pub program: Reader<'a>,
}

/// Runs the program of the function at `function`, and returns the step to the caller for the code
/// at `address`. Returns `None` if the program is truncated or contains unknown instructions.
pub(super) fn run(
    unit: &Unit<'_>,
    program: Reader<'_>,
    function: usize,
    address: usize,
) -> Option<Step> {
    let nothing = Row {
        base: None,
        distance: 0,
        frame_pointer: Saved::InPlace,
        return_address: Saved::Elsewhere,
    };
    let mut machine = Machine {
        unit,
        row: nothing,
        initial: nothing,
        saved: heapless::Vec::new(),
        location: function,
    };
    machine.run(unit.program.clone(), usize::MAX)?;
    machine.initial = machine.row;
    machine.run(program, address)?;
    Some(machine.row.step())
}

impl Row {
    fn step(&self) -> Step {
        if self.return_address == Saved::Nowhere {
            return Step::Last;
        }
        let frame_pointer = match self.frame_pointer {
            Saved::InPlace => None,
            Saved::At(offset) => Some(offset),
            // Without its frame pointer, a frame gives no base to compute from.
            Saved::Nowhere | Saved::Elsewhere => return Step::Unknown,
        };
        match (self.base, i32::try_from(self.distance), self.return_address) {
            (Some(base), Ok(distance), Saved::At(return_address)) => {
                Step::To { base, distance, return_address, frame_pointer }
            }
            _ => Step::Unknown,
        }
    }
}

struct Machine<'a> {
    unit: &'a Unit<'a>,
    row: Row,
    initial: Row,
    saved: heapless::Vec<Row, MAX_SAVED>,
    location: usize,
}

impl Machine<'_> {
    /// Runs the program up to the row that covers `address`.
    fn run(&mut self, mut program: Reader<'_>, address: usize) -> Option<()> {
        while !program.is_empty() && self.location <= address {
            let byte = program.u8()?;
            let low = u64::from(byte & 0x3f);
            match byte >> 6 {
                DW_CFA_ADVANCE_LOC => self.advance(low)?,
                DW_CFA_OFFSET => {
                    let offset = program.uleb()?;
                    self.set_offset(low, i64::try_from(offset).ok()?)?;
                }
                DW_CFA_RESTORE => self.restore(low),
                _ => self.extended(byte, &mut program)?,
            }
        }
        Some(())
    }

    fn advance(&mut self, units: u64) -> Option<()> {
        let bytes = units.checked_mul(self.unit.code_alignment)?;
        self.location = self.location.checked_add(usize::try_from(bytes).ok()?)?;
        Some(())
    }

    /// Executes an instruction whose opcode is in the low six bits.
    fn extended(&mut self, code: u8, program: &mut Reader<'_>) -> Option<()> {
        match code {
            DW_CFA_NOP => {}
            DW_CFA_SET_LOC => self.location = program.pointer(self.unit.pointer_encoding)?,
            DW_CFA_ADVANCE_LOC1 => self.advance(program.u8()?.into())?,
            DW_CFA_ADVANCE_LOC2 => self.advance(program.u16()?.into())?,
            DW_CFA_ADVANCE_LOC4 => self.advance(program.u32()?.into())?,
            DW_CFA_OFFSET_EXTENDED => {
                let (register, offset) = (program.uleb()?, program.uleb()?);
                self.set_offset(register, i64::try_from(offset).ok()?)?;
            }
            DW_CFA_RESTORE_EXTENDED => {
                let register = program.uleb()?;
                self.restore(register);
            }
            DW_CFA_UNDEFINED => self.set(program.uleb()?, Saved::Nowhere),
            DW_CFA_SAME_VALUE => self.set(program.uleb()?, Saved::InPlace),
            DW_CFA_REGISTER => {
                self.set(program.uleb()?, Saved::Elsewhere);
                program.uleb()?;
            }
            DW_CFA_REMEMBER_STATE => {
                self.saved.push(self.row).ok()?;
            }
            DW_CFA_RESTORE_STATE => {
                self.row = self.saved.pop()?;
            }
            DW_CFA_DEF_CFA => {
                self.set_base(program.uleb()?);
                self.row.distance = i64::try_from(program.uleb()?).ok()?;
            }
            DW_CFA_DEF_CFA_REGISTER => self.set_base(program.uleb()?),
            DW_CFA_DEF_CFA_OFFSET => self.row.distance = i64::try_from(program.uleb()?).ok()?,
            DW_CFA_DEF_CFA_EXPRESSION => {
                self.row.base = None;
                skip_block(program)?;
            }
            DW_CFA_EXPRESSION | DW_CFA_VAL_EXPRESSION => {
                self.set(program.uleb()?, Saved::Elsewhere);
                skip_block(program)?;
            }
            DW_CFA_OFFSET_EXTENDED_SF => {
                let (register, offset) = (program.uleb()?, program.sleb()?);
                self.set_offset(register, offset)?;
            }
            DW_CFA_DEF_CFA_SF => {
                self.set_base(program.uleb()?);
                self.row.distance = program.sleb()?.checked_mul(self.unit.data_alignment)?;
            }
            DW_CFA_DEF_CFA_OFFSET_SF => {
                self.row.distance = program.sleb()?.checked_mul(self.unit.data_alignment)?
            }
            DW_CFA_VAL_OFFSET | DW_CFA_VAL_OFFSET_SF => {
                self.set(program.uleb()?, Saved::Elsewhere);
                program.uleb()?;
            }
            // Size of pushed arguments, irrelevant for callers.
            DW_CFA_GNU_ARGS_SIZE => drop(program.uleb()?),
            _ => return None,
        }
        Some(())
    }

    fn set_base(&mut self, register: u64) {
        self.row.base = match register {
            STACK_POINTER => Some(Base::StackPointer),
            FRAME_POINTER => Some(Base::FramePointer),
            _ => None,
        };
    }

    fn set_offset(&mut self, register: u64, offset: i64) -> Option<()> {
        let bytes = offset.checked_mul(self.unit.data_alignment)?;
        self.set(register, i32::try_from(bytes).map_or(Saved::Elsewhere, Saved::At));
        Some(())
    }

    fn set(&mut self, register: u64, saved: Saved) {
        match register {
            FRAME_POINTER => self.row.frame_pointer = saved,
            RETURN_ADDRESS => self.row.return_address = saved,
            _ => {}
        }
    }

    fn restore(&mut self, register: u64) {
        match register {
            FRAME_POINTER => self.row.frame_pointer = self.initial.frame_pointer,
            RETURN_ADDRESS => self.row.return_address = self.initial.return_address,
            _ => {}
        }
    }
}

fn skip_block(program: &mut Reader<'_>) -> Option<()> {
    let len = usize::try_from(program.uleb()?).ok()?;
    program.take(len).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Initial instructions of every x86-64 unit: the return address is right below the caller's
    /// stack pointer.
    const USUAL: &[u8] = &[0x0c, 7, 8, 0x90, 1];

    fn step_at(program: &[u8], offset: usize) -> Option<Step> {
        let reader = |bytes| Reader::at(bytes, 0, 0).unwrap();
        let unit = Unit {
            code_alignment: 1,
            data_alignment: -8,
            pointer_encoding: 0x1b,
            program: reader(USUAL),
        };
        run(&unit, reader(program), 0x1000, 0x1000 + offset)
    }

    fn to(base: Base, distance: i32, frame_pointer: Option<i32>) -> Option<Step> {
        Some(Step::To { base, distance, return_address: -8, frame_pointer })
    }

    #[test]
    fn a_function_is_followed_through_its_prologue() {
        // push rbp; mov rbp, rsp; ...; pop rbp; ret
        let program = [0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x60, 0x0a, 0x0c, 7, 8, 0x41, 0x0b];
        assert_eq!(step_at(&program, 0), to(Base::StackPointer, 8, None));
        assert_eq!(step_at(&program, 1), to(Base::StackPointer, 16, Some(-16)));
        assert_eq!(step_at(&program, 4), to(Base::FramePointer, 16, Some(-16)));
        assert_eq!(step_at(&program, 36), to(Base::StackPointer, 8, Some(-16)));
        assert_eq!(step_at(&program, 37), to(Base::FramePointer, 16, Some(-16)));
    }

    #[test]
    fn the_outermost_function_has_no_caller() {
        assert_eq!(step_at(&[0x07, 16], 0), Some(Step::Last));
    }

    #[test]
    fn what_takes_more_to_say_is_unknown() {
        assert_eq!(step_at(&[0x0f, 1, 0], 0), Some(Step::Unknown), "an expression");
        assert_eq!(step_at(&[0x0c, 10, 0], 0), Some(Step::Unknown), "another register");
        assert_eq!(
            step_at(&[0x10, 6, 1, 0], 0),
            Some(Step::Unknown),
            "a frame pointer by an expression"
        );
        assert_eq!(
            step_at(&[0x0e, 0xff, 0xff, 0xff, 0xff, 0xff, 1], 0),
            Some(Step::Unknown),
            "a huge frame"
        );
    }

    #[test]
    fn broken_programs_end() {
        for broken in [&[0x0c, 7][..], &[0x0b], &[0x3f], &[0x0f, 9, 0], &[0x0a; 9], &[0x86]] {
            assert_eq!(step_at(broken, 0), None, "{broken:?}");
        }
    }
}
