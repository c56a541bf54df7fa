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
mod nullable;
mod py_class;
pub(crate) mod record;
mod releases;
mod storage;
mod visit;

#[cfg(test)]
mod init_tests;

use ferrite_core::abi::type_index;
use ferrite_core::error::Result;
use ferrite_core::names::builtins::StaticFunction;
use ferrite_core::names::type_table;
use ferrite_core::{AnyView, static_function};

use class::Class;

pub use access_kind::AccessKind;
pub use access_path::AccessPath;
pub use access_step::AccessStep;
pub use enums::{Enum, EnumState, IntEnum, StrEnum};
pub(crate) use fields::{create_empty, has_creator};
#[cfg(feature = "std")]
pub use releases::FUNCTIONS as RELEASE_FUNCTIONS;
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

/// Reflected classes, in the order of upstream's type indices. The structural key class comes after
/// them.
static CLASSES: [&Class; 10] = [
    &visit::INTERRUPT,
    &enums::STATE,
    &enums::ENUM,
    &enums::INT_ENUM,
    &enums::STR_ENUM,
    &access_step::CLASS,
    &access_path::CLASS,
    &visit::VISITOR,
    &visit::ERROR_CONTEXT,
    &visit::MUTATOR,
];

/// Registers the reflected classes and the attributes of built-in types, unless they are registered
/// already.
///
/// # Errors
/// MemoryError; registrations made before the error stay.
///
/// # Threads
/// Must be called before other threads use the library. Concurrent calls do not wait for each
/// other.
///
/// Allocates the records of the types and their functions, which are never freed.
pub fn install() -> Result<()> {
    for class in CLASSES {
        class.register_index()?;
    }
    for class in CLASSES {
        class.register()?;
    }
    for sealed in [type_index::MODULE, type_index::BIG_INT] {
        if type_table::attr(sealed, FINAL).is_none() {
            type_table::register_attr(sealed, FINAL, AnyView::from(true))?;
        }
    }
    releases::install()?;
    big_int::register()?;
    convert::register()
}

const FINAL: &[u8] = b"__ffi_type_final__";
