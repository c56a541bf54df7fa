//! The objects of structural walks: interrupts, the context of their errors, visitors and mutators.

use core::ffi::c_void;

use ferrite_core::abi::kTVMFFIFieldFlagBitMaskHasDefault;
use ferrite_core::any::Any;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::{object_class, type_index};

use super::class::{Class, attr};
use super::field::field;
use super::record::{self, Record, Reflected};
use crate::containers::List;

object_class! {
    /// What a callback answers to end a walk, with a value for whoever started it.
    ///
    /// # Upstream
    /// `VisitInterruptObj` in `extra/structural_visit.h`.
    pub struct VisitInterrupt, type_index::VISIT_INTERRUPT, "ffi.VisitInterrupt"
}

object_class! {
    /// Where a walk was when a callback failed; the extra context of its error.
    ///
    /// # Upstream
    /// `VisitErrorContextObj` in `extra/visit_error_context.h`.
    pub struct VisitErrorContext, ERROR_CONTEXT.index(), "ffi.VisitErrorContext"
}

object_class! {
    /// Visits values through its table of functions, which C++ code reads.
    ///
    /// # Upstream
    /// `StructuralVisitorObj` in `extra/structural_visit.h`.
    pub struct StructuralVisitor, VISITOR.index(), "ffi.StructuralVisitor"
}

object_class! {
    /// Rewrites values through its table of functions, which C++ code reads.
    ///
    /// # Upstream
    /// `StructuralMutatorObj` in `extra/structural_mutate.h`.
    pub struct StructuralMutator, MUTATOR.index(), "ffi.StructuralMutator"
}

/// The fields of a [`VisitInterrupt`].
#[repr(C)]
#[derive(Clone)]
pub(super) struct InterruptContent {
    value: Any,
}

/// The fields of a [`VisitErrorContext`].
#[repr(C)]
#[derive(Clone)]
pub(super) struct ErrorContextContent {
    /// The values on the way to the failure, innermost first.
    reverse_visit_pattern: List<ObjectRef>,
    prev_error_context: Option<ObjectRef>,
}

/// What visitors and mutators start with.
#[repr(C)]
#[derive(Clone)]
pub(super) struct WalkerContent {
    /// The table of functions, which outlives the object.
    vtable: *const c_void,
    /// Whether variables are defined at this place of the walk.
    def_region_kind: i32,
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
            content.reverse_visit_pattern: List<ObjectRef>,
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
        attr!("ffi.VisitErrorContext", "__ffi_shallow_copy__", record::shallow_copy::<VisitErrorContext>),
    ],
    ..Class::new("ffi.VisitErrorContext", size_of::<ErrorContextRecord>())
};

pub(super) static VISITOR: Class = Class {
    is_final: false,
    attrs: &[attr!(
        "ffi.StructuralVisitor",
        "__ffi_shallow_copy__",
        record::shallow_copy::<StructuralVisitor>
    )],
    ..Class::new("ffi.StructuralVisitor", size_of::<Record<WalkerContent>>())
};

pub(super) static MUTATOR: Class = Class {
    is_final: false,
    attrs: &[attr!(
        "ffi.StructuralMutator",
        "__ffi_shallow_copy__",
        record::shallow_copy::<StructuralMutator>
    )],
    ..Class::new("ffi.StructuralMutator", size_of::<Record<WalkerContent>>())
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

// SAFETY: upstream's layout; references are sendable, and an optional one is a pointer that may be null.
unsafe impl Reflected for VisitErrorContext {
    type Content = ErrorContextContent;

    fn class() -> &'static Class {
        &ERROR_CONTEXT
    }

    fn empty() -> Result<ErrorContextContent> {
        Ok(ErrorContextContent { reverse_visit_pattern: List::new()?, prev_error_context: None })
    }
}

macro_rules! reflected_walker {
    ($name:ident, $class:ident) => {
        // SAFETY: upstream's layout; the table of functions belongs to no thread.
        unsafe impl Reflected for $name {
            type Content = WalkerContent;

            fn class() -> &'static Class {
                &$class
            }

            fn empty() -> Result<WalkerContent> {
                Ok(WalkerContent { vtable: core::ptr::null(), def_region_kind: 0 })
            }
        }
    };
}

reflected_walker!(StructuralVisitor, VISITOR);
reflected_walker!(StructuralMutator, MUTATOR);

impl VisitInterrupt {
    /// An interrupt with that value.
    ///
    /// # Errors
    /// MemoryError.
    pub fn new(value: Any) -> Result<VisitInterrupt> {
        record::make(InterruptContent { value })
    }

    /// The value for whoever started the walk.
    pub fn value(&self) -> Any {
        record::content_of(self).value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupt_carries_a_value() -> Result<()> {
        assert_eq!(VisitInterrupt::new(Any::from(4i64))?.value().get::<i64>()?, 4);
        Ok(())
    }
}
