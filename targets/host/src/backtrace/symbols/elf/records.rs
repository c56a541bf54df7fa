//! Sections and symbols of an ELF file.

use crate::elf_file::Record;

#[cfg(target_pointer_width = "32")]
pub(super) use libc::{Elf32_Shdr as SectionHeader, Elf32_Sym as ElfSymbol};
#[cfg(target_pointer_width = "64")]
pub(super) use libc::{Elf64_Shdr as SectionHeader, Elf64_Sym as ElfSymbol};

// Section types.
pub(super) const SHT_SYMTAB: u32 = 2;
pub(super) const SHT_STRTAB: u32 = 3;
pub(super) const SHT_DYNSYM: u32 = 11;

/// Symbol type of a function.
const STT_FUNC: u8 = 2;
/// Symbol type of an indirect function, whose address a resolver function returns.
const STT_GNU_IFUNC: u8 = 10;

// SAFETY: the records of the ELF format are integers without gaps.
unsafe impl Record for SectionHeader {}
// SAFETY: as above.
unsafe impl Record for ElfSymbol {}

/// Returns `true` if the symbol is a function defined in the file.
pub(super) fn is_function(symbol: &ElfSymbol) -> bool {
    matches!(symbol.st_info & 0x0f, STT_FUNC | STT_GNU_IFUNC) && symbol.st_shndx != 0
}
