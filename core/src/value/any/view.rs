//! Borrowed values: creation, access, conversion and copying to owned values.

use core::ffi::{CStr, c_void};
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::NonNull;
use core::slice;

use super::{Any, NONE};
use crate::abi::{TVMFFIAny, TVMFFIAnyPayload, TVMFFIByteArray, TVMFFIObject, type_index};
use crate::error::{Error, Result};
use crate::names::type_table;
use crate::object::{ObjectRef, refcount};
use crate::value::convert::{self, AnyCompatible, FromAny, FromView, TargetTexts};
use crate::value::string;
use crate::{plain_bail, plain_error};

/// Difference between the type index of a raw string or byte array and that of its small owned
/// copy.
const COPY_OFFSET: i32 = type_index::SMALL_STR - type_index::RAW_STR;
const _: () = assert!(type_index::SMALL_BYTES - type_index::BYTE_ARRAY_PTR == COPY_OFFSET);

/// A borrowed value: `Copy`, owns nothing, and lives no longer than its source.
///
/// # Examples
/// ```
/// use ferrite_core::{AnyView, String};
///
/// # fn main() -> ferrite_core::Result<()> {
/// let text = String::new("a longer string")?;
/// let view = AnyView::from(&text);
/// assert_eq!(view.bytes_of_string(), Some(text.as_bytes()));
///
/// let owned = view.to_owned()?;
/// drop(text);
/// assert_eq!(owned.get::<String>()?.as_str(), Some("a longer string"));
/// # Ok(())
/// # }
/// ```
///
/// # Upstream
/// `tvm::ffi::AnyView` in `any.h`.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct AnyView<'a> {
    raw: TVMFFIAny,
    lifetime: PhantomData<&'a ()>,
}

impl<'a> AnyView<'a> {
    /// The value None.
    pub const NONE: AnyView<'static> = AnyView { raw: NONE, lifetime: PhantomData };

