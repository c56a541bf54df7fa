//! Implementation of `ffi.MakeObjectFromPackedArgs`, which creates an object from field names and
//! values.

use ferrite_core::error::Result;
use ferrite_core::names::type_table::{self, TypeEntry};
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::{String, plain_bail, plain_error};

use super::fields::{create_empty, fields_of, type_of};

/// Creates an object. Arguments: the type, by index or key, then field names and values,
/// alternating.
///
/// # Errors
/// InternalError for an unknown type or a name without a value; TypeError for an unknown field, or
/// a field with neither a value nor a default; errors of [`create_empty`], setters and default
/// factories; MemoryError.
pub(super) fn make_object(args: &[AnyView<'_>]) -> Result<Any> {
    let odd = || plain_error!(INTERNAL_ERROR, "Check failed: (args.size() % 2 == 1) is false: ");
    let (class, pairs) = args.split_first().ok_or_else(odd)?;
    let entry = type_named(*class)?;
    if !pairs.len().is_multiple_of(2) {
        return Err(odd());
    }
    let object = create_empty(entry)?;
    let mut unused = Buffer::try_with_capacity(pairs.len() / 2)?;
    for pair in pairs.chunks_exact(2) {
        unused.try_push((pair[0].get::<String>()?, pair[1]))?;
    }
    for field in fields_of(entry) {
        let given = unused.iter().position(|(name, _)| name.as_bytes() == field.name());
        match given.and_then(|at| unused.remove(at)) {
            // SAFETY: the object is an instance of the type and has no other reference.
            Some((_, value)) => unsafe { field.set(&object, value)? },
            // SAFETY: as above.
            None if field.has_default() => unsafe { field.set_default(&object)? },
            None => plain_bail!(
                TYPE_ERROR,
                "Required field `{}` not set in type `{}`",
                field.name(),
                entry.type_key()
            ),
        }
    }
    match unused.first() {
        None => Ok(Any::from(object)),
        Some((name, _)) => {
            plain_bail!(TYPE_ERROR, "Type `{}` does not have field `{}`", entry.type_key(), name)
        }
    }
}

fn type_named(class: AnyView<'_>) -> Result<&'static TypeEntry> {
    if let Some(type_index) = class.try_get::<i32>()? {
        return type_of(type_index);
    }
    let key = class.get::<String>()?;
    match type_table::key_to_index(key.as_bytes()) {
        Some(index) => type_of(index),
        None => plain_bail!(INTERNAL_ERROR, "Cannot find type `{}`", &key),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reflection::register;
    use crate::reflection::visit::{INTERRUPT, VisitInterrupt};

    fn make(args: &[AnyView<'_>]) -> Result<VisitInterrupt> {
        let class = String::new("ffi.VisitInterrupt")?;
        let mut all = std::vec![AnyView::from(&class)];
        all.extend_from_slice(args);
        make_object(&all)?.get()
    }

    #[test]
    fn fields_are_given_by_name_and_bad_names_are_refused() -> Result<()> {
        register(&INTERRUPT)?;
        let name = String::new("value")?;
        assert_eq!(make(&[(&name).into(), 5i64.into()])?.value().get::<i64>()?, 5);
        assert!(make(&[])?.value().is_none());
        let nope = String::new("nope")?;
        let error = make(&[(&nope).into(), 5i64.into()]).unwrap_err();
        assert_eq!(error.message_bytes(), b"Type `ffi.VisitInterrupt` does not have field `nope`");
        assert_eq!(make(&[(&nope).into()]).unwrap_err().kind_bytes(), b"InternalError");
        Ok(())
    }
}
