//! Classes defined in Rust: objects whose content is a Rust struct, with fields and methods in the
//! type table.
//!
//! `derive(Object)` of `ferrite-ffi-macros` implements the traits of this module. An object is the
//! ABI's header followed by the struct, so that C++ code reads the fields of a `repr(C)` struct in
//! place, and C and Python code reads them by reflection.
//!
//! # Aliasing
//! Any number of references may point to an object, in any language, so a reference never gives
//! `&mut` access by itself. An object has a run-time borrow state: any number of shared borrows, or
//! one exclusive borrow. Methods with `&self` borrow shared, methods with `&mut self` exclusively,
//! getters and setters of fields for the duration of the access. A conflicting access, such as a
//! call of a `&mut self` method from a callback of another one, or from another thread at the same
//! time, is a RuntimeError. The classes without a writable field and without `mutable` ([`Frozen`])
//! have no exclusive borrows, and their references dereference to the content.
//!
//! C++ code that accesses fields in place is not checked: it must not write a field while Rust code
//! has the object borrowed, nor read one that Rust code may write. The same applies to a setter of
//! a read-only field, which exists for code that creates objects.

mod abi_field;
mod access;
mod binding;
mod borrow;
mod description;
mod elsewhere;
mod empty;
mod keywords;
mod method;
mod object_arc;
mod parent;
mod reflect;
mod register;
pub mod registration;
#[cfg(test)]
mod tests;

pub use abi_field::{AbiField, AbiReference, LayoutFallback, LayoutProbe};
pub use access::create;
#[cfg(not(feature = "client"))]
pub use binding::is_frozen;
pub use binding::{KeyBinding, is_bound, is_defined_in_rust};
pub use borrow::{ObjectBorrow, ObjectBorrowMut};
pub use description::{
    Class, ClassOptions, Default as FieldDefault, Field, FieldType, Method, MethodKind,
};
pub use elsewhere::{FieldLayout, claim_for_zeros};
pub use empty::{
    Empty, MakeEmpty, Probe, ProbeFallback, ZeroFallback, ZeroIsValid, ZeroProbe, initial,
};
pub use method::{MethodResult, constructor, method, shallow_copy};
pub use object_arc::{ObjectArc, ObjectRecordOf};
#[doc(hidden)]
pub use parent::{NotAClass, ParentOf};
pub use register::is_of_rust;

use core::marker::PhantomData;

use crate::error::Result;

/// The content of the objects of a class: a struct with `derive(Object)`.
///
/// # Safety
/// `class` must describe the layout of [`ObjectRecordOf<Self>`], and the parent's content, if there
/// is a parent, must be the first field of `Self`, at offset zero. `MUTABLE` must equal the
/// parent's.
///
/// # Upstream
/// `tvm::ffi::Object` in `object.h`; the registration is `reflection::ObjectDef` in
/// `reflection/registry.h`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a class of objects",
    note = "`#[derive(Object)]` with `#[object(key = \"...\")]` makes a struct a class"
)]
pub unsafe trait Object: Sized + Send + Sync + 'static {
    /// The type key of the class.
    const TYPE_KEY: &'static str;

    /// Whether objects may be borrowed exclusively.
    const MUTABLE: bool;

    /// Whether every field has an initial value, so that [`empty`](Object::empty) succeeds.
    const HAS_EMPTY: bool;

    /// Whether objects may be copied field by field.
    const COPIES: bool;

    /// Returns the static description of the class.
    fn class() -> &'static Class;

    /// Creates content with the defaults and initial values of its fields. `depth` is the number of
    /// objects that contain it.
    ///
    /// # Errors
    /// TypeError if a field has no initial value; the errors of [`Empty::empty`].
    fn empty(depth: u8) -> Result<Self>;

    /// Copies the content field by field, sharing the objects that it refers to. Returns `None` if
    /// the class or a parent does not permit copies.
    fn shallow_copy(&self) -> Option<Self>;

    /// Registers the class with its fields and methods, and its parents. The first use of the class
    /// does the same. Does nothing if the class is registered.
    ///
    /// # Errors
    /// TypeError if the key belongs to a built-in type or to another class of this program or
    /// library, or if another language or library has defined it with a layout that differs or that
    /// cannot be verified; MemoryError.
    ///
    /// # Threads
    /// Any. A thread that calls this while another one registers the class waits for it.
    fn register() -> Result<()> {
        Self::class().register()
    }

    /// Creates an object with this content.
    ///
    /// # Errors
    /// The errors of [`register`](Object::register).
    fn into_arc(self) -> Result<ObjectArc<Self>> {
        ObjectArc::new(self)
    }
}

