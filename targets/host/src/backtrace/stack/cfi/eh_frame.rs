//! Lookup of a function's call frame information in `.eh_frame`, by binary search in
//! `.eh_frame_hdr`.
#![forbid(unsafe_code)]

use super::program::{self, Step, Unit};
use super::reader::Reader;
use super::rule::{Rule, UNKNOWN};

/// Encoding of the number of table entries, `DW_EH_PE_udata4`: an unsigned 32-bit integer.
const COUNT_ENCODING: u8 = 0x03;
/// Encoding of the table entries, `DW_EH_PE_datarel | DW_EH_PE_sdata4`: signed 32-bit offsets from
/// the start of the table.
const TABLE_ENCODING: u8 = 0x3b;

/// Size of a table entry in bytes: the addresses of a function and of its frame description entry
/// (FDE).
const ENTRY_BYTES: usize = 8;

/// Returns the unwinding rule for the code at `address`. `segment` contains the table, which starts
/// at `header`, and the frame description entries.
pub(super) fn rule(segment: &[u8], header: usize, address: usize) -> Option<Rule> {
    let start = segment.as_ptr().addr();
    let description = lookup(Reader::at(segment, start, header)?, header, address)?;
    let mut reader = Reader::at(segment, start, description)?;
    let mut body = record(&mut reader)?;
    let unit_field = body.address;
    let unit_address = unit_field.checked_sub(body.u32()? as usize)?;
    let Some(unit) = unit(Reader::at(segment, start, unit_address)?) else {
        return Some(UNKNOWN);
    };
    let function = body.pointer(unit.pointer_encoding)?;
    // A length is never relative, so only the format bits of the encoding apply.
    let len = body.pointer(unit.pointer_encoding & 0x0f)?;
    if address.wrapping_sub(function) >= len {
        return None;
    }
    let augmentation = usize::try_from(body.uleb()?).ok()?;
    body.take(augmentation)?;
    let step = program::run(&unit, body, function, address).unwrap_or(Step::Unknown);
    Some(Rule { function, step })
}

/// Returns the address of the frame description entry of the last function that starts at or before
/// `address`.
fn lookup(mut header: Reader<'_>, base: usize, address: usize) -> Option<usize> {
    let (version, section, count, table) = (header.u8()?, header.u8()?, header.u8()?, header.u8()?);
    if version != 1 || count != COUNT_ENCODING || table != TABLE_ENCODING {
        return None;
    }
    header.pointer(section)?;
    let mut count = header.u32()? as usize;
    let mut entries = header.take(count.checked_mul(ENTRY_BYTES)?)?;
    let relative = |value: i32| base.wrapping_add_signed(value as isize);
    // Binary search: the entry before the remaining half starts at or before the address.
    let mut found = None;
    while count > 0 {
        let half = count / 2;
        let mut rest = entries.clone();
        let before = rest.take(half * ENTRY_BYTES)?;
        let function = relative(rest.i32()?);
        let description = relative(rest.i32()?);
        if function <= address {
            found = Some(description);
            (entries, count) = (rest, count - half - 1);
        } else {
            (entries, count) = (before, half);
        }
    }
    found
}

/// Reads the next length-prefixed record.
fn record<'a>(reader: &mut Reader<'a>) -> Option<Reader<'a>> {
    // All ones announces a length of eight bytes, which no linker writes; as a length it exceeds
    // any table.
    let len = reader.u32()? as usize;
    reader.take(len)
}

/// Parses a common information entry (CIE). Returns `None` for unsupported entries, such as those
/// of signal handlers.
fn unit(mut reader: Reader<'_>) -> Option<Unit<'_>> {
    let mut body = record(&mut reader)?;
    let (id, version) = (body.u32()?, body.u8()?);
    if id != 0 || !matches!(version, 1 | 3) {
        return None;
    }
    let augmentation = body.text()?;
    let (code_alignment, data_alignment) = (body.uleb()?, body.sleb()?);
    if version == 1 {
        body.u8()?;
    } else {
        body.uleb()?;
    }
    let (&b'z', letters) = augmentation.split_first()? else { return None };
    let len = usize::try_from(body.uleb()?).ok()?;
    let mut data = body.take(len)?;
    let mut pointer_encoding = 0;
    for letter in letters {
        match letter {
            b'R' => pointer_encoding = data.u8()?,
            b'L' => drop(data.u8()?),
            b'P' => {
                let encoding = data.u8()?;
                data.pointer(encoding & 0x7f)?;
            }
            _ => return None,
        }
    }
    Some(Unit { code_alignment, data_alignment, pointer_encoding, program: body })
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
        // The description of that function and its common information entry.
        let reader = Reader::at(&copy, start, start + header).unwrap();
        let description = lookup(reader, start + header, moved + 1).unwrap() - start;
        for at in description..(description + 64).min(copy.len()) {
            let before = copy[at];
            for byte in 0..=u8::MAX {
                copy[at] = byte;
                let _ = super::rule(&copy, start + header, moved + 1);
            }
            copy[at] = before;
        }
    }
}
