//! Classes of the objects used in structural walks: interrupts, error contexts, visitors and
//! mutators.

use ferrite_core::abi::{kTVMFFIFieldFlagBitMaskHasDefault, type_index};
use ferrite_core::error::Result;
use ferrite_core::names::type_table;
use ferrite_core::object::ObjectRef;
use ferrite_core::platform::text::Lossy;
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::value::convert::{AnyCompatible, TypeText};
use ferrite_core::{object_class, plain_bail};

use super::class::{Class, attr};
use super::field::field;
use super::record::{self, Record, Reflected};
use crate::containers::List;
use crate::structural::walker::WalkerHead;

object_class! {
    /// Result that a callback returns to end a walk, with a value for the caller of the walk.
    ///
    /// # Examples
    /// ```
    /// use ferrite_alloc_ext::reflection::VisitInterrupt;
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let interrupt = VisitInterrupt::new(4i64.into())?;
    /// assert_eq!(interrupt.value().get::<i64>()?, 4);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Upstream
    /// `VisitInterruptObj` in `extra/structural_visit.h`.
    pub struct VisitInterrupt, type_index::VISIT_INTERRUPT, "ffi.VisitInterrupt"
}

object_class! {
    /// Extra context of an error: the position in a walk at which the error occurred.
    ///
    /// # Upstream
    /// `VisitErrorContextObj` in `extra/visit_error_context.h`.
    pub struct VisitErrorContext, ERROR_CONTEXT.index(), "ffi.VisitErrorContext"
}

object_class! {
    /// Visitor of values, called through a function table that C++ code can also provide.
    ///
    /// # Upstream
    /// `StructuralVisitorObj` in `extra/structural_visit.h`.
    pub struct StructuralVisitor, VISITOR.index(), "ffi.StructuralVisitor"
}

object_class! {
    /// Mutator of values, called through a function table that C++ code can also provide.
    ///
    /// # Upstream
    /// `StructuralMutatorObj` in `extra/structural_mutate.h`.
    pub struct StructuralMutator, MUTATOR.index(), "ffi.StructuralMutator"
}

/// Fields of a [`VisitInterrupt`].
#[repr(C)]
#[derive(Clone)]
pub(crate) struct InterruptContent {
    value: Any,
}

/// Fields of a [`VisitErrorContext`].
#[repr(C)]
#[derive(Clone)]
pub(crate) struct ErrorContextContent {
    /// Values on the path to the error, innermost first.
    reverse_visit_pattern: List<NullableObject>,
    prev_error_context: Option<ObjectRef>,
}

type InterruptRecord = Record<InterruptContent>;
type ErrorContextRecord = Record<ErrorContextContent>;

pub(super) static INTERRUPT: Class = Class {
    static_index: type_index::VISIT_INTERRUPT,
    creator: Some(record::create::<VisitInterrupt>),
    fields: &[field!(InterruptRecord, content.value: Any, "value", type_index::ANY)
        .with_flags(kTVMFFIFieldFlagBitMaskHasDefault)],
    attrs: &[
        attr!("ffi.VisitInterrupt", "__ffi_new__", record::new::<VisitInterrupt>),
        attr!("ffi.VisitInterrupt", "__ffi_shallow_copy__", record::shallow_copy::<VisitInterrupt>),
    ],
    ..Class::new("ffi.VisitInterrupt", size_of::<InterruptRecord>())
};

pub(super) static ERROR_CONTEXT: Class = Class {
    creator: Some(record::create::<VisitErrorContext>),
    fields: &[
        field!(
            ErrorContextRecord,
            content.reverse_visit_pattern: List<NullableObject>,
            "reverse_visit_pattern",
            type_index::LIST
        ),
        field!(
            ErrorContextRecord,
            content.prev_error_context: Option<ObjectRef>,
            "prev_error_context",
            type_index::ANY
        ),
    ],
    attrs: &[
        attr!("ffi.VisitErrorContext", "__ffi_new__", record::new::<VisitErrorContext>),
        attr!(
            "ffi.VisitErrorContext",
            "__ffi_shallow_copy__",
            record::shallow_copy::<VisitErrorContext>
        ),
    ],
    ..Class::new("ffi.VisitErrorContext", size_of::<ErrorContextRecord>())
};

pub(super) static VISITOR: Class = Class {
    is_final: false,
    attrs: &[attr!("ffi.StructuralVisitor", "__ffi_shallow_copy__", refuse_copy)],
    ..Class::new("ffi.StructuralVisitor", size_of::<WalkerHead>())
};

