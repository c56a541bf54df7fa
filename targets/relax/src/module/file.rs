//! Files: reading and writing their whole content.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{Bytes, String, plain_bail, plain_error};

/// Number of bytes read at once.
const CHUNK_BYTES: usize = 1 << 16;

/// Returns a file's name as a path.
pub(crate) fn path(name: &String) -> Result<&Path> {
    match core::str::from_utf8(name.as_bytes()) {
        Ok(name) => Ok(Path::new(name)),
        Err(_) => plain_bail!(INTERNAL_ERROR, "Cannot open {}", name.as_bytes()),
    }
}

/// Returns the content of a file.
///
/// # Errors
/// InternalError if the file cannot be read; MemoryError.
pub(crate) fn read(path: &Path) -> Result<Bytes> {
    let cannot =
        || plain_error!(INTERNAL_ERROR, "Cannot open {}", path.as_os_str().as_encoded_bytes());
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
///
/// # Errors
/// InternalError if the file cannot be written.
pub(super) fn write(name: &String, content: &Bytes) -> Result<()> {
    fs::write(path(name)?, content.as_bytes())
        .map_err(|_| plain_error!(INTERNAL_ERROR, "Cannot open {}", name.as_bytes()))
}
