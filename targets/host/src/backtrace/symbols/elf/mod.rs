//! Symbolication by the symbol table in a module's ELF file, which lists all functions, or only the
//! exported ones if the file was stripped.
//!
//! The table is read in chunks into a buffer on the stack. This allocates nothing, and if the file
//! is truncated meanwhile, only the search fails. All numbers in the file are validated. The
//! dynamic linker is not asked for names, since it may hold its lock for an unlimited time while it
//! runs a library's constructors.
#![cfg_attr(
    target_pointer_width = "64",
    expect(clippy::useless_conversion, reason = "the numbers are shorter on 32-bit targets")
)]

mod records;

use core::ops::Range;

use super::super::modules::Module;
use crate::elf_file::{ElfFile, FileHeader, ProgramHeader, from_bytes};
use records::{ElfSymbol, SectionHeader};

/// Capacity in bytes for a name. Longer names are discarded.
const NAME_BYTES: usize = 1024;

/// Number of symbols read at a time.
const CHUNK: usize = 256;

/// Maximum number of sections that are searched. Only object files before linking, with a section
/// per function, have more.
const MAX_SECTIONS: usize = 4096;

/// Passes the name of the function that contains `address` to `read`, if there is one. Returns
/// `false` if the file cannot be read.
#[cold]
pub(super) fn name(address: usize, read: &mut dyn FnMut(&[u8])) -> bool {
    let Some((base, file, header)) = file_of(address) else { return false };
    let _ = read_name(&file, &header, address.wrapping_sub(base) as u64, read);
    true
}

/// Opens the file from which a module was loaded.
fn open(module: &Module) -> Option<ElfFile> {
    ElfFile::open(module.path().unwrap_or(c"/proc/self/exe"))
}

/// Opens the file of the module that contains `address`. Returns its load offset, the file and its
/// header.
fn file_of(address: usize) -> Option<(usize, ElfFile, FileHeader)> {
    let module = Module::containing(address)?;
    let file = open(&module)?;
    let header: FileHeader = file.read(0)?;
    is_file_of(&file, &header, &module)?;
    Some((module.base, file, header))
}

/// Looks up the function that contains an address of the file, and passes its name to `read`.
fn read_name(
    file: &ElfFile,
    header: &FileHeader,
    address: u64,
    read: &mut dyn FnMut(&[u8]),
) -> Option<()> {
    let (symbols, names) = tables(file, header)?;
    let name_at =
        names.start.checked_add(find(file, symbols, address)?).filter(|at| *at < names.end)?;
    with_text(file, name_at, names.end, read)
}

/// Checks that the file is the one that was loaded, by comparing its program headers with those in
/// memory. The file may have been replaced since, with other functions at the same addresses.
fn is_file_of(file: &ElfFile, header: &FileHeader, module: &Module) -> Option<()> {
    let loaded = module.headers();
    let same_count = usize::from(header.e_phnum) == loaded.len();
    let same_kind = header.e_ident.starts_with(b"\x7fELF")
        && usize::from(header.e_phentsize) == size_of::<ProgramHeader>();
    if !same_kind || !same_count {
        return None;
    }
    let mut at = u64::from(header.e_phoff);
    for expected in loaded {
        let found: ProgramHeader = file.read(at)?;
        let fields = |header: &ProgramHeader| {
            (header.p_type, header.p_offset, header.p_vaddr, header.p_filesz, header.p_memsz)
        };
        if fields(&found) != fields(expected) {
            return None;
        }
        at = at.checked_add(size_of::<ProgramHeader>() as u64)?;
    }
    Some(())
}

/// Returns the file ranges of the symbol table and of its string table.
fn tables(file: &ElfFile, header: &FileHeader) -> Option<(Range<u64>, Range<u64>)> {
    if usize::from(header.e_shentsize) != size_of::<SectionHeader>() {
        return None;
    }
    let section = |index: usize| -> Option<SectionHeader> {
        let offset = (index as u64).checked_mul(size_of::<SectionHeader>() as u64)?;
        file.read(u64::from(header.e_shoff).checked_add(offset)?)
    };
    let count = usize::from(header.e_shnum).min(MAX_SECTIONS);
    let table = |kind| (0..count).map_while(section).find(|section| section.sh_type == kind);
    let symbols = table(records::SHT_SYMTAB).or_else(|| table(records::SHT_DYNSYM))?;
    if symbols.sh_entsize as usize != size_of::<ElfSymbol>() {
        return None;
    }
    let names =
        section(symbols.sh_link as usize).filter(|names| names.sh_type == records::SHT_STRTAB)?;
    let range = |section: &SectionHeader| {
        let start = u64::from(section.sh_offset);
        Some(start..start.checked_add(u64::from(section.sh_size))?)
    };
    Some((range(&symbols)?, range(&names)?))
}

/// Returns the string-table offset of the name of the function that contains `address`. If several
/// do, returns the function that starts last.
fn find(file: &ElfFile, symbols: Range<u64>, address: u64) -> Option<u64> {
    let mut best: Option<(u64, u64)> = None;
    let mut chunk = [0; CHUNK * size_of::<ElfSymbol>()];
    let mut at = symbols.start;
    while at < symbols.end {
        let wanted =
            usize::try_from(symbols.end - at).map_or(chunk.len(), |left| left.min(chunk.len()));
        let got = file.read_some(at, chunk.get_mut(..wanted)?);
        let (entries, _) = chunk.get(..got)?.as_chunks::<{ size_of::<ElfSymbol>() }>();
        if entries.is_empty() {
            break;
        }
        for entry in entries {
            let symbol: ElfSymbol = from_bytes(entry);
            let start = u64::from(symbol.st_value);
            let inside =
                address.checked_sub(start).is_some_and(|offset| offset < u64::from(symbol.st_size));
            if records::is_function(&symbol)
                && inside
                && best.is_none_or(|(nearest, _)| start > nearest)
            {
                best = Some((start, u64::from(symbol.st_name)));
            }
        }
        at = at.checked_add((entries.len() * size_of::<ElfSymbol>()) as u64)?;
    }
    best.map(|(_, name)| name)
}

/// Passes the null-terminated string at file offset `start` to `read`. Returns `None` if it does
/// not end before `end`.
fn with_text(file: &ElfFile, start: u64, end: u64, read: &mut dyn FnMut(&[u8])) -> Option<()> {
    let mut text = [0; NAME_BYTES];
    let wanted = usize::try_from(end - start).map_or(text.len(), |left| left.min(text.len()));
    let got = file.read_some(start, text.get_mut(..wanted)?);
    let text = text.get(..got)?;
    let len = text.iter().position(|byte| *byte == 0)?;
    let name = text.get(..len).filter(|name| !name.is_empty())?;
    read(name);
    Some(())
}

#[cfg(test)]
mod tests;
