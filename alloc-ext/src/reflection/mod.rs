//! Reflection: this library's own reflected classes, and the creation of objects of any class by
//! field names.
//!
//! | type | purpose |
//! |---|---|
//! | [`EnumState`], [`Enum`], [`IntEnum`], [`StrEnum`] | enum classes and their registries |
//! | [`AccessPath`], [`AccessStep`] | paths to nested values |
//! | [`VisitInterrupt`], [`VisitErrorContext`], [`StructuralVisitor`], [`StructuralMutator`] | objects used in structural walks |
//!
//! [`install`] registers these classes with their fields and methods. It must run before C++ or
//! Python code registers the first type, so that the classes get the same type indices as upstream.

mod access_kind;
mod access_path;
mod access_step;
mod big_int;
pub(crate) mod class;
mod convert;
mod enums;
pub(crate) mod field;
mod fields;
mod init;
mod make_object;
mod py_class;
pub(crate) mod record;
mod registration;
mod releases;
#[cfg(feature = "std")]
mod serve_release;
mod storage;
mod visit;

#[cfg(test)]
mod init_tests;

use ferrite_core::names::builtins::StaticFunction;
use ferrite_core::static_function;

pub use access_kind::AccessKind;
pub use access_path::AccessPath;
pub use access_step::AccessStep;
pub use enums::{Enum, EnumState, IntEnum, StrEnum};
pub(crate) use fields::{create_empty, has_creator};
pub use registration::install;
pub(crate) use registration::register;
#[cfg(feature = "std")]
pub use serve_release::FUNCTIONS as RELEASE_FUNCTIONS;
pub use visit::{StructuralMutator, StructuralVisitor, VisitErrorContext, VisitInterrupt};

/// Static function table of this module.
///
/// # Upstream
/// The registrations in `reflection_extra.cc` and `dataclass.cc`.
pub static FUNCTIONS: &[StaticFunction] = &[
    static_function!(packed "ffi.MakeObjectFromPackedArgs", make_object::make_object),
    static_function!("ffi.MakeFieldGetter", storage::make_getter),
    static_function!("ffi.MakeFieldSetter", storage::make_setter),
    static_function!("ffi._RegisterFFIInit", init::register_init),
    static_function!("ffi._PyClassRegisterTypeAttrColumns", py_class::register_class),
];