    /// Creates a view of a raw cell.
    ///
    /// # Safety
    /// The content of the cell must be valid for `'a`, as its type index requires.
    pub const unsafe fn from_raw(raw: TVMFFIAny) -> AnyView<'a> {
        AnyView { raw, lifetime: PhantomData }
    }

    /// Reinterprets a reference to a raw cell as a view, without copying the cell.
    ///
    /// # Safety
    /// Same requirements as [`AnyView::from_raw`].
    pub const unsafe fn in_place(raw: &'a TVMFFIAny) -> &'a AnyView<'a> {
        // SAFETY: AnyView is transparent over the cell.
        unsafe { &*core::ptr::from_ref(raw).cast() }
    }

    /// Reinterprets `len` raw cells as views, such as the arguments of a packed call. Returns an
    /// empty slice if `cells` is null.
    ///
    /// # Safety
    /// `cells` must be null or valid for reads of `len` cells for `'a`, each as
    /// [`AnyView::from_raw`] requires.
    pub unsafe fn slice_from_raw(cells: *const TVMFFIAny, len: usize) -> &'a [AnyView<'a>] {
        if cells.is_null() {
            return &[];
        }
        // SAFETY: AnyView is transparent over the cell; the caller guarantees pointer, length and
        // lifetime.
        unsafe { slice::from_raw_parts(cells.cast(), len) }
    }

    /// Creates a view of a plain value, which is stored in the eight bytes of the payload.
    pub(crate) fn plain(type_index: i32, payload: TVMFFIAnyPayload) -> AnyView<'a> {
        AnyView { raw: TVMFFIAny { type_index, small_str_len: 0, payload }, lifetime: PhantomData }
    }

    /// Creates a view of a pointer. On 32-bit targets the upper half of the payload is zero.
    pub(crate) fn pointer(type_index: i32, pointer: *mut c_void) -> AnyView<'a> {
        let mut view = AnyView::plain(type_index, TVMFFIAnyPayload { v_uint64: 0 });
        view.raw.payload.v_ptr = pointer;
        view
    }

    /// Borrows the raw cell.
    pub const fn as_raw(&self) -> &TVMFFIAny {
        &self.raw
    }

    /// Returns the type index of the value.
    pub const fn type_index(self) -> i32 {
        self.raw.type_index
    }

    /// Returns `true` if the value is None.
    pub const fn is_none(self) -> bool {
        self.raw.type_index == type_index::NONE
    }

    /// Returns the 64 bits of the payload, for a value of any type.
    pub fn payload_bits(self) -> u64 {
        // SAFETY: every member of the union is plain data of at most 8 bytes, and constructors
        // write all 8.
        unsafe { self.raw.payload.v_uint64 }
    }

    /// Returns the payload as a pointer, for a value of any type.
    pub(crate) fn payload_pointer(self) -> *mut c_void {
        // SAFETY: as for `payload_bits`.
        unsafe { self.raw.payload.v_ptr }
    }

    /// Returns the object that the value refers to, or `None` if the value is not an object.
    pub fn object_ptr(self) -> Option<NonNull<TVMFFIObject>> {
        if self.raw.type_index < type_index::STATIC_OBJECT_BEGIN {
            return None;
        }
        NonNull::new(self.payload_pointer().cast())
    }

    /// Borrows the bytes of a string in any representation (small, object, raw), which need not be
    /// UTF-8. Returns `None` for other values.
    #[inline]
    pub fn bytes_of_string(&self) -> Option<&[u8]> {
        match self.raw.type_index {
            type_index::SMALL_STR | type_index::STR | type_index::RAW_STR => self.content(),
            _ => None,
        }
    }

    /// Borrows the content of a bytes value in any representation (small, object, byte array
    /// pointer). Returns `None` for other values.
    #[inline]
    pub fn bytes_of_bytes(&self) -> Option<&[u8]> {
        match self.raw.type_index {
            type_index::SMALL_BYTES | type_index::BYTES | type_index::BYTE_ARRAY_PTR => {
                self.content()
            }
            _ => None,
        }
    }

    /// Borrows the content of a string or bytes value in any representation. Returns `None` for
    /// other values.
    #[cfg_attr(feature = "speed", inline)]
    #[cfg_attr(not(feature = "speed"), inline(never))]
    fn content(&self) -> Option<&[u8]> {
        match self.raw.type_index {
            type_index::SMALL_STR | type_index::SMALL_BYTES => Some(self.small_bytes()),
            type_index::STR | type_index::BYTES => self.content_of_object(),
            type_index::RAW_STR | type_index::BYTE_ARRAY_PTR => self.content_of_pointer(),
            _ => None,
        }
    }

    /// Borrows the content of a raw string or a byte array pointer. Returns `None` for other
    /// values.
    #[cfg_attr(feature = "speed", inline)]
    #[cfg_attr(not(feature = "speed"), inline(never))]
    fn content_of_pointer(&self) -> Option<&[u8]> {
        match self.raw.type_index {
            type_index::RAW_STR => {
                let text: *const core::ffi::c_char = self.payload_pointer().cast();
                // SAFETY: a raw string is null or NUL-terminated and outlives the view (contract of
                // `from_raw`).
                (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_bytes())
            }
            type_index::BYTE_ARRAY_PTR => {
                let array: *const TVMFFIByteArray = self.payload_pointer().cast();
                // SAFETY: the pointer is null or a byte array that outlives the view (contract of
                // `from_raw`).
                unsafe { array.as_ref() }.map(|array| unsafe { array.as_slice() })
            }
            _ => None,
        }
    }

    /// Borrows the content of a string or bytes object. Returns `None` for other values. Always
    /// inlined.
    #[inline(always)]
    pub fn content_of_object(&self) -> Option<&[u8]> {
        if !matches!(self.raw.type_index, type_index::STR | type_index::BYTES) {
            return None;
        }
        // SAFETY: string and bytes objects have a byte array after their header (ABI).
        self.object_ptr().map(|object| unsafe { object_bytes(object) })
    }

    fn small_bytes(&self) -> &[u8] {
        let len = (self.raw.small_str_len as usize).min(7);
        // SAFETY: the payload is 8 initialised bytes; len is at most 7.
        unsafe { slice::from_raw_parts((&raw const self.raw.payload).cast::<u8>(), len) }
    }

    /// Converts the value to `T` by upstream's rules (bool to int, int to float, …).
    ///
    /// # Errors
    /// TypeError that states the expected and the actual type; the errors of
    /// [`try_get`](AnyView::try_get).
    #[inline]
    pub fn get<T: FromAny>(self) -> Result<T> {
        self.get_in_place()
    }

    /// Converts the value as [`get`](AnyView::get) does, to a type that may borrow from the view:
    /// `&str`.
    ///
    /// # Errors
    /// The errors of [`get`](AnyView::get).
    #[inline]
    pub fn get_in_place<'b, T: FromView<'b>>(&'b self) -> Result<T> {
        match T::from_view(self)? {
            Some(value) => Ok(value),
            None => Err(convert::mismatch_error(*self, const { &TargetTexts::of::<T>() })),
        }
    }

    /// Converts the value to `T`, or returns `None` if it does not convert.
    ///
    /// # Errors
    /// MemoryError when out of memory; ValueError for a string that does not name a dtype; errors
    /// of user callbacks.
    #[inline]
    pub fn try_get<T: FromAny>(self) -> Result<Option<T>> {
        T::from_view(&self)
    }

    /// Creates an owned value: retains objects, copies raw strings and byte arrays, and moves the
    /// object out of an rvalue reference.
    ///
    /// # Errors
    /// MemoryError; ValueError for a null raw string, byte array or object, or a small string of
    /// invalid length; TypeError for a DLTensor pointer, which nothing keeps alive, and for an
    /// invalid type index; InternalError for an rvalue reference that was already moved from.
    ///
    /// # Upstream
    /// `TVMFFIAnyViewToOwnedAny`, which copies a DLTensor pointer.
    #[inline]
    pub fn to_owned(self) -> Result<Any> {
        if cfg!(feature = "speed") {
            // In registers: loading a cell right after its halves were stored defeats store
            // forwarding.
            return match self.retain() {
                Some(owned) => Ok(owned),
                None => self.to_owned_slow(),
            };
        }
        let mut cell = MaybeUninit::uninit();
        self.write_owned(&mut cell)?;
        // SAFETY: after success the cell is an owned value.
        Ok(Any { raw: unsafe { cell.assume_init() } })
    }

    #[cold]
    fn to_owned_slow(self) -> Result<Any> {
        let mut cell = MaybeUninit::uninit();
        // SAFETY: the cell is local, and an owned value after success.
        unsafe {
            write_owned_slow(&self.raw, cell.as_mut_ptr())?;
            Ok(Any { raw: cell.assume_init() })
        }
    }

    /// Creates an owned value as [`to_owned`](AnyView::to_owned) does, but also copies a DLTensor
    /// pointer, as C and C++ callers do.
    ///
    /// # Errors
    /// The errors of [`to_owned`](AnyView::to_owned), except for the TypeError of a DLTensor
    /// pointer.
    ///
    /// # Safety
    /// If the view is a DLTensor pointer, the tensor must outlive the result and its copies, or
    /// safe code must not get them after the tensor's end.
    ///
    /// # Upstream
    /// `TVMFFIAnyViewToOwnedAny`.
    pub unsafe fn to_owned_or_pointer(self) -> Result<Any> {
        if self.raw.type_index == type_index::DL_TENSOR_PTR {
            return Ok(Any { raw: self.raw });
        }
        self.to_owned()
    }

    /// Fast path of [`to_owned`](AnyView::to_owned): returns an owned value for plain values, small
    /// strings and objects, and `None` for all other values. Allocates nothing.
    #[inline]
    pub fn retain(self) -> Option<Any> {
        let plain = type_index::NONE..type_index::DL_TENSOR_PTR;
        let is_plain = plain.contains(&self.raw.type_index);
        // Objects before the remaining values, which are less frequent.
        if !is_plain && let Some(object) = self.object_ptr() {
            // SAFETY: the view borrows a live object, so its strong count is not zero.
            unsafe { refcount::retain(object.as_ptr()) };
            return Some(Any { raw: self.raw });
        }
        (is_plain || self.has_owned_form()).then_some(Any { raw: self.raw })
    }

    /// Returns `true` if the cell is also valid as an owned value: a plain value, a small string or
    /// an object.
    #[inline]
    pub fn has_owned_form(&self) -> bool {
        match self.raw.type_index {
            type_index::NONE..type_index::DL_TENSOR_PTR | type_index::UNCHANGED => true,
            type_index::SMALL_STR | type_index::SMALL_BYTES => {
                self.raw.small_str_len as usize <= string::SMALL_MAX
            }
            _ => self.object_ptr().is_some(),
        }
    }

    /// Writes the owned value that [`AnyView::to_owned`] creates to a cell, which the caller then
    /// owns. The previous content of the cell is not released.
    ///
    /// # Errors
    /// The errors of [`AnyView::to_owned`]. The cell is then unchanged.
    #[inline]
    pub fn write_owned(&self, cell: &mut MaybeUninit<TVMFFIAny>) -> Result<()> {
        // SAFETY: both references are valid.
        unsafe { write_owned_at(&self.raw, cell.as_mut_ptr()) }
    }

    /// Returns the object pointer that an rvalue reference points to, or `None` for other values
    /// and null references.
    pub(crate) fn rvalue_slot(self) -> Option<NonNull<*mut TVMFFIObject>> {
        if self.raw.type_index != type_index::OBJECT_RVALUE_REF {
            return None;
        }
        NonNull::new(self.payload_pointer().cast())
    }

    #[inline]
    pub(super) fn retained(self) -> Any {
        if let Some(object) = self.object_ptr() {
            // SAFETY: the view borrows a live object, so its strong count is not zero.
            unsafe { refcount::retain(object.as_ptr()) };
        }
        Any { raw: self.raw }
    }
}