pub(super) static MUTATOR: Class = Class {
    is_final: false,
    attrs: &[attr!("ffi.StructuralMutator", "__ffi_shallow_copy__", refuse_copy)],
    ..Class::new("ffi.StructuralMutator", size_of::<WalkerHead>())
};

// SAFETY: upstream's layout; values are sendable.
unsafe impl Reflected for VisitInterrupt {
    type Content = InterruptContent;

    fn class() -> &'static Class {
        &INTERRUPT
    }

    fn empty() -> Result<InterruptContent> {
        Ok(InterruptContent { value: Any::NONE })
    }
}

// SAFETY: upstream's layout; references are sendable, and an optional one is a nullable pointer.
unsafe impl Reflected for VisitErrorContext {
    type Content = ErrorContextContent;

    fn class() -> &'static Class {
        &ERROR_CONTEXT
    }

    fn empty() -> Result<ErrorContextContent> {
        Ok(ErrorContextContent { reverse_visit_pattern: List::new()?, prev_error_context: None })
    }
}

/// Implements `__ffi_shallow_copy__` of visitors and mutators: always raises TypeError, since only
/// their creator knows the fields after the common part.
fn refuse_copy(walker: ObjectRef) -> Result<ObjectRef> {
    let key = Lossy(type_table::type_key_of(walker.type_index()));
    plain_bail!(TYPE_ERROR, "Objects of type `{}` belong to a walk and cannot be copied", key)
}

impl StructuralVisitor {
    /// Returns the type index of the class. Registers it on the first call.
    pub(crate) fn register_index() -> Result<i32> {
        VISITOR.register_index()
    }
}

impl StructuralMutator {
    /// Returns the type index of the class. Registers it on the first call.
    pub(crate) fn register_index() -> Result<i32> {
        MUTATOR.register_index()
    }
}

impl VisitErrorContext {
    /// Creates the context of an error that occurred in `node`. `previous` is the extra context
    /// that the error had before.
    ///
    /// # Errors
    /// MemoryError.
    pub fn new(node: ObjectRef, previous: Option<ObjectRef>) -> Result<VisitErrorContext> {
        let reverse_visit_pattern = List::try_from_iter([NullableObject(Some(node))])?;
        record::make(ErrorContextContent { reverse_visit_pattern, prev_error_context: previous })
    }

    /// Returns the values on the path to the error, innermost first. Reading an entry that C++ code
    /// has set to null fails.
    pub fn reverse_visit_pattern(&self) -> List<ObjectRef> {
        List::from_object_unchecked(record::content_of(self).reverse_visit_pattern.into_untyped())
    }

    /// Returns the extra context that the error had before this one.
    pub fn prev_error_context(&self) -> Option<ObjectRef> {
        record::content_of(self).prev_error_context
    }
}

impl VisitInterrupt {
    /// Creates an interrupt with a value for the caller of the walk.
    ///
    /// # Errors
    /// MemoryError.
    pub fn new(value: Any) -> Result<VisitInterrupt> {
        record::make(InterruptContent { value })
    }

    /// Returns the value for the caller of the walk.
    pub fn value(&self) -> Any {
        record::content_of(self).value
    }
}

/// A nullable reference to an object, named `ffi.Object` in error messages and schemas as upstream
/// does. Null converts to None.
///
/// # Upstream
/// `ObjectRef` in `object.h`.
struct NullableObject(Option<ObjectRef>);

// SAFETY: delegates to the inner option.
unsafe impl AnyCompatible for NullableObject {
    const TEXT: &'static TypeText = ObjectRef::TEXT;

    fn view(&self) -> AnyView<'_> {
        AnyView::from(&self.0)
    }

    fn into_any(self) -> Any {
        self.0.into()
    }

    fn try_from_view(view: AnyView<'_>) -> Result<Option<Self>> {
        Ok(view.try_get()?.map(Self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::containers::ListObject;

    #[test]
    fn an_interrupt_carries_a_value() -> Result<()> {
        assert_eq!(VisitInterrupt::new(Any::from(4i64))?.value().get::<i64>()?, 4);
        Ok(())
    }

    #[test]
    fn none_is_a_reference_and_an_int_is_not() -> Result<()> {
        let list = |value: Any| ListObject::from_slice(&[value]).map(Any::new);
        let none: List<NullableObject> = list(Any::NONE)?.get()?;
        assert!(none.get(0)?.0.is_none());
        let error = list(Any::from(1i64))?.get::<List<NullableObject>>().map(drop).unwrap_err();
        assert_eq!(
            error.message_bytes(),
            b"Cannot convert from type `List[index 0: int]` to `List<ffi.Object>`"
        );
        Ok(())
    }
}
