//! Tests the reader on this test's own file, and on truncated and altered files.

use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::vec::Vec;

use super::*;

fn open(path: &Path) -> ElfFile {
    ElfFile::open(&CString::new(path.as_os_str().as_bytes()).unwrap()).unwrap()
}

fn look_up(file: &ElfFile, address: u64) -> Option<Vec<u8>> {
    let mut found = None;
    read_name(file, &file.read(0)?, address, &mut |name| found = Some(name.to_vec()))?;
    found
}

#[test]
fn a_function_that_is_not_exported_has_a_name() {
    let mut found = Vec::new();
    let address = a_function_that_is_not_exported_has_a_name as *const () as usize;
    assert!(name(address + 1, &mut |name| found = name.to_vec()));
    let found = std::string::String::from_utf8_lossy(&found).into_owned();
    assert!(found.contains("a_function_that_is_not_exported_has_a_name"), "{found}");
}

#[test]
fn addresses_outside_have_none() {
    let local = 0;
    assert!(!name((&raw const local).addr(), &mut |_| panic!("a name for the stack")));
    assert!(!name(0, &mut |_| panic!("a name for null")));
}

#[test]
fn another_file_is_not_that_of_the_module() {
    let module = Module::containing(name as *const () as usize).unwrap();
    let own = super::open(&module).unwrap();
    assert!(is_file_of(&own, &own.read(0).unwrap(), &module).is_some());
    let libc = Module::containing(libc::qsort as *const () as usize).unwrap();
    let other = super::open(&libc).unwrap();
    assert!(is_file_of(&other, &other.read(0).unwrap(), &module).is_none());
}

/// Builds a file with one function, "f" at 0x40..0x50, in a table of this type: header, symbols,
/// names, sections.
fn small_file(table_type: u32) -> Vec<u8> {
    let mut file = std::vec![0u8; size_of::<FileHeader>()];
    let symbols_at = file.len();
    let mut symbol: ElfSymbol = from_bytes(&[]);
    file.extend(bytes_of(&symbol));
    (symbol.st_name, symbol.st_info, symbol.st_shndx) = (1, 0x12, 1);
    (symbol.st_value, symbol.st_size) = (0x40, 0x10);
    file.extend(bytes_of(&symbol));
    let names_at = file.len();
    file.extend(b"\0f\0");
    let sections_at = file.len();
    let mut section: SectionHeader = from_bytes(&[]);
    file.extend(bytes_of(&section));
    (section.sh_type, section.sh_link) = (table_type, 2);
    (section.sh_offset, section.sh_size) = (symbols_at as _, (2 * size_of::<ElfSymbol>()) as _);
    section.sh_entsize = size_of::<ElfSymbol>() as _;
    file.extend(bytes_of(&section));
    (section.sh_type, section.sh_link) = (records::SHT_STRTAB, 0);
    (section.sh_offset, section.sh_size) = (names_at as _, 3);
    file.extend(bytes_of(&section));
    let mut header: FileHeader = from_bytes(&[]);
    header.e_ident[..4].copy_from_slice(b"\x7fELF");
    (header.e_shoff, header.e_shnum) = (sections_at as _, 3);
    header.e_shentsize = size_of::<SectionHeader>() as _;
    file[..size_of::<FileHeader>()].copy_from_slice(&bytes_of(&header));
    file
}

fn bytes_of<R: crate::elf_file::Record>(record: &R) -> Vec<u8> {
    // SAFETY: records have no padding.
    unsafe { core::slice::from_raw_parts((&raw const *record).cast::<u8>(), size_of::<R>()) }
        .to_vec()
}

fn with_file(content: &[u8], check: impl FnOnce(&ElfFile)) {
    static COUNT: core::sync::atomic::AtomicUsize = core::sync::atomic::AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, core::sync::atomic::Ordering::Relaxed);
    let path =
        std::env::temp_dir().join(std::format!("ferrite-elf-{}-{number}", std::process::id()));
    fs::write(&path, content).unwrap();
    check(&open(&path));
    fs::remove_file(&path).unwrap();
}

#[test]
fn the_small_file_is_read() {
    for table_type in [records::SHT_SYMTAB, records::SHT_DYNSYM] {
        with_file(&small_file(table_type), |file| {
            assert_eq!(look_up(file, 0x4f).as_deref(), Some(&b"f"[..]));
            assert!(look_up(file, 0x50).is_none() && look_up(file, 0x3f).is_none());
        });
    }
}

#[test]
fn files_that_are_cut_off_have_no_names() {
    let whole = small_file(records::SHT_SYMTAB);
    for len in 0..whole.len() {
        with_file(&whole[..len], |file| assert!(look_up(file, 0x40).is_none(), "{len}"));
    }
}

#[test]
fn files_with_other_bytes_give_at_most_another_name() {
    let whole = small_file(records::SHT_SYMTAB);
    for at in 0..whole.len() {
        for byte in [0, 1, 0x7f, 0xff] {
            let mut changed = whole.clone();
            changed[at] = byte;
            with_file(&changed, |file| drop(look_up(file, 0x40)));
        }
    }
}