/// Writes the owned value of a view to a cell, as [`AnyView::write_owned`] does. Takes pointers,
/// because the view and its content may lie in the cell itself.
///
/// # Errors
/// The errors of [`AnyView::write_owned`].
///
/// # Safety
/// The view must satisfy the requirements of [`AnyView::from_raw`], and the cell must be writable.
#[cfg_attr(feature = "speed", inline)]
#[cfg_attr(not(feature = "speed"), inline(never))]
pub unsafe fn write_owned_at(view: *const TVMFFIAny, cell: *mut TVMFFIAny) -> Result<()> {
    // SAFETY: the caller guarantees both; the view borrows a live object, and is not read after the
    // cell is written.
    unsafe {
        let owned = AnyView::in_place(&*view);
        if !owned.has_owned_form() {
            return write_owned_slow(view, cell);
        }
        if let Some(object) = owned.object_ptr() {
            refcount::retain(object.as_ptr());
        }
        cell.write(view.read());
    }
    Ok(())
}

/// Slow path of [`write_owned_at`]: values that need a copy or a move, and invalid cells.
///
/// # Errors
/// Same errors as [`write_owned_at`].
///
/// # Safety
/// Same requirements as [`write_owned_at`]. [`AnyView::retain`] must have returned `None` for the
/// view.
#[cfg_attr(feature = "speed", inline(never))]
pub unsafe fn write_owned_slow(view: *const TVMFFIAny, cell: *mut TVMFFIAny) -> Result<()> {
    // SAFETY: the caller guarantees the view.
    let view = unsafe { AnyView::in_place(&*view) };
    let index = view.raw.type_index;
    match index {
        type_index::RAW_STR | type_index::BYTE_ARRAY_PTR => match view.content_of_pointer() {
            // SAFETY: the content outlives the view (contract of `from_raw`); the caller guarantees
            // the cell.
            Some(content) => unsafe { string::write_copy(cell, index + COPY_OFFSET, content) },
            None => Err(null_value(index)),
        },
        // SAFETY: the caller guarantees the cell.
        type_index::OBJECT_RVALUE_REF => unsafe { take_rvalue(view.rvalue_slot(), cell) },
        type_index::SMALL_STR | type_index::SMALL_BYTES => {
            plain_bail!(
                VALUE_ERROR,
                "A small string has at most 7 bytes, got {}",
                view.raw.small_str_len;
                "bad size"
            )
        }
        type_index::DL_TENSOR_PTR => Err(unowned_tensor()),
        type_index::STATIC_OBJECT_BEGIN.. => Err(null_value(index)),
        other => plain_bail!(TYPE_ERROR, "There is no type with index {}", other; "no such type"),
    }
}

