//! Which Rust types an Any holds, how they convert, and the text of a mismatch.

use core::ffi::c_void;

use crate::abi::TVMFFIAnyPayload;
use crate::any::{Any, AnyView};
use crate::error::kind::TYPE_ERROR;
use crate::error::{Error, Result};
use crate::object::{ObjectClass, ObjectRef};
use crate::text::Writer;
use crate::{refcount, type_index, type_table};

/// A type that converts to and from [`Any`].
///
/// # Safety
/// `view` must give a cell that is valid while `self` is, and `into_any` a cell that owns what it points to.
///
/// # Upstream
/// `tvm::ffi::TypeTraits` in `type_traits.h`.
pub unsafe trait AnyCompatible: Sized {
    /// Writes the type as signatures show it: `int`, `Array<str>`.
    fn type_name(out: &mut Writer<'_>);

    /// Writes the type as the result of a function shows it: nothing is `void` there.
    fn result_name(out: &mut Writer<'_>) {
        Self::type_name(out);
    }

    /// Writes the type-schema JSON: `{"type":"int"}`.
    fn schema(out: &mut Writer<'_>);

    /// Borrows the value.
    fn view(&self) -> AnyView<'_>;

    /// Moves the value into an Any. Allocates nothing.
    fn into_any(self) -> Any;

    /// Converts by upstream's rules; None when the value is of another type.
    ///
    /// # Errors
    /// MemoryError when the conversion needs memory that is refused; errors of user hooks.
    fn try_from_view(view: AnyView<'_>) -> Result<Option<Self>>;

    /// Writes what was found where this type was expected: a type key, or the place of a bad element.
    fn describe_mismatch(view: AnyView<'_>, out: &mut Writer<'_>) {
        out.put_lossy(type_table::type_key_of(view.type_index()));
    }
}

/// The texts about a type that messages and schemas need, as data.
pub struct TypeTexts {
    /// [`AnyCompatible::type_name`], or [`AnyCompatible::result_name`] for a result.
    pub(crate) name: fn(&mut Writer<'_>),
    /// [`AnyCompatible::schema`].
    pub(crate) schema: fn(&mut Writer<'_>),
}

/// The texts about a type that a value is converted to.
pub struct TargetTexts {
    pub(crate) of_type: TypeTexts,
    /// [`AnyCompatible::describe_mismatch`].
    pub(crate) mismatch: fn(AnyView<'_>, &mut Writer<'_>),
}

impl TypeTexts {
    /// Those of a result.
    pub(crate) const fn of_result<T: AnyCompatible>() -> TypeTexts {
        TypeTexts { name: T::result_name, schema: T::schema }
    }
}

impl TargetTexts {
    /// Those of a type.
    pub(crate) const fn of<T: AnyCompatible>() -> TargetTexts {
        let of_type = TypeTexts { name: T::type_name, schema: T::schema };
        TargetTexts { of_type, mismatch: T::describe_mismatch }
    }
}

/// The TypeError of a failed conversion to a type.
///
/// # Upstream
/// `AnyView::cast` in `any.h`.
#[cold]
#[inline(never)]
pub(crate) fn mismatch_error(view: AnyView<'_>, target: &TargetTexts) -> Error {
    Error::from_parts(crate::__error_site!(), TYPE_ERROR, &|out| {
        out.put(b"Cannot convert from type `");
        (target.mismatch)(view, out);
        out.put(b"` to `");
        (target.of_type.name)(out);
        out.put(b"`");
    })
}

/// Writes `{"type":"KEY"}`.
pub fn write_schema(out: &mut Writer<'_>, key: &str) {
    out.put(b"{\"type\":\"");
    out.put(key.as_bytes());
    out.put(b"\"}");
}

/// Writes `{"type":"KEY","args":[...]}`.
pub fn write_generic_schema(out: &mut Writer<'_>, key: &str, args: &[fn(&mut Writer<'_>)]) {
    out.put(b"{\"type\":\"");
    out.put(key.as_bytes());
    out.put(b"\",\"args\":[");
    write_list(out, b",", args);
    out.put(b"]}");
}

/// Writes `NAME<...>`.
pub fn write_generic_name(out: &mut Writer<'_>, name: &str, args: &[fn(&mut Writer<'_>)]) {
    out.put(name.as_bytes());
    out.put(b"<");
    write_list(out, b", ", args);
    out.put(b">");
}

fn write_list(out: &mut Writer<'_>, separator: &[u8], parts: &[fn(&mut Writer<'_>)]) {
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            out.put(separator);
        }
        part(out);
    }
}

