//! Registration of this library's own reflected classes in the type table.

use ferrite_core::abi::{TVMFFITypeMetadata, type_index};
use ferrite_core::error::Result;
use ferrite_core::names::type_table;
use ferrite_core::value::any::AnyView;

use super::class::{Class, FINAL};
use super::{access_path, access_step, big_int, convert, enums, field, releases, visit};

/// Reflected classes, in the order of upstream's type indices. The structural key class comes after
/// them.
pub(super) static CLASSES: [&Class; 10] = [
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
        register(class)?;
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

/// Registers the class with its fields, methods, attributes and metadata, unless the type
/// already has metadata.
///
/// Resumes an earlier registration that ran out of memory, or that another thread had not
/// finished when the process forked. Members that are registered already are skipped, which is
/// correct because no other code adds members before metadata.
///
/// # Errors
/// The errors of [`Class::register_index`].
pub(crate) fn register(class: &'static Class) -> Result<()> {
    let index = class.register_index()?;
    let Some(entry) = type_table::type_info(index).filter(|entry| entry.metadata().is_none())
    else {
        return Ok(());
    };
    let fields = releases::fields_of(class).iter();
    fields.skip(entry.fields().len()).try_for_each(|field| field.register(index))?;
    class
        .methods
        .iter()
        .skip(entry.methods().len())
        .try_for_each(|method| method.register(index))?;
    class.attrs.iter().try_for_each(|attr| attr.register_once(index))?;
    releases::register_copy_method(class)?;
    if type_table::attr(index, FINAL).is_none() {
        type_table::register_attr(index, FINAL, AnyView::from(class.is_final))?;
    }
    let metadata = TVMFFITypeMetadata {
        doc: field::text(""),
        creator: class.creator,
        total_size: class.size as i32,
        structural_eq_hash_kind: class.kind,
    };
    // SAFETY: there is no doc.
    unsafe { type_table::register_metadata(index, &metadata) }
}