/// Moves the object out of an rvalue reference into a cell. Fails if it was already moved.
///
/// # Safety
/// The slot must be that of an rvalue reference, and the cell must be writable.
unsafe fn take_rvalue(
    slot: Option<NonNull<*mut TVMFFIObject>>,
    cell: *mut TVMFFIAny,
) -> Result<()> {
    let taken = slot.and_then(|slot| {
        // SAFETY: an rvalue reference points to the caller's object pointer, which is moved from
        // (ABI).
        NonNull::new(unsafe { slot.as_ptr().replace(core::ptr::null_mut()) })
    });
    let Some(object) = taken else {
        plain_bail!(INTERNAL_ERROR, "RValueRef already moved"; "already moved");
    };
    // SAFETY: the strong reference of the caller's variable was taken out of it; the caller
    // guarantees the cell.
    unsafe { cell.write(ObjectRef::from_raw(object).into_any().into_raw()) };
    Ok(())
}

/// Creates the TypeError for a DLTensor pointer that would have to be owned.
#[cold]
#[inline(never)]
pub(super) fn unowned_tensor() -> Error {
    plain_error!(
        TYPE_ERROR,
        "A DLTensor pointer is valid for a call only and cannot be kept or returned: use a Tensor, \
         or take an AnyView or TensorView for the call";
        "unowned tensor"
    )
}

