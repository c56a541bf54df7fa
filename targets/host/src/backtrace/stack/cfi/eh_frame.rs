//! Unwinding rules from `.eh_frame`, found by binary search in `.eh_frame_hdr`. The tables are read
//! by gimli, which allocates nothing here and takes no lock.
#![forbid(unsafe_code)]

use gimli::{
    BaseAddresses, CfaRule, DW_EH_PE_datarel, DW_EH_PE_sdata4, DW_EH_PE_udata4, EhFrame,
    EhFrameHdr, EhFrameOffset, NativeEndian, Register, RegisterRule, UnwindContext,
    UnwindContextStorage, UnwindSection, UnwindTableRow, X86_64,
};

use super::rule::{Base, Rule, Step};

/// Maximum number of registers with a rule. Functions save up to seven; only signal handlers and
/// context switches list all registers.
const MAX_RULES: usize = 16;

/// Maximum number of rows: the current one, the initial one and those remembered
/// (`DW_CFA_remember_state`). Compilers remember one.
const MAX_ROWS: usize = 4;

/// Encodings of the number of table entries, an unsigned 32-bit integer, and of the entries, signed
/// 32-bit offsets from the start of the table. Linkers write no others, and gimli computes the size
/// of the table without a check for overflow.
const ENCODINGS: [u8; 2] = [DW_EH_PE_udata4.0, DW_EH_PE_datarel.0 | DW_EH_PE_sdata4.0];

/// Storage of rows on the stack, about two KiB.
struct OnStack;

impl UnwindContextStorage<usize> for OnStack {
    type Rules = [(Register, RegisterRule<usize>); MAX_RULES];
    type Stack = [UnwindTableRow<usize, Self>; MAX_ROWS];
}

/// Returns the unwinding rule for the code at `address`. `segment` contains the table, which starts
/// at `header`, and the frame description entries. Returns `None` if there is no entry, or one that
/// [`Step`] cannot express.
pub(super) fn rule(segment: &[u8], header: usize, address: usize) -> Option<Rule> {
    let (section, bases, offset) = lookup(segment, header, address)?;
    let section = EhFrame::new(section, NativeEndian);
    let entry = section.fde_from_offset(&bases, offset, EhFrame::cie_from_offset).ok()?;
    if entry.is_signal_trampoline() {
        return None;
    }
    let mut rows = UnwindContext::<usize, OnStack>::new_in();
    let row = entry.unwind_info_for_address(&section, &bases, &mut rows, address as u64).ok()?;
    Some(Rule { function: entry.initial_address() as usize, step: step(row)? })
}

/// Returns `.eh_frame`, the addresses that its pointers are relative to, and the offset of the
/// frame description entry (FDE) of the last function that starts at or before `address`.
fn lookup(
    segment: &[u8],
    header: usize,
    address: usize,
) -> Option<(&[u8], BaseAddresses, EhFrameOffset)> {
    let start = segment.as_ptr().addr();
    let from = |at: usize| segment.get(at.checked_sub(start)?..);
    let bases = BaseAddresses::default().set_eh_frame_hdr(header as u64);
    let index = from(header)?;
    if index.get(2..4)? != ENCODINGS {
        return None;
    }
    let index = EhFrameHdr::new(index, NativeEndian);
    let index = index.parse(&bases, size_of::<usize>() as u8).ok()?;
    let frames = index.eh_frame_ptr().direct().ok()?;
    let entry = index.table()?.lookup(address as u64, &bases).ok()?.direct().ok()?;
    let offset = EhFrameOffset(entry.checked_sub(frames)? as usize);
    Some((from(frames as usize)?, bases.set_eh_frame(frames), offset))
}

/// Returns the step to the caller that a row describes.
fn step(row: &UnwindTableRow<usize, OnStack>) -> Option<Step> {
    let return_address = match row.register(X86_64::RA)? {
        RegisterRule::Offset(at) => i32::try_from(at).ok()?,
        RegisterRule::Undefined => return Some(Step::Last),
        _ => return None,
    };
    let frame_pointer = match row.register(X86_64::RBP) {
        None | Some(RegisterRule::SameValue) => None,
        Some(RegisterRule::Offset(at)) => Some(i32::try_from(at).ok()?),
        // Without its frame pointer, a frame gives no base to compute from.
        Some(_) => return None,
    };
    let CfaRule::RegisterAndOffset { register, offset } = *row.cfa() else { return None };
    let base = match register {
        X86_64::RSP => Base::StackPointer,
        X86_64::RBP => Base::FramePointer,
        _ => return None,
    };
    let distance = i32::try_from(offset).ok()?;
    Some(Step::To { base, distance, return_address, frame_pointer })
}

#[cfg(test)]
mod tests {
    use super::super::super::super::modules::Module;
    use super::*;
    use std::vec::Vec;

    /// Returns a copy of the segment with this test's own tables, its load address, and the offset
    /// of the header in it.
    fn own_tables() -> (Vec<u8>, usize, usize) {
        let module = Module::containing(rule as *const () as usize).unwrap();
        let header =
            module.headers().iter().find(|header| header.p_type == libc::PT_GNU_EH_FRAME).unwrap();
        let address = module.base + header.p_vaddr as usize;
        let segment = module.segment(address).unwrap();
        (segment.to_vec(), segment.as_ptr().addr(), address - segment.as_ptr().addr())
    }

