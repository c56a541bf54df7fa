//! Generation of `__ffi_init__` from the registered fields of a type: positional and keyword
//! arguments, defaults and factories.

use ferrite_core::abi::{kTVMFFIFieldFlagBitMaskInitOff, kTVMFFIFieldFlagBitMaskKwOnly};
use ferrite_core::error::Result;
use ferrite_core::names::ffi_functions::kwargs_object;
use ferrite_core::names::type_table::{self, TypeEntry};
use ferrite_core::object::ObjectRef;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::text::Lossy;
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::{Error, Function, String, plain_bail, plain_ensure};

use super::fields::{RegisteredField, create_empty, fields_of, type_of};

/// Generates `__ffi_init__` for a type and registers it.
///
/// # Errors
/// InternalError for an unknown type; RuntimeError if the type already has an `__ffi_init__`;
/// MemoryError.
///
/// # Upstream
/// `RegisterFFIInit` in `dataclass.cc`.
pub(super) fn register_init(type_index: i32) -> Result<()> {
    let function = make_init(type_of(type_index)?)?;
    type_table::register_attr(type_index, b"__ffi_init__", AnyView::from(&function))
}

/// Generates `__ffi_init__` from the fields of a type.
///
/// # Errors
/// MemoryError.
pub(super) fn make_init(entry: &'static TypeEntry) -> Result<Function> {
    let init = AutoInit::new(entry)?;
    Function::from_packed(move |args| init.make(args))
}

/// State of a generated `__ffi_init__`: the fields that the type had when it was generated, and the
/// order of positional arguments.
struct AutoInit {
    entry: &'static TypeEntry,
    fields: Buffer<RegisteredField>,
    /// Indices in `fields` of the positional arguments: required arguments first.
    positional: Buffer<usize>,
}

/// An object under construction, with the fields set so far.
struct ObjectInit<'a> {
    init: &'a AutoInit,
    object: ObjectRef,
    is_set: Buffer<bool>,
}

impl AutoInit {
    fn new(entry: &'static TypeEntry) -> Result<AutoInit> {
        let (mut fields, mut positional) = (Buffer::new(), Buffer::new());
        for field in fields_of(entry) {
            fields.try_push(field)?;
        }
        for with_default in [false, true] {
            for (at, field) in fields.iter().enumerate() {
                let keyword_only = field.has_flag(kTVMFFIFieldFlagBitMaskKwOnly);
                if takes_argument(*field) && !keyword_only && field.has_default() == with_default {
                    positional.try_push(at)?;
                }
            }
        }
        Ok(AutoInit { entry, fields, positional })
    }

    fn make(&self, args: &[AnyView<'_>]) -> Result<Any> {
        let mut is_set = Buffer::new();
        is_set.try_resize(self.fields.len(), false)?;
        let mut binding = ObjectInit { init: self, object: create_empty(self.entry)?, is_set };
        let separator = kwargs_object();
        let is_separator = |arg: &AnyView<'_>| {
            arg.object_ptr().is_some_and(|object| object.as_ptr() == separator.as_ptr())
        };
        match args.iter().position(is_separator) {
            Some(at) => {
                binding.set_positional(&args[..at])?;
                binding.set_keywords(&args[at + 1..])?;
            }
            None => binding.set_positional(args)?,
        }
        binding.set_defaults()?;
        Ok(Any::from(binding.object))
    }

    fn key(&self) -> Lossy<'static> {
        Lossy(self.entry.type_key())
    }
}

fn takes_argument(field: RegisteredField) -> bool {
    !field.has_flag(kTVMFFIFieldFlagBitMaskInitOff)
}

impl ObjectInit<'_> {
    fn set_positional(&mut self, args: &[AnyView<'_>]) -> Result<()> {
        let init = self.init;
        // With keywords, upstream sets fields before it checks the count. The difference is not
        // observable, since the object is dropped.
        plain_ensure!(
            args.len() <= init.positional.len(),
            TYPE_ERROR,
            "{}.__ffi_init__() takes at most {} positional argument(s), but {} were given",
            init.key(),
            init.positional.len(),
            args.len()
        );
        init.positional.iter().zip(args).try_for_each(|(at, value)| self.set(*at, *value))
    }

    fn set_keywords(&mut self, args: &[AnyView<'_>]) -> Result<()> {
        plain_ensure!(
            args.len().is_multiple_of(2),
            TYPE_ERROR,
            "{}.__ffi_init__() KWARGS requires an even number of key-value arguments",
            self.init.key()
        );
        args.chunks_exact(2)
            .try_for_each(|pair| self.set_keyword(pair[0].get::<String>()?, pair[1]))
    }

    fn set_keyword(&mut self, name: String, value: AnyView<'_>) -> Result<()> {
        let init = self.init;
        let is_named =
            |field: &RegisteredField| takes_argument(*field) && field.name() == name.as_bytes();
        let Some(at) = init.fields.iter().rposition(is_named) else {
            plain_bail!(
                TYPE_ERROR,
                "{}.__ffi_init__() got an unexpected keyword argument '{}'",
                init.key(),
                &name
            );
        };
        plain_ensure!(
            !self.is_set[at],
            TYPE_ERROR,
            "{}.__ffi_init__() got multiple values for argument '{}'",
            init.key(),
            &name
        );
        self.set(at, value)
    }

    fn set(&mut self, at: usize, value: AnyView<'_>) -> Result<()> {
        let field = self.init.fields[at];
        // SAFETY: the object is an instance of the type and has no other reference.
        unsafe { field.set(&self.object, value) }
            .map_err(|error| self.nested(field, "field", error))?;
        self.is_set[at] = true;
        Ok(())
    }

    fn set_defaults(&self) -> Result<()> {
        let unset = self.init.fields.iter().zip(self.is_set.iter()).filter(|(_, is_set)| !**is_set);
        unset.map(|(field, _)| *field).try_for_each(|field| self.set_default(field))
    }

    fn set_default(&self, field: RegisteredField) -> Result<()> {
        if field.has_default() {
            // SAFETY: the object is an instance of the type and has no other reference.
            return unsafe { field.set_default(&self.object) }
                .map_err(|error| self.nested(field, "default for field", error));
        }
        // A field without argument and default keeps its initial value.
        plain_ensure!(
            !takes_argument(field),
            TYPE_ERROR,
            "{}.__ffi_init__() missing required {}argument: '{}'",
            self.init.key(),
            if field.has_flag(kTVMFFIFieldFlagBitMaskKwOnly) { "keyword-only " } else { "" },
            field.name()
        );
        Ok(())
    }

    /// Wraps the error of a setter or default factory in an error that names the field.
    fn nested(&self, field: RegisteredField, what: &str, error: Error) -> Error {
        let message = self.nested_message(field, what, &error);
        let nested = match message {
            Ok(message) => error.with_message(&message),
            Err(out_of_memory) => return out_of_memory,
        };
        nested.with_cause_and_context(Some(error), None)
    }

    fn nested_message(
        &self,
        field: RegisteredField,
        what: &str,
        error: &Error,
    ) -> Result<Buffer<u8>> {
        let mut text = Buffer::new();
        let head = [
            self.init.entry.type_key(),
            b".__ffi_init__() ",
            what.as_bytes(),
            b" '",
            field.name(),
            b"':",
        ];
        for part in head {
            text.try_extend_from_slice(part)?;
        }
        for line in error.message_bytes().split(|byte| *byte == b'\n') {
            text.try_extend_from_slice(b"\n  ")?;
            text.try_extend_from_slice(line)?;
        }
        Ok(text)
    }
}