/// A class whose objects are never borrowed exclusively, so that references dereference to the
/// content.
///
/// # Safety
/// `MUTABLE` must be `false`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is a mutable class, whose objects have to be borrowed",
    note = "`object.borrow()?` gives shared access to the content, `object.borrow_mut()?` exclusive access"
)]
pub unsafe trait Frozen: Object {}

/// A class whose objects may be borrowed exclusively.
///
/// # Safety
/// `MUTABLE` must be `true`.
#[diagnostic::on_unimplemented(
    message = "the objects of the class `{Self}` never change",
    note = "`#[object(mutable)]` on the struct, or `#[object(read_write)]` on a field, makes it a mutable class"
)]
pub unsafe trait Mutable: Object {}

/// A class derived from the class `Parent`, whose content is the first field of this one's.
///
/// # Safety
/// The content of `Parent` must be at offset zero of `Self`, and `Self::class` must name
/// `Parent::class` as an ancestor.
pub unsafe trait DerivedFrom<Parent: Object>: Object {}

/// Matches a value by type: the first arm whose type the value converts to.
///
/// The value is an [`Any`](crate::Any) or [`AnyView`](crate::AnyView), the patterns are names with
/// the types that they have, and the last arm is `else`. Conversions follow the rules of the types:
/// an integer converts to `f64`, so an arm for `i64` has to precede one for `f64`. An error of a
/// conversion, such as a MemoryError, counts as no match.
///
/// ```
/// use ferrite_core::{Any, String, match_type};
///
/// fn describe(value: &Any) -> &'static str {
///     match_type!(value, {
///         _number: i64 => "a number",
///         _text: String => "a string",
///         else => "something else",
///     })
/// }
/// assert_eq!(describe(&Any::from(2i64)), "a number");
/// assert_eq!(describe(&Any::NONE), "something else");
/// ```
#[macro_export]
macro_rules! match_type {
    (@arms $value:ident, else => $body:expr $(,)?) => { $body };
    (@arms $value:ident, $name:ident: $class:ty => $body:expr, $($rest:tt)+) => {
        if let Ok(Some($name)) = $value.try_get::<$class>() {
            $body
        } else {
            $crate::match_type!(@arms $value, $($rest)+)
        }
    };
    ($value:expr, { $($arms:tt)+ }) => {{
        let value = &$value;
        $crate::match_type!(@arms value, $($arms)+)
    }};
}

/// The methods of a class, which the attribute `object_methods` implements.
#[doc(hidden)]
pub trait ObjectMethods {
    /// Descriptions of the methods.
    const METHODS: &'static [Method];
}

/// Constant access to the methods of a class that may have none: `MethodsOf::<T>::METHODS`, for
/// concrete `T` and with [`NoMethods`] in scope.
#[doc(hidden)]
pub struct MethodsOf<T>(PhantomData<T>);

impl<T: ObjectMethods> MethodsOf<T> {
    /// The methods of the class.
    pub const METHODS: &'static [Method] = T::METHODS;
}

/// The constant of [`MethodsOf`] for classes without `object_methods`: inherent constants take
/// precedence over it.
#[doc(hidden)]
pub trait NoMethods {
    /// No methods.
    const METHODS: &'static [Method] = &[];
}

impl<T> NoMethods for MethodsOf<T> {}