    #[test]
    fn a_copy_describes_the_functions_at_their_distance() {
        let (copy, loaded, header) = own_tables();
        let start = copy.as_ptr().addr();
        let moved = (rule as *const () as usize).wrapping_sub(loaded).wrapping_add(start);
        let found = super::rule(&copy, start + header, moved + 1).unwrap();
        assert_eq!(found.function, moved);
        assert!(matches!(found.step, Step::To { .. }), "{:?}", found.step);
        assert!(super::rule(&copy, start + header, start).is_none(), "tables are no code");
    }

    #[test]
    fn tables_that_are_cut_off_or_changed_give_some_rule_or_none() {
        let (mut copy, loaded, header) = own_tables();
        let start = copy.as_ptr().addr();
        let moved = (rule as *const () as usize).wrapping_sub(loaded).wrapping_add(start);
        for len in (header..header + 4096).chain([copy.len() / 2, copy.len() - 1]) {
            let _ = super::rule(&copy[..len.min(copy.len())], start + header, moved + 1);
        }
        // The header, then samples of the table and the descriptions.
        let places = (0..64).chain((64..copy.len() - header).step_by(997));
        for at in places.map(|offset| header + offset) {
            let before = copy[at];
            for byte in [0, 0x7f, 0x80, 0xff, before ^ 1] {
                copy[at] = byte;
                let _ = super::rule(&copy, start + header, moved + 1);
            }
            copy[at] = before;
        }
        // Every byte of the header, and of the description of that function and what follows.
        let (section, _, EhFrameOffset(offset)) = lookup(&copy, start + header, moved + 1).unwrap();
        let description = section.as_ptr().addr() + offset - start;
        for at in (header..header + 12).chain(description..(description + 64).min(copy.len())) {
            let before = copy[at];
            for byte in 0..=u8::MAX {
                copy[at] = byte;
                let _ = super::rule(&copy, start + header, moved + 1);
            }
            copy[at] = before;
        }
    }

    /// Initial instructions of every x86-64 unit: the return address is right below the caller's
    /// stack pointer.
    const USUAL: &[u8] = &[0x0c, 7, 8, 0x90, 1];

    /// Returns the tables of one function of 4096 bytes, which starts where they do.
    fn tables_of(program: &[u8]) -> Vec<u8> {
        let mut tables = Vec::new();
        let mut record = |parts: &[&[u8]]| {
            let bytes = parts.concat();
            tables.extend((bytes.len() as u32).to_le_bytes());
            tables.extend(bytes);
        };
        record(&[&[0; 4], b"\x01zR\0", &[1, 0x78, 16, 1, 0x1b], USUAL]);
        let unit = 4 + 4 + 4 + 5 + USUAL.len() as i32;
        let description = [unit + 4, -(unit + 8), 4096].map(i32::to_le_bytes);
        record(&[description.as_flattened(), &[0], program]);
        let header = tables.len() as i32;
        tables.extend([1, 0x1b, 0x03, 0x3b]);
        let words = [-(header + 4), 1, -header, unit - header];
        tables.extend(words.map(i32::to_le_bytes).as_flattened());
        tables
    }

    fn step_in(tables: &[u8], offset: usize) -> Option<Step> {
        let start = tables.as_ptr().addr();
        super::rule(tables, start + tables.len() - 20, start + offset).map(|found| found.step)
    }

    fn step_at(program: &[u8], offset: usize) -> Option<Step> {
        step_in(&tables_of(program), offset)
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
        assert_eq!(step_at(&program, 4095), to(Base::FramePointer, 16, Some(-16)));
        assert_eq!(step_at(&program, 4096), None);
    }

    #[test]
    fn the_outermost_function_has_no_caller() {
        assert_eq!(step_at(&[0x07, 16], 0), Some(Step::Last));
    }

    #[test]
    fn what_takes_more_to_say_is_unknown() {
        assert_eq!(step_at(&[0x0f, 1, 0], 0), None, "an expression");
        assert_eq!(step_at(&[0x0c, 10, 0], 0), None, "another register");
        assert_eq!(step_at(&[0x10, 6, 1, 0], 0), None, "a frame pointer by an expression");
        let huge = [0x0e, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
        assert_eq!(step_at(&huge, 0), None, "a huge frame");
    }

    #[test]
    fn broken_programs_end() {
        for broken in [&[0x0c, 7][..], &[0x0b], &[0x3f], &[0x0f, 9, 0], &[0x0a; 9], &[0x86]] {
            assert_eq!(step_at(broken, 0), None, "{broken:?}");
        }
    }

    #[test]
    fn a_count_of_64_bits_is_refused() {
        let mut tables = tables_of(&[]);
        assert_eq!(step_in(&tables, 0), to(Base::StackPointer, 8, None));
        let count_encoding = tables.len() - 18;
        // With it, the count is larger than the table.
        tables[count_encoding] = 0x04;
        assert_eq!(step_in(&tables, 0), None);
    }
}