/// Implements `From` for [`Any`]. One by one: a blanket impl would collide with `From<Any> for Any`.
#[macro_export]
macro_rules! any_from {
    ($($name:ty),*) => {$(
        impl From<$name> for $crate::any::Any {
            fn from(value: $name) -> $crate::any::Any {
                $crate::convert::AnyCompatible::into_any(value)
            }
        }
    )*};
}

any_from!(i64, u64, i32, u32, i16, u16, i8, u8, isize, usize, f64, f32, bool, (), *mut c_void);

impl<T: AnyCompatible> From<Option<T>> for Any {
    fn from(value: Option<T>) -> Any {
        value.into_any()
    }
}

/// Implements the two text functions of [`AnyCompatible`].
#[macro_export]
macro_rules! any_texts {
    ($name:expr, $schema:expr) => {
        fn type_name(out: &mut $crate::text::Writer<'_>) {
            out.put($name.as_bytes());
        }

        fn schema(out: &mut $crate::text::Writer<'_>) {
            $crate::convert::write_schema(out, $schema);
        }
    };
}

macro_rules! integers {
    ($($int:ty),*) => {$(
        // SAFETY: an integer cell points to nothing.
        unsafe impl AnyCompatible for $int {
            any_texts!("int", "int");

            fn view(&self) -> AnyView<'_> {
                AnyView::plain(type_index::INT, TVMFFIAnyPayload { v_int64: *self as i64 })
            }

            fn into_any(self) -> Any {
                owned(self.view())
            }

            fn try_from_view(view: AnyView<'_>) -> Result<Option<Self>> {
                // Narrowing wraps, as a C cast does: upstream's rule.
                Ok(matches!(view.type_index(), type_index::INT | type_index::BOOL)
                    .then(|| view.payload_bits() as $int))
            }
        }
    )*};
}

integers!(i64, u64, i32, u32, i16, u16, i8, u8, isize, usize);

/// Owns a view whose cell points to nothing.
fn owned(view: AnyView<'_>) -> Any {
    // SAFETY: only called for plain payloads, so there is nothing to own.
    unsafe { Any::from_raw(*view.as_raw()) }
}

// SAFETY: a bool cell points to nothing.
unsafe impl AnyCompatible for bool {
    any_texts!("bool", "bool");

    fn view(&self) -> AnyView<'_> {
        AnyView::from(*self)
    }

    fn into_any(self) -> Any {
        owned(self.view())
    }

    fn try_from_view(view: AnyView<'_>) -> Result<Option<bool>> {
        Ok(matches!(view.type_index(), type_index::INT | type_index::BOOL).then(|| view.payload_bits() != 0))
    }
}

fn float_of(view: AnyView<'_>) -> Option<f64> {
    match view.type_index() {
        type_index::FLOAT => Some(f64::from_bits(view.payload_bits())),
        type_index::INT | type_index::BOOL => Some(view.payload_bits() as i64 as f64),
        _ => None,
    }
}

macro_rules! floats {
    ($($float:ty),*) => {$(
        // SAFETY: a float cell points to nothing.
        unsafe impl AnyCompatible for $float {
            any_texts!("float", "float");

            fn view(&self) -> AnyView<'_> {
                AnyView::from(*self)
            }

            fn into_any(self) -> Any {
                owned(self.view())
            }

            fn try_from_view(view: AnyView<'_>) -> Result<Option<Self>> {
                Ok(float_of(view).map(|value| value as $float))
            }
        }
    )*};
}

floats!(f64, f32);

// SAFETY: a None cell points to nothing.
unsafe impl AnyCompatible for () {
    any_texts!("None", "None");

    fn result_name(out: &mut Writer<'_>) {
        out.put(b"void");
    }