fn null_value(type_index: i32) -> Error {
    plain_error!(
        VALUE_ERROR, "A value of type `{}` must not be null", type_table::type_key_of(type_index);
        "null value"
    )
}

/// Borrows the content of a string or bytes object.
///
/// # Safety
/// `object` must be alive for `'a` and have a byte array after its header.
unsafe fn object_bytes<'a>(object: NonNull<TVMFFIObject>) -> &'a [u8] {
    // SAFETY: the caller guarantees the object and its layout.
    unsafe { (*object.as_ptr().add(1).cast::<TVMFFIByteArray>()).as_slice() }
}

impl<'a, T: AnyCompatible> From<&'a T> for AnyView<'a> {
    fn from(value: &'a T) -> AnyView<'a> {
        value.view()
    }
}

impl<'a, T: AnyCompatible> From<&'a Option<T>> for AnyView<'a> {
    fn from(value: &'a Option<T>) -> AnyView<'a> {
        value.as_ref().map_or(AnyView::NONE, T::view)
    }
}

/// Borrows a C string as a raw string. For an owned string, use
/// [`String`](crate::value::string::String).
impl<'a> From<&'a CStr> for AnyView<'a> {
    fn from(text: &'a CStr) -> AnyView<'a> {
        AnyView::pointer(type_index::RAW_STR, text.as_ptr().cast_mut().cast())
    }
}

macro_rules! view_of_plain {
    ($($source:ty => $index:ident, $member:ident as $payload:ty;)*) => {$(
        impl From<$source> for AnyView<'_> {
            fn from(value: $source) -> Self {
                AnyView::plain(type_index::$index, TVMFFIAnyPayload { $member: value as $payload })
            }
        }
    )*};
}

