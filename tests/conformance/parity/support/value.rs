//! An owned value of one library.

use super::{Library, Raised};
use ferrite_core::abi::*;
use std::ptr::null_mut;

/// A value together with the library that created it.
pub struct Value {
    library: &'static Library,
    cell: TVMFFIAny,
}

impl Value {
    /// Takes ownership of a value written by a library.
    pub fn from_cell(library: &'static Library, cell: TVMFFIAny) -> Self {
        Self { library, cell }
    }

    /// Takes ownership of a reference to an object.
    pub fn from_handle(library: &'static Library, handle: TVMFFIObjectHandle) -> Self {
        let object: *mut TVMFFIObject = handle.cast();
        // SAFETY: the library returned a reference to a live object.
        let type_index = unsafe { (*object).type_index };
        let payload = TVMFFIAnyPayload { v_obj: object };
        Self { library, cell: TVMFFIAny { type_index, small_str_len: 0, payload } }
    }

    /// Returns a new owned reference to a value in a container.
    ///
    /// # Safety
    /// The cell must contain a live value of this library.
    pub unsafe fn borrowed(library: &'static Library, cell: TVMFFIAny) -> Self {
        if cell.type_index >= kTVMFFIStaticObjectBegin {
            // SAFETY: the caller's promise.
            unsafe { (library.symbols.inc_ref)(cell.payload.v_obj.cast()) };
        }
        Self { library, cell }
    }

    fn plain(library: &'static Library, type_index: i32, payload: TVMFFIAnyPayload) -> Self {
        Self { library, cell: TVMFFIAny { type_index, small_str_len: 0, payload } }
    }

    pub fn none(library: &'static Library) -> Self {
        Self::from_cell(library, TVMFFIAny::NONE)
    }

    pub fn int(library: &'static Library, value: i64) -> Self {
        Self::plain(library, kTVMFFIInt, TVMFFIAnyPayload { v_int64: value })
    }

    pub fn bool(library: &'static Library, value: bool) -> Self {
        Self::plain(library, kTVMFFIBool, TVMFFIAnyPayload { v_int64: value.into() })
    }

    pub fn float(library: &'static Library, value: f64) -> Self {
        Self::plain(library, kTVMFFIFloat, TVMFFIAnyPayload { v_float64: value })
    }

    pub fn dtype(library: &'static Library, value: DLDataType) -> Self {
        let mut payload = TVMFFIAnyPayload { v_uint64: 0 };
        payload.v_dtype = value;
        Self::plain(library, kTVMFFIDataType, payload)
    }

    pub fn device(library: &'static Library, value: DLDevice) -> Self {
        Self::plain(library, kTVMFFIDevice, TVMFFIAnyPayload { v_device: value })
    }

    pub fn string(library: &'static Library, text: impl AsRef<[u8]>) -> Self {
        let bytes = TVMFFIByteArray::from_slice(text.as_ref());
        // SAFETY: the text lives through the call.
        let made = library.value(|out| unsafe { (library.symbols.string)(&raw const bytes, out) });
        made.expect("a string is made")
    }

    pub fn bytes(library: &'static Library, bytes: &[u8]) -> Self {
        let bytes = TVMFFIByteArray::from_slice(bytes);
        // SAFETY: the bytes live through the call.
        let made = library.value(|out| unsafe { (library.symbols.bytes)(&raw const bytes, out) });
        made.expect("bytes are made")
    }

    /// Creates an integer from its words in two's complement, least significant first; an `Int` if
    /// it fits.
    pub fn big_int(library: &'static Library, words: &[i64]) -> Self {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let bytes = TVMFFIByteArray::from_slice(&bytes);
        // SAFETY: the bytes live through the call.
        let made = library.value(|out| unsafe { (library.symbols.big_int)(&raw const bytes, out) });
        made.expect("any words are an integer")
    }

    pub fn library(&self) -> &'static Library {
        self.library
    }

    pub fn cell(&self) -> TVMFFIAny {
        self.cell
    }

    pub fn type_index(&self) -> i32 {
        self.cell.type_index
    }

    /// Releases ownership and returns the cell.
    pub fn into_cell(self) -> TVMFFIAny {
        let cell = self.cell;
        std::mem::forget(self);
        cell
    }

    /// Releases ownership and returns the object's handle.
    pub fn into_handle(self) -> TVMFFIObjectHandle {
        let handle = self.handle();
        std::mem::forget(self);
        handle
    }

    /// Returns the object's handle; null for a value stored in the cell.
    pub fn handle(&self) -> TVMFFIObjectHandle {
        if self.cell.type_index < kTVMFFIStaticObjectBegin {
            return null_mut();
        }
        // SAFETY: the type index is that of an object.
        unsafe { self.cell.payload.v_obj }.cast()
    }

    /// Returns a pointer to the content after an object's header.
    pub fn body<T>(&self) -> *const T {
        assert!(!self.handle().is_null(), "type {} is no object", self.type_index());
        self.handle().cast::<TVMFFIObject>().wrapping_add(1).cast()
    }

    /// Calls a function.
    pub fn call(&self, arguments: &[&Self]) -> Result<Self, Raised> {
        assert!(arguments.iter().all(|argument| std::ptr::eq(argument.library, self.library)));
        let cells: Vec<TVMFFIAny> = arguments.iter().map(|argument| argument.cell).collect();
        let call = self.library.symbols.function_call;
        // SAFETY: the function and its arguments live through the call.
        self.library
            .value(|out| unsafe { call(self.handle(), cells.as_ptr(), cells.len() as i32, out) })
    }

    /// Returns the integer or boolean value.
    pub fn as_int(&self) -> i64 {
        assert!(
            matches!(self.type_index(), kTVMFFIInt | kTVMFFIBool),
            "type {}",
            self.type_index()
        );
        // SAFETY: the type index selects this field.
        unsafe { self.cell.payload.v_int64 }
    }

    /// Returns the bytes of a String or Bytes value, small or not.
    pub fn as_bytes(&self) -> &[u8] {
        match self.type_index() {
            // SAFETY: the type index selects this field.
            kTVMFFISmallStr | kTVMFFISmallBytes => unsafe {
                &self.cell.payload.v_bytes[..self.cell.small_str_len as usize]
            },
            // SAFETY: string objects and bytes objects begin with this record, and live as long as
            // the value.
            kTVMFFIStr | kTVMFFIBytes => unsafe { (*self.body::<TVMFFIByteArray>()).as_slice() },
            other => panic!("type {other} has no bytes"),
        }
    }
}

impl Clone for Value {
    fn clone(&self) -> Self {
        // SAFETY: this value owns a reference meanwhile.
        unsafe { Self::borrowed(self.library, self.cell) }
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        let handle = self.handle();
        if !handle.is_null() {
            // SAFETY: the value owns this reference.
            unsafe { (self.library.symbols.dec_ref)(handle) };
        }
    }
}
