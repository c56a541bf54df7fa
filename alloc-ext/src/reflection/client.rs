//! Reflected classes of the loaded `libtvm_ffi`, by the names of their fields and methods.

use ferrite_core::abi::{TVMFFIObject, type_index};
use ferrite_core::error::Result;
use ferrite_core::object::{ObjectClass, ObjectRef};
use ferrite_core::object_class;
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::value::convert::FromAny;

use crate::containers::{Array, List, ListObject, key};
use crate::global_function::{ClassIndex, library_function};

#[path = "access_kind.rs"]
mod access_kind;
pub use access_kind::AccessKind;

static STEP: ClassIndex = ClassIndex::new("ffi.reflection.AccessStep");
static PATH: ClassIndex = ClassIndex::new("ffi.reflection.AccessPath");
static VISITOR: ClassIndex = ClassIndex::new("ffi.StructuralVisitor");
static MUTATOR: ClassIndex = ClassIndex::new("ffi.StructuralMutator");
static ERROR_CONTEXT: ClassIndex = ClassIndex::new("ffi.VisitErrorContext");

object_class! {
    /// Path from a value to a value inside it, such as `<root>.body[0]`.
    ///
    /// # Upstream
    /// `AccessPathObj` in `reflection/access_path.h`.
    pub struct AccessPath, PATH.get(), "ffi.reflection.AccessPath"
}

object_class! {
    /// One step of an [`AccessPath`].
    ///
    /// # Upstream
    /// `AccessStepObj` in `reflection/access_path.h`.
    pub struct AccessStep, STEP.get(), "ffi.reflection.AccessStep"
}

object_class! {
    /// Result that a callback returns to end a walk, with a value for the caller of the walk.
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
    pub struct VisitErrorContext, ERROR_CONTEXT.get(), "ffi.VisitErrorContext"
}

object_class! {
    /// Visitor of values, called through a function table that C++ code can also provide.
    ///
    /// # Upstream
    /// `StructuralVisitorObj` in `extra/structural_visit.h`.
    pub struct StructuralVisitor, VISITOR.get(), "ffi.StructuralVisitor"
}

object_class! {
    /// Mutator of values, called through a function table that C++ code can also provide.
    ///
    /// # Upstream
    /// `StructuralMutatorObj` in `extra/structural_mutate.h`.
    pub struct StructuralMutator, MUTATOR.get(), "ffi.StructuralMutator"
}

/// Memory layout of a [`VisitErrorContext`], which C++ code reads in place.
#[repr(C)]
struct ErrorContextRecord {
    header: TVMFFIObject,
    reverse_visit_pattern: ListObject,
}

/// Returns a field of an object of the library.
fn field<T: FromAny>(object: &impl ObjectClass, name: &str) -> Result<T> {
    object.as_object().field(name)?.into_value()
}

/// Calls a method of an object of the library.
fn method<T: FromAny>(object: &impl ObjectClass, name: &str, args: &[AnyView<'_>]) -> Result<T> {
    object.as_object().call_method(name, args)?.into_value()
}

impl AccessStep {
    /// Creates a step. The key is a String for a field, an int for an element, and any value for a
    /// map entry.
    ///
    /// # Errors
    /// MemoryError.
    pub fn new(kind: AccessKind, key: Any) -> Result<AccessStep> {
        let make = library_function!("ffi.MakeObjectFromPackedArgs");
        make.call((STEP.get(), "kind", kind as i32, "key", key))
    }

    /// Returns the [`AccessKind`] as a number, or any other number set by C code.
    pub fn kind(&self) -> i32 {
        field(self, "kind").unwrap_or(-1)
    }

    /// Returns the field name, element index or map key.
    pub fn key(&self) -> Any {
        field(self, "key").unwrap_or(Any::NONE)
    }

    /// Returns `true` if both steps have the same kind and equal keys.
    ///
    /// # Errors
    /// Errors of the keys' equality hook.
    pub fn step_equal(&self, other: &AccessStep) -> Result<bool> {
        Ok(self.kind() == other.kind() && key::equal(self.key().view(), other.key().view())?)
    }
}

impl AccessPath {
    /// Creates an empty path, to the root value.
    ///
    /// # Errors
    /// MemoryError.
    pub fn root() -> Result<AccessPath> {
        let make = library_function!("ffi.MakeObjectFromPackedArgs");
        make.call((PATH.get(), "parent", (), "step", (), "depth", 0))
    }

    /// Creates the path that extends this one by a step.
    ///
    /// # Errors
    /// MemoryError.
    pub fn extend(&self, step: AccessStep) -> Result<AccessPath> {
        method(self, "_extend", &[AnyView::from(&step)])
    }

    /// Creates the path that extends this one by a step of the given kind and key.
    ///
    /// # Errors
    /// MemoryError.
    pub fn access(&self, kind: AccessKind, key: Any) -> Result<AccessPath> {
        self.extend(AccessStep::new(kind, key)?)
    }

    /// Returns the number of steps.
    pub fn depth(&self) -> i32 {
        field(self, "depth").unwrap_or(0)
    }

    /// Returns the path without its last step, and the last step; `None` for the root.
    ///
    /// # Errors
    /// TypeError for a malformed path, which only C code can create.
    pub fn parent(&self) -> Result<Option<(AccessPath, AccessStep)>> {
        let parent: Option<AccessPath> = field(self, "parent")?;
        Ok(match parent {
            Some(parent) => Some((parent, field(self, "step")?)),
            None => None,
        })
    }

    /// Returns the steps, in order from the root.
    ///
    /// # Errors
    /// MemoryError; InternalError for a malformed path.
    pub fn to_steps(&self) -> Result<Array<AccessStep>> {
        method(self, "_to_steps", &[])
    }

    /// Returns `true` if both paths have the same length and equal steps.
    ///
    /// # Errors
    /// Errors of the equality hooks of keys; InternalError for a malformed path.
    pub fn path_equal(&self, other: &AccessPath) -> Result<bool> {
        method(self, "_path_equal", &[AnyView::from(other)])
    }

    /// Returns `true` if this path is a prefix of `other`, or equal to it.
    ///
    /// # Errors
    /// Errors of [`AccessPath::path_equal`].
    pub fn is_prefix_of(&self, other: &AccessPath) -> Result<bool> {
        method(self, "_is_prefix_of", &[AnyView::from(other)])
    }
}

impl VisitInterrupt {
    /// Creates an interrupt with a value for the caller of the walk.
    ///
    /// # Errors
    /// MemoryError.
    pub fn new(value: Any) -> Result<VisitInterrupt> {
        library_function!("ffi.VisitInterrupt").call((value,))
    }

    /// Returns the value for the caller of the walk.
    pub fn value(&self) -> Any {
        field(self, "value").unwrap_or(Any::NONE)
    }
}

impl VisitErrorContext {
    /// Returns the values on the path to the error, innermost first. Reading an entry that C++ code
    /// has set to null fails.
    pub fn reverse_visit_pattern(&self) -> List<ObjectRef> {
        let record: *const ErrorContextRecord = self.as_object().as_ptr().cast_const().cast();
        // SAFETY: objects of this class have this layout (ABI), and the reference keeps this one
        // alive.
        List::from_object_unchecked(unsafe { (*record).reverse_visit_pattern.clone() })
    }

    /// Returns the extra context that the error had before this one.
    pub fn prev_error_context(&self) -> Option<ObjectRef> {
        field(self, "prev_error_context").ok().flatten()
    }
}
