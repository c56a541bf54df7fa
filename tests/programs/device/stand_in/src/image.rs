//! Module images: finds the names of their kernels. Nothing is compiled or decoded.

use std::ffi::{CStr, c_char, c_void};

use crate::faults::{Fault, Outcome};
use crate::kernels::{KERNELS, Kernel};

const ELF: &[u8] = b"\x7fELF";

/// Finds the kernels of an image: PTX text ending in a NUL, or an ELF file. The error contains the
/// reason as text.
///
/// # Safety
/// The image must be complete.
pub unsafe fn kernels(image: *const c_void) -> Result<Vec<&'static Kernel>, (Fault, String)> {
    // SAFETY: every image has at least a NUL; reading stops at the first difference.
    let is_elf =
        unsafe { (0..ELF.len()).all(|index| image.cast::<u8>().add(index).read() == ELF[index]) };
    if is_elf {
        // SAFETY: the caller's promise.
        unsafe { elf_kernels(image.cast()) }
            .map_err(|fault| (fault, "the ELF file has no sections".into()))
    } else {
        // SAFETY: the caller's promise.
        ptx_kernels(unsafe { CStr::from_ptr(image.cast::<c_char>()) }.to_bytes())
    }
}

fn ptx_kernels(text: &[u8]) -> Result<Vec<&'static Kernel>, (Fault, String)> {
    let text = String::from_utf8_lossy(text);
    if !text.contains(".version") || !text.contains(".target") {
        return Err((Fault::InvalidImage, "error   : Binary format is not recognized".into()));
    }
    if !text.contains(".entry") {
        let line = text.lines().last().unwrap_or_default();
        return Err((Fault::InvalidImage, format!("ptxas application ptx input; fatal: `{line}`")));
    }
    let entries = text.split(".entry").skip(1).filter_map(|rest| rest.split(['(', '\n']).next());
    let names: Vec<_> = entries.map(str::trim).collect();
    Ok(KERNELS.iter().filter(|kernel| names.contains(&kernel.name)).collect())
}

/// Finds the kernels that an ELF file names.
///
/// # Safety
/// The ELF file must be complete, including all sections in its headers.
unsafe fn elf_kernels(file: *const u8) -> Outcome<Vec<&'static Kernel>> {
    // SAFETY: the caller guarantees the header and the sections.
    unsafe {
        let number = |at: usize, bytes: usize| {
            (0..bytes)
                .rev()
                .fold(0u64, |value, index| value << 8 | u64::from(file.add(at + index).read()))
        };
        let (sections, size, count) = (number(0x28, 8), number(0x3a, 2), number(0x3c, 2));
        if sections == 0 || size < 64 || count == 0 {
            return Err(Fault::InvalidImage);
        }
        let mut tables = Vec::new();
        for index in 0..count {
            let section = (sections + index * size) as usize;
            // The names of kernels are in a string table.
            if number(section + 4, 4) == 3 {
                let (start, bytes) = (number(section + 0x18, 8), number(section + 0x20, 8));
                tables.push(std::slice::from_raw_parts(file.add(start as usize), bytes as usize));
            }
        }
        let has = |name: &str| {
            tables.iter().any(|table| table.split(|byte| *byte == 0).any(|n| n == name.as_bytes()))
        };
        Ok(KERNELS.iter().filter(|kernel| has(kernel.name)).collect())
    }
}
