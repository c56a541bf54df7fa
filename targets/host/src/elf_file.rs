//! Access to an ELF file by read calls, which copy records from it: if the file is truncated
//! meanwhile, records are merely missing.

use core::ffi::{CStr, c_int};
use core::mem::MaybeUninit;

#[cfg(target_pointer_width = "32")]
pub(crate) use libc::{Elf32_Ehdr as FileHeader, Elf32_Phdr as ProgramHeader};
#[cfg(target_pointer_width = "64")]
pub(crate) use libc::{Elf64_Ehdr as FileHeader, Elf64_Phdr as ProgramHeader};

/// A struct of the ELF format, for which any bytes are a valid value.
///
/// # Safety
/// The type must be `repr(C)`, and consist of integers without padding.
pub(crate) unsafe trait Record: Copy {}

// SAFETY: the records of the ELF format are integers without gaps.
unsafe impl Record for FileHeader {}
// SAFETY: as above.
unsafe impl Record for ProgramHeader {}

/// Copies a record out of a byte slice. Missing bytes are zero.
pub(crate) fn from_bytes<R: Record>(bytes: &[u8]) -> R {
    let mut record = MaybeUninit::<R>::zeroed();
    let len = bytes.len().min(size_of::<R>());
    // SAFETY: at most the size of the record is written, and any bytes are a valid record.
    unsafe {
        core::ptr::copy_nonoverlapping(bytes.as_ptr(), record.as_mut_ptr().cast(), len);
        record.assume_init()
    }
}

/// File descriptor of a file that is open for reading.
pub(crate) struct ElfFile(c_int);

impl ElfFile {
    /// Opens a file by its path.
    pub(crate) fn open(path: &CStr) -> Option<ElfFile> {
        // SAFETY: the path ends in a NUL.
        let descriptor = unsafe {
            libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC | libc::O_NONBLOCK)
        };
        (descriptor >= 0).then_some(ElfFile(descriptor))
    }

    /// Returns the size in bytes; `None` for folders, devices and pipes.
    pub(crate) fn size(&self) -> Option<u64> {
        let mut found = MaybeUninit::<libc::stat>::zeroed();
        // SAFETY: the record is a local variable, for which zeros are valid; the system fills it on
        // success.
        let found = unsafe {
            if libc::fstat(self.0, found.as_mut_ptr()) != 0 {
                return None;
            }
            found.assume_init()
        };
        let is_regular = found.st_mode & libc::S_IFMT == libc::S_IFREG;
        u64::try_from(found.st_size).ok().filter(|_| is_regular)
    }

    /// Reads from `offset` into the buffer. Returns the number of bytes read, which is less than
    /// the buffer's length only at the end of the file or on an error.
    pub(crate) fn read_some(&self, offset: u64, buffer: &mut [u8]) -> usize {
        let mut done = 0;
        while let Some(rest) = buffer.get_mut(done..).filter(|rest| !rest.is_empty()) {
            let Some(at) =
                offset.checked_add(done as u64).and_then(|at| libc::off_t::try_from(at).ok())
            else {
                break;
            };
            // SAFETY: the buffer has the length passed.
            let got = unsafe { libc::pread(self.0, rest.as_mut_ptr().cast(), rest.len(), at) };
            match usize::try_from(got) {
                Ok(got @ 1..) => done += got,
                _ => break,
            }
        }
        done
    }

    /// Reads a record at `offset`. Returns `None` if the file ends before the record does.
    #[cfg(feature = "backtrace")]
    pub(crate) fn read<R: Record>(&self, offset: u64) -> Option<R> {
        // No ELF record is longer.
        let mut bytes = [0; 64];
        let bytes = bytes.get_mut(..size_of::<R>())?;
        (self.read_some(offset, bytes) == bytes.len()).then(|| from_bytes(bytes))
    }
}

impl Drop for ElfFile {
    fn drop(&mut self) {
        // SAFETY: the descriptor is owned and not used any more.
        unsafe { libc::close(self.0) };
    }
}
