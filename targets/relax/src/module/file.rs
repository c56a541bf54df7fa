//! Loading executables from files, and writing them.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use ferrite_alloc_ext::module::Module;
use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;
use ferrite_core::{Bytes, String, plain_bail, plain_error};

use crate::executable::Source;

/// Number of bytes read at once.
const CHUNK_BYTES: usize = 1 << 16;

/// Returns a file's name as a path.
pub(crate) fn path(name: &String) -> Result<&Path> {
    match core::str::from_utf8(name.as_bytes()) {
        Ok(name) => Ok(Path::new(name)),
        Err(_) => plain_bail!(INTERNAL_ERROR, "Cannot open {}", name.as_bytes()),
    }
}

/// Loads an executable from a file. It has no imports, so its kernels must be imported or be global functions.
///
/// # Errors
/// InternalError if the file cannot be read, or naming the malformed section; MemoryError.
///
/// # Upstream
/// `relax.ExecutableLoadFromFile` and `ffi.Module.load_from_file.relax.VMExecutable`.
pub fn load_from_file(name: String) -> Result<Module> {
    super::load(Source::Bytes(read(path(&name)?)?))
}

/// Reads a file.
///
/// # Errors
/// InternalError if the file cannot be read; MemoryError.
pub(crate) fn read(path: &Path) -> Result<Bytes> {
    let cannot = || plain_error!(INTERNAL_ERROR, "Cannot open {}", path.as_os_str().as_encoded_bytes());
    let mut file = File::open(path).map_err(|_| cannot())?;
    let mut content: Buffer<u8> = Buffer::new();
    loop {
        let len = content.len();
        content.try_resize(len + CHUNK_BYTES, 0)?;
        let count = file.read(&mut content[len..]).map_err(|_| cannot())?;
        content.truncate(len + count);
        if count == 0 {
            return Bytes::new(&content);
        }
    }
}

/// Writes bytes to a file.
pub(super) fn write(name: &String, content: &Bytes) -> Result<()> {
    fs::write(path(name)?, content.as_bytes())
        .map_err(|_| plain_error!(INTERNAL_ERROR, "Cannot open {}", name.as_bytes()))
}
