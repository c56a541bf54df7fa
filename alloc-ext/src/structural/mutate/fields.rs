//! Default mutation of objects without a hook: the rewritten fields are stored in a shallow copy.

use ferrite_core::abi::{kTVMFFIFieldFlagBitMaskSEqHashIgnore, type_index};
use ferrite_core::error::{Error, Result};
use ferrite_core::names::type_table;
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::{plain_bail, plain_error};

use super::mutator::{self, InplaceMode};
use super::node::{Node, Step};
use super::unchanged::{UNCHANGED, is_same, is_unchanged};
use crate::reflection::StructuralMutator;
use crate::structural::native;
use crate::structural::walker;
use crate::structural::{DefRegion, StructuralKind};
use crate::walk::{Field, Fields, ensure_unshared};

const SHALLOW_COPY: &str = "__ffi_shallow_copy__";

/// Outcome of starting the default mutation of a value that is not a container.
pub enum Begun {
    /// The result, known without visiting fields.
    Answer(Any),
    /// The object, whose fields have to be visited.
    Body(FieldsBody),
}

/// An object whose fields are being rewritten: an iterator over the fields, and the copy that
/// receives changes.
///
/// # Upstream
/// `MutateReflectedFieldsExpected` in `extra/structural_mutate.h`.
pub struct FieldsBody {
    /// Fields not visited yet.
    fields: Fields,
    field: Option<Field>,
    /// Value of the current field.
    value: Any,
    /// Shallow copy that receives changes. There is no other reference to it.
    copy: Any,
    is_changed: bool,
    kind: Option<StructuralKind>,
}

impl FieldsBody {
    /// Starts rewriting an object.
    ///
    /// A variable or graph node that was visited before has a result in the mutator's variable
    /// remap. A variable outside of its definition region stays unchanged.
    ///
    /// # Errors
    /// Errors of the mutator and of the type's shallow copy; TypeError if the type has none, or it
    /// does not return a distinct object of the same type; RuntimeError if the copy has other
    /// references; InternalError for an unregistered type.
    pub fn begin(mutator: &StructuralMutator, value: AnyView<'_>) -> Result<Begun> {
        let Some(entry) = type_table::type_info(value.type_index()) else {
            plain_bail!(INTERNAL_ERROR, "There is no type with index {}", value.type_index());
        };
        let kind = StructuralKind::of(entry);
        if has_identity(kind) {
            let known = mutator::var_remap_get(mutator, value)?;
            if !known.is_none() {
                return Ok(Begun::Answer(known));
            }
        }
        if kind == Some(StructuralKind::FreeVar) && !walker::region(mutator).defines() {
            return Ok(Begun::Answer(UNCHANGED));
        }
        Ok(Begun::Body(Self {
            fields: Fields::of(entry),
            field: None,
            value: Any::NONE,
            copy: shallow_copy(value)?,
            is_changed: false,
            kind,
        }))
    }

    /// Returns the next field value to rewrite, skipping those for which `is_kept` returns `true`,
    /// and sets its definition region. Returns `None` at the end.
    ///
    /// # Errors
    /// Errors of the getter; RuntimeError if the field has no getter.
    pub fn next<'a>(
        &mut self,
        mutator: &StructuralMutator,
        outer: DefRegion,
        is_kept: impl Fn(AnyView<'_>) -> bool,
    ) -> Result<Option<Node<'a>>> {
        let ignored = i64::from(kTVMFFIFieldFlagBitMaskSEqHashIgnore);
        while let Some(field) = self.fields.find(|field| field.flags() & ignored == 0) {
            self.value = field.get(&self.copy)?;
            if is_kept(self.value.view()) {
                continue;
            }
            self.field = Some(field);
            let inside = self.inside(outer);
            let region =
                DefRegion::of_field(field.flags()).map_or(inside, |asked| inside.enter(asked));
            walker::set_region(mutator, region);
            // SAFETY: this body holds the value until its result arrives.
            let value = unsafe { AnyView::from_raw(*self.value.as_raw()) };
            return Ok(Some(Node { value, mode: InplaceMode::Disallow, step: Step::Mutate }));
        }
        Ok(None)
    }

    /// Stores the result for the current field in the copy, if it changed.
    ///
    /// # Errors
    /// Errors of the setter; TypeError if the field has no setter.
    pub fn feed(
        &mut self,
        mutator: &StructuralMutator,
        outer: DefRegion,
        answer: Any,
    ) -> Result<()> {
        walker::set_region(mutator, self.inside(outer));
        let value = core::mem::take(&mut self.value);
        let Some(field) =
            self.field.filter(|_| !is_unchanged(&answer) && !is_same(answer.view(), value.view()))
        else {
            return Ok(());
        };
        if !field.has_setter() {
            return Err(read_only(field, self.copy.type_index()));
        }
        field.set(&self.copy, &answer)?;
        self.is_changed = true;
        Ok(())
    }

    /// Returns the result for the object, and stores it in the variable remap if the walk may reach
    /// the object again.
    ///
    /// # Errors
    /// Errors of the mutator.
    pub fn leave(
        &mut self,
        mutator: &StructuralMutator,
        outer: DefRegion,
        object: AnyView<'_>,
    ) -> Result<Any> {
        walker::set_region(mutator, outer);
        let answer = if self.is_changed { core::mem::take(&mut self.copy) } else { UNCHANGED };
        // Not stored for a variable that is defined once and stays unchanged: its uses find no
        // replacement, and stay unchanged, too.
        let is_once = self.kind == Some(StructuralKind::FreeVar) && outer != DefRegion::PATTERN;
        if has_identity(self.kind) && !(is_once && is_unchanged(&answer)) {
            mutator::var_remap_set(mutator, object, answer.view())?;
        }
        Ok(answer)
    }

    /// Returns the definition region of the fields, given the one that contains the object.
    fn inside(&self, outer: DefRegion) -> DefRegion {
        if self.kind == Some(StructuralKind::FreeVar) { outer.inside_variable() } else { outer }
    }
}

/// Returns `true` if objects of this kind are rewritten only once: all references to an object are
/// replaced by one result.
fn has_identity(kind: Option<StructuralKind>) -> bool {
    matches!(kind, Some(StructuralKind::FreeVar | StructuralKind::DagNode))
}

fn shallow_copy(value: AnyView<'_>) -> Result<Any> {
    let hook = type_table::attr(value.type_index(), SHALLOW_COPY.as_bytes());
    if hook.type_index() != type_index::FUNCTION {
        plain_bail!(TYPE_ERROR, "{} must be an ffi.Function", SHALLOW_COPY);
    }
    let copy = native::call_function(&hook.get()?, &[value])?;
    if copy.type_index() != value.type_index() || is_same(copy.view(), value) {
        plain_bail!(
            TYPE_ERROR,
            "Shallow copy callback must return a distinct object with the same type as its input"
        );
    }
    if let Some(object) = copy.as_object() {
        ensure_unshared(object, SHALLOW_COPY)?;
    }
    Ok(copy)
}

#[cold]
fn read_only(field: Field, type_index: i32) -> Error {
    plain_error!(
        TYPE_ERROR,
        "Cannot structurally mutate field `{}` of type `{}` because it does not define a setter",
        field.name(),
        type_table::type_key_of(type_index)
    )
}
