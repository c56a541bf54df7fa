//! Detection of truncated ELF files.

use core::ffi::CStr;

use crate::elf_file::{ElfFile, FileHeader, ProgramHeader};

/// Returns `true` if the file at `path` ends before one of its segments. Leaves other defects to the dynamic linker, which
/// names them, and names without a folder, for which the linker searches.
pub(in super::super) fn is_truncated(path: &CStr) -> bool {
    path.to_bytes().contains(&b'/') && lacks_segment(path).unwrap_or(false)
}

/// Returns `None` if the file cannot be read, or its headers overflow.
#[cfg_attr(
    target_pointer_width = "64",
    expect(clippy::useless_conversion, reason = "the numbers are shorter on 32-bit targets")
)]
fn lacks_segment(path: &CStr) -> Option<bool> {
    let file = ElfFile::open(path)?;
    let size = file.size()?;
    let header: FileHeader = file.read(0)?;
    let header_bytes = size_of::<ProgramHeader>();
    if !header.e_ident.starts_with(b"\x7fELF") || usize::from(header.e_phentsize) != header_bytes {
        return Some(false);
    }
    let mut at = u64::from(header.e_phoff);
    for _ in 0..header.e_phnum {
        let Some(segment) = file.read::<ProgramHeader>(at) else { return Some(true) };
        let end = u64::from(segment.p_offset).saturating_add(u64::from(segment.p_filesz));
        if segment.p_type == libc::PT_LOAD && end > size {
            return Some(true);
        }
        at = at.checked_add(header_bytes as u64)?;
    }
    Some(false)
}

#[cfg(all(test, not(miri)))]
#[expect(clippy::unwrap_used, reason = "tests, which the lint does not recognise behind `all`")]
mod tests {
    use super::*;
    use std::ffi::CString;
    use std::fs;

    /// Returns whether a file with the first `len` bytes of `content` is truncated.
    fn is_truncated_at(content: &[u8], len: usize) -> bool {
        let path = std::env::temp_dir().join(format!("ferrite-elf-{}-{len}", std::process::id()));
        fs::write(&path, &content[..len]).unwrap();
        let found = is_truncated(&CString::new(path.to_str().unwrap()).unwrap());
        fs::remove_file(&path).unwrap();
        found
    }

    #[test]
    fn files_without_a_part_of_a_segment_are_truncated() {
        let content = fs::read(std::env::current_exe().unwrap()).unwrap();
        assert!(!is_truncated_at(&content, content.len()));
        // Too short for a header, which the dynamic linker reports.
        assert!(!is_truncated_at(&content, 20));
        for len in [size_of::<FileHeader>(), size_of::<FileHeader>() + 100, 4096] {
            assert!(is_truncated_at(&content, len), "{len}");
        }
    }

    #[test]
    fn other_files_are_left_to_the_dynamic_linker() {
        for path in [c"libc.so.6", c"/no/such/file", c"/", c"/dev/null"] {
            assert!(!is_truncated(path), "{path:?}");
        }
        assert!(!is_truncated_at(&[b'x'; 4096], 4096));
    }
}
