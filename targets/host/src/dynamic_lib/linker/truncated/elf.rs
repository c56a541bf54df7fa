//! Detection of truncated ELF files.

use core::ffi::CStr;

use crate::elf_file::{ElfFile, FileHeader, ProgramHeader, from_bytes};

/// Returns `true` if the file at `path` ends before one of its segments. Leaves other defects to
/// the dynamic linker, which names them, and names without a folder, for which the linker searches.
pub(in super::super) fn is_truncated(path: &CStr) -> bool {
    path.to_bytes().contains(&b'/') && lacks_segment(path).unwrap_or(false)
}

/// Number of program headers read at a time: libraries have about ten.
const CHUNK: usize = 16;

/// Number of bytes of the first read: the file header, and the program headers that usually follow.
const START_BYTES: usize = 1024;

/// Returns `None` if the file cannot be read, or its headers overflow.
fn lacks_segment(path: &CStr) -> Option<bool> {
    const HEADER_BYTES: usize = size_of::<ProgramHeader>();
    let file = ElfFile::open(path)?;
    let size = file.size()?;
    let mut start = [0; START_BYTES];
    let got = file.read_some(0, &mut start);
    let start = start.get(..got)?;
    let header: FileHeader = from_bytes(start.get(..size_of::<FileHeader>())?);
    if !header.e_ident.starts_with(b"\x7fELF") || usize::from(header.e_phentsize) != HEADER_BYTES {
        return Some(false);
    }
    let (mut at, mut left) = (widened(header.e_phoff), usize::from(header.e_phnum));
    let all = usize::try_from(at).ok().and_then(|at| start.get(at..)?.get(..left * HEADER_BYTES));
    if let Some(headers) = all {
        return Some(has_end_beyond(size, headers));
    }
    let mut chunk = [0; CHUNK * HEADER_BYTES];
    while left > 0 {
        let headers = chunk.get_mut(..left.min(CHUNK) * HEADER_BYTES)?;
        let is_cut = file.read_some(at, headers) < headers.len();
        if is_cut || has_end_beyond(size, headers) {
            return Some(true);
        }
        at = at.checked_add(headers.len() as u64)?;
        left = left.saturating_sub(CHUNK);
    }
    Some(false)
}

/// Returns whether one of these program headers ends beyond the file.
fn has_end_beyond(size: u64, headers: &[u8]) -> bool {
    let mut headers = headers.chunks_exact(size_of::<ProgramHeader>());
    headers.any(|bytes| ends_beyond(size, &from_bytes(bytes)))
}

/// Returns whether the segment is loaded from bytes that a file of this size does not have.
fn ends_beyond(size: u64, segment: &ProgramHeader) -> bool {
    let end = widened(segment.p_offset).saturating_add(widened(segment.p_filesz));
    segment.p_type == libc::PT_LOAD && end > size
}

/// Widens a number of the header, which is shorter on 32-bit targets.
fn widened(number: impl Into<u64>) -> u64 {
    number.into()
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
