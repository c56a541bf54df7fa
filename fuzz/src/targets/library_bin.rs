//! Fuzzes embedded import trees: any bytes give a module or an error, without leaks.

use core::ffi::{CStr, c_void};
use core::ptr::NonNull;

use ferrite_alloc_ext::module::library::Library;
use ferrite_alloc_ext::module::library_module::create_library_module;
use ferrite_core::Result;

/// A library whose only symbol is the stream, prefixed with its length.
struct Stream(Box<[u8]>);

// SAFETY: the stream lives as long as the library, and has the length of its prefix.
unsafe impl Library for Stream {
    fn symbol(&self, name: &CStr) -> Result<Option<NonNull<c_void>>> {
        let found = name == c"__tvm_ffi__library_bin";
        Ok(found.then(|| NonNull::from(&*self.0).cast()))
    }
}

/// Runs the target on an input.
pub fn run(stream: &[u8]) {
    let mut symbol = (stream.len() as u64).to_le_bytes().to_vec();
    symbol.extend_from_slice(stream);
    drop(create_library_module(Stream(symbol.into_boxed_slice())));
}