    fn view(&self) -> AnyView<'_> {
        AnyView::NONE
    }

    fn into_any(self) -> Any {
        Any::NONE
    }

    fn try_from_view(view: AnyView<'_>) -> Result<Option<()>> {
        Ok(view.is_none().then_some(()))
    }
}

// SAFETY: an opaque pointer is not followed and not owned.
unsafe impl AnyCompatible for *mut c_void {
    any_texts!("void*", "void*");

    fn view(&self) -> AnyView<'_> {
        if self.is_null() { AnyView::NONE } else { AnyView::pointer(type_index::OPAQUE_PTR, *self) }
    }

    fn into_any(self) -> Any {
        owned(self.view())
    }

    fn try_from_view(view: AnyView<'_>) -> Result<Option<*mut c_void>> {
        Ok(match view.type_index() {
            type_index::OPAQUE_PTR => Some(view.payload_pointer()),
            type_index::NONE => Some(core::ptr::null_mut()),
            _ => None,
        })
    }
}

// SAFETY: an Any owns what its cell points to.
unsafe impl AnyCompatible for Any {
    any_texts!("Any", "Any");

    fn view(&self) -> AnyView<'_> {
        Any::view(self)
    }

    fn into_any(self) -> Any {
        self
    }

    fn try_from_view(view: AnyView<'_>) -> Result<Option<Any>> {
        view.to_owned().map(Some)
    }
}

// SAFETY: forwards to the conversion of `T`, or is None, which points to nothing.
unsafe impl<T: AnyCompatible> AnyCompatible for Option<T> {
    fn type_name(out: &mut Writer<'_>) {
        write_generic_name(out, "Optional", &[T::type_name]);
    }

    fn schema(out: &mut Writer<'_>) {
        write_generic_schema(out, "Optional", &[T::schema]);
    }

    fn view(&self) -> AnyView<'_> {
        self.as_ref().map_or(AnyView::NONE, T::view)
    }

    fn into_any(self) -> Any {
        self.map_or(Any::NONE, T::into_any)
    }

    fn try_from_view(view: AnyView<'_>) -> Result<Option<Option<T>>> {
        if view.is_none() {
            return Ok(Some(None));
        }
        Ok(T::try_from_view(view)?.map(Some))
    }

    fn describe_mismatch(view: AnyView<'_>, out: &mut Writer<'_>) {
        T::describe_mismatch(view, out);
    }
}

/// Takes a reference to the object of `view` when it is an instance of `T`; understands rvalue references.
pub(crate) fn object_from_view<T: ObjectClass>(view: AnyView<'_>) -> Option<T> {
    let object = match view.rvalue_slot() {
        // SAFETY: an rvalue reference points to the caller's object pointer (ABI).
        Some(slot) => core::ptr::NonNull::new(unsafe { slot.as_ptr().read() })?,
        None => view.object_ptr()?,
    };
    // SAFETY: the view borrows a live object, whose header is readable and whose strong count is not zero.
    unsafe {
        if !type_table::is_instance((*object.as_ptr()).type_index, T::type_index()) {
            return None;
        }
        refcount::retain(object.as_ptr());
        Some(T::from_object_unchecked(ObjectRef::from_raw(object)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::string::String;

    #[test]
    fn types_have_upstreams_texts() -> Result<()> {
        assert_eq!(String::compose(&i32::type_name)?, "int");
        assert_eq!(String::compose(&Option::<f32>::type_name)?, "Optional<float>");
        assert_eq!(
            String::compose(&Option::<i64>::schema)?,
            r#"{"type":"Optional","args":[{"type":"int"}]}"#
        );
        Ok(())
    }

    #[test]
    fn integers_wrap_as_c_casts_do() -> Result<()> {
        assert_eq!(Any::from(300i64).get::<u8>()?, 44);
        assert_eq!(Any::from(-1i64).get::<u64>()?, u64::MAX);
        Ok(())
    }

    #[test]
    fn none_is_a_null_pointer_and_back() -> Result<()> {
        assert!(Any::NONE.get::<*mut c_void>()?.is_null());
        assert!(Any::new(core::ptr::null_mut::<c_void>()).is_none());
        Ok(())
    }
}
