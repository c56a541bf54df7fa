//! Libraries: sources of symbols by name, and owned references to them.

use core::ffi::{CStr, c_void};
use core::mem::ManuallyDrop;
use core::ptr::NonNull;

use ferrite_core::abi::{TVMFFIObject, type_index};
use ferrite_core::error::Result;
use ferrite_core::object::object_alloc::{self, ObjectRecord};
use ferrite_core::object::release;
use ferrite_core::{Bytes, ObjectRef, plain_ensure};

use super::bin_reader::{LENGTH_BYTES, number};
use super::symbol_name::find_symbol;

/// Prefix of function symbols.
pub const FUNCTION_PREFIX: &[u8] = b"__tvm_ffi_";

/// A source of symbols by name, such as a shared library. The symbols stay valid while the library
/// lives.
///
/// A library is dropped after the last module and function created from it.
/// [`Module::load`](super::Module::load) never drops a library.
///
/// # Safety
/// The addresses must stay valid as long as the library. If its code is unmapped when it is
/// dropped, the creator of a module guarantees that nothing created by the code is used after that.
/// Symbols must have the type that belongs to their name: `__tvm_ffi_*` and symbols with the
/// metadata and documentation prefixes are safe-call functions, `__tvm_ffi__library_bin` is a
/// stream in the format of the module `library_bin`, and `__tvm_ffi__library_ctx` and the context
/// symbols are writable pointers.
///
/// # Upstream
/// `Library` in `module_internal.h`.
pub unsafe trait Library: Send + Sync + 'static {
    /// Looks up the address of a symbol; `None` if there is no such symbol.
    ///
    /// # Errors
    /// MemoryError.
    fn symbol(&self, name: &CStr) -> Result<Option<NonNull<c_void>>>;

    /// Looks up the address of the function `name`, whose symbol name is [`FUNCTION_PREFIX`] +
    /// `name`; `None` if there is none.
    ///
    /// # Errors
    /// Errors of [`symbol`](Library::symbol).
    fn function_symbol(&self, name: &[u8]) -> Result<Option<NonNull<c_void>>> {
        find_symbol(&[FUNCTION_PREFIX, name], &|name| self.symbol(name))
    }

    /// Returns `true` if `other` belongs to this library, like `known`, or if the library cannot
    /// determine it.
    #[cfg(feature = "packed")]
    fn has_both(&self, _known: NonNull<c_void>, _other: NonNull<c_void>) -> bool {
        true
    }
}

/// Reference-counted record of a library, private to this file.
#[repr(C)]
struct LibraryRecord<L> {
    header: TVMFFIObject,
    library: ManuallyDrop<L>,
}

// SAFETY: repr(C), header first.
unsafe impl<L: Library> ObjectRecord for LibraryRecord<L> {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        // SAFETY: the record is initialised and has no other reference.
        unsafe { ManuallyDrop::drop(&mut (*this.cast::<LibraryRecord<L>>()).library) };
    }
}

/// Owned reference to a library of any type.
#[derive(Clone)]
pub(super) struct LibraryRef {
    library: *const dyn Library,
    /// Owned reference to the record, which keeps `library` alive.
    owner: ManuallyDrop<ObjectRef>,
}

impl Drop for LibraryRef {
    fn drop(&mut self) {
        // SAFETY: the reference is not used afterwards. The library is closed after all objects
        // that die with its last module, since their code may be in it.
        unsafe { release::release_deferred(self.owner.as_ptr()) };
    }
}

// SAFETY: a library is Send and Sync, and reference counts are atomic.
unsafe impl Send for LibraryRef {}
// SAFETY: as for Send.
unsafe impl Sync for LibraryRef {}

/// Type index of library records, neither registered nor visible outside this file. Not the index
/// of plain objects, because their release is not deferred.
const LIBRARY_TYPE: i32 = type_index::STATIC_OBJECT_END;

/// Bytes in the memory of a library, which they keep loaded.
struct LibraryBytes {
    content: *const [u8],
    _library: LibraryRef,
}

// SAFETY: the content never changes, and references to libraries may be sent and shared.
unsafe impl Send for LibraryBytes {}
// SAFETY: as for Send.
unsafe impl Sync for LibraryBytes {}

impl AsRef<[u8]> for LibraryBytes {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: the content is part of the library, as `LibraryRef::bytes` requires.
        unsafe { &*self.content }
    }
}

impl LibraryRef {
    pub(super) fn new<L: Library>(library: L) -> Result<LibraryRef> {
        let mut inside: *const L = core::ptr::null();
        let init = |record: *mut LibraryRecord<L>| {
            // SAFETY: the allocation has room for the record.
            unsafe {
                let place = &raw mut (*record).library;
                place.write(ManuallyDrop::new(library));
                inside = place.cast_const().cast();
            }
        };
        // SAFETY: `init` fills the record; only the deleter accesses objects of this type.
        let owner = unsafe { object_alloc::allocate(LIBRARY_TYPE, 0, init)? };
        Ok(LibraryRef { library: inside, owner: ManuallyDrop::new(owner) })
    }

    pub(super) fn get(&self) -> &dyn Library {
        // SAFETY: the owner keeps the library alive, which is never written after `new`.
        unsafe { &*self.library }
    }

    /// Returns the bytes after the length field of a symbol; `None` if there is no such symbol.
    ///
    /// Dynamic loaders do not report the size of a symbol, so the length field is trusted unless it
    /// exceeds the address space.
    pub(super) fn binary(&self, name: &CStr) -> Result<Option<&[u8]>> {
        let Some(start) = self.get().symbol(name)? else {
            return Ok(None);
        };
        let start: *const u8 = start.as_ptr().cast_const().cast();
        // SAFETY: the symbol begins with an unaligned eight-byte length (contract of `Library`).
        let len = number(unsafe { &*start.cast::<[u8; LENGTH_BYTES]>() });
        // A slice has at most half the address space, and does not wrap around.
        let most = (usize::MAX / 2).min((usize::MAX - LENGTH_BYTES).saturating_sub(start.addr()));
        plain_ensure!(
            len <= most,
            INTERNAL_ERROR,
            "Malformed library binary: length {} at offset 0 exceeds the address space",
            len
        );
        // SAFETY: by the length field `len` bytes follow, which live as long as the library.
        Ok(Some(unsafe { core::slice::from_raw_parts(start.add(LENGTH_BYTES), len) }))
    }

    /// Returns a part of the library as bytes that keep the library loaded. Size-optimised builds
    /// copy it.
    ///
    /// # Errors
    /// MemoryError.
    ///
    /// # Safety
    /// The content must be constant data of this library.
    pub(super) unsafe fn bytes(&self, content: &[u8]) -> Result<Bytes> {
        if !cfg!(feature = "speed") {
            return Bytes::new(content);
        }
        Bytes::from_owner(LibraryBytes { content, _library: self.clone() })
    }
}