view_of_plain! {
    i64 => INT, v_int64 as i64;
    i32 => INT, v_int64 as i64;
    u32 => INT, v_int64 as i64;
    i16 => INT, v_int64 as i64;
    u16 => INT, v_int64 as i64;
    i8 => INT, v_int64 as i64;
    u8 => INT, v_int64 as i64;
    bool => BOOL, v_int64 as i64;
    f64 => FLOAT, v_float64 as f64;
    f32 => FLOAT, v_float64 as f64;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::string::String;

    #[test]
    fn a_mismatch_names_both_types() {
        let error = Any::from(1.5f64).get::<i64>().map(|_| ()).unwrap_err();
        assert_eq!(error.kind_bytes(), b"TypeError");
        assert_eq!(error.message_bytes(), b"Cannot convert from type `float` to `int`");
    }

    #[test]
    fn raw_strings_become_owned_strings() -> Result<()> {
        let text = c"a string that is longer than seven bytes";
        let view: AnyView<'_> =
            AnyView::pointer(type_index::RAW_STR, text.as_ptr().cast_mut().cast());
        let owned = view.to_owned()?;
        assert_eq!(owned.type_index(), type_index::STR);
        assert_eq!(owned.view().bytes_of_string(), Some(text.to_bytes()));
        assert_eq!(view.get::<String>()?.as_bytes(), text.to_bytes());
        let null: AnyView<'_> = AnyView::pointer(type_index::RAW_STR, core::ptr::null_mut());
        assert_eq!(null.to_owned().unwrap_err().kind_bytes(), b"ValueError");
        Ok(())
    }

    #[test]
    fn byte_arrays_become_owned_bytes() -> Result<()> {
        for (content, owned_index) in
            [(&[0xff; 9][..], type_index::BYTES), (&[0xff; 2][..], type_index::SMALL_BYTES)]
        {
            let mut array = TVMFFIByteArray { data: content.as_ptr().cast(), size: content.len() };
            let view: AnyView<'_> =
                AnyView::pointer(type_index::BYTE_ARRAY_PTR, (&raw mut array).cast());
            assert_eq!((view.bytes_of_bytes(), view.bytes_of_string()), (Some(content), None));
            assert_eq!(view.get::<crate::Bytes>()?.as_bytes(), content);
            let owned = view.to_owned()?;
            assert_eq!(owned.type_index(), owned_index);
            assert_eq!(
                (owned.view().bytes_of_bytes(), owned.view().bytes_of_string()),
                (Some(content), None)
            );
        }
        Ok(())
    }

    #[test]
    fn cells_that_are_no_values_are_refused() {
        let cell = |type_index, small_str_len| TVMFFIAny {
            type_index,
            small_str_len,
            payload: TVMFFIAnyPayload { v_int64: 0 },
        };
        for (raw, kind) in [
            (cell(type_index::ARRAY, 0), "ValueError"),
            (cell(14, 0), "TypeError"),
            (cell(-1, 0), "TypeError"),
            (cell(i32::MIN, 0), "TypeError"),
            (cell(type_index::SMALL_STR, 8), "ValueError"),
            (cell(type_index::SMALL_BYTES, u32::MAX), "ValueError"),
        ] {
            // SAFETY: none of the invalid cells is dereferenced, as this test checks.
            let error = unsafe { AnyView::from_raw(raw) }.to_owned().unwrap_err();
            assert_eq!(error.kind_bytes(), kind.as_bytes());
        }
    }

    #[test]
    fn a_tensor_pointer_has_no_owned_form() -> Result<()> {
        let tensor = crate::Tensor::from_slice(&[1i32, 2], &[2])?;
        // SAFETY: `tensor` is alive, and nobody writes its elements.
        let view =
            AnyView::from(unsafe { crate::tensor::TensorView::new(tensor.dl_tensor().into()) });
        assert!(!view.has_owned_form() && view.retain().is_none());
        let keep = crate::Function::from_typed(|_: Any| {})?;
        unsafe extern "C" fn as_it_is(
            _: *mut c_void,
            args: *const TVMFFIAny,
            _: i32,
            result: *mut TVMFFIAny,
        ) -> i32 {
            // SAFETY: there is one argument, and a result.
            unsafe { result.write(args.read()) };
            0
        }
        // SAFETY: a safe call without a context.
        let foreign =
            unsafe { crate::Function::from_extern_c(core::ptr::null_mut(), as_it_is, None)? };
        for refused in [
            view.to_owned(),
            view.get::<Any>(),
            view.get::<Option<Any>>().map(Option::unwrap_or_default),
            keep.call_packed(&[view]),
            foreign.call_packed(&[view]),
        ] {
            assert_eq!(refused.unwrap_err().kind_bytes(), b"TypeError");
        }
        let mut cell = MaybeUninit::uninit();
        assert!(view.write_owned(&mut cell).is_err());
        // SAFETY: the tensor outlives the copy.
        let pointer = unsafe { view.to_owned_or_pointer()? };
        assert_eq!(pointer.type_index(), type_index::DL_TENSOR_PTR);
        Ok(())
    }

    #[test]
    fn an_rvalue_reference_is_taken_once() -> Result<()> {
        let mut slot = String::new("longer than seven bytes")?
            .into_any()
            .get::<ObjectRef>()?
            .into_raw()
            .as_ptr();
        let view: AnyView<'_> =
            AnyView::pointer(type_index::OBJECT_RVALUE_REF, (&raw mut slot).cast());
        assert_eq!(view.to_owned()?.type_index(), type_index::STR);
        assert!(slot.is_null());
        assert_eq!(view.to_owned().unwrap_err().kind_bytes(), b"InternalError");
        Ok(())
    }
}
