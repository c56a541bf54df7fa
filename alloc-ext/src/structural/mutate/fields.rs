//! Objects without a hook: a shallow copy receives the rewritten fields.

use ferrite_core::abi::kTVMFFIFieldFlagBitMaskSEqHashIgnore;
use ferrite_core::any::{Any, AnyView};
use ferrite_core::error::{Error, Result};
use ferrite_core::{plain_bail, plain_error, type_index, type_table};

use super::mutation::{Node, Step};
use super::mutator::{self, InplaceMode};
use super::unchanged::{UNCHANGED, is_same, is_unchanged};
use crate::reflection::StructuralMutator;
use crate::structural::native;
use crate::structural::walker;
use crate::structural::{DefRegion, StructuralKind};
use crate::walk::{Field, Fields};

/// Outcome of entering an object or plain value with the default mutation.
pub enum Begun {
    /// The result, without visiting children.
    Answer(Any),
    /// Fields to visit.
    Body(FieldsBody),
}

/// Fields of an object that are being rewritten.
///
/// # Upstream
/// `MutateReflectedFieldsExpected` in `extra/structural_mutate.h`.
pub struct FieldsBody {
    /// Remaining fields.
    fields: Fields,
    field: Option<Field>,
    /// Value of the current field.
    value: Any,
    /// The copy that receives changes.
    copy: Any,
    is_changed: bool,
    kind: Option<StructuralKind>,
}

impl FieldsBody {
    /// Enters an object.
    ///
    /// Variables and shared nodes that were visited before have a result already. A variable that is used, not defined,
    /// stays unchanged.
    ///
    /// # Errors
    /// Errors of the mutator; TypeError if the type's shallow copy does not return a distinct object of the same type.
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

    /// Returns the next field value that may change, and sets its definition region.
    ///
    /// # Errors
    /// Errors of the getter.
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
            let region = DefRegion::of_field(field.flags()).map_or(inside, |asked| inside.enter(asked));
            walker::set_region(mutator, region);
            // SAFETY: this body holds the value until its result arrives.
            let value = unsafe { AnyView::from_raw(*self.value.as_raw()) };
            return Ok(Some(Node { value, mode: InplaceMode::Disallow, step: Step::Mutate }));
        }
        Ok(None)
    }

    /// Receives the new value of the current field.
    ///
    /// # Errors
    /// Errors of the setter; TypeError if there is none.
    pub fn feed(&mut self, mutator: &StructuralMutator, outer: DefRegion, answer: Any) -> Result<()> {
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

    /// Returns the result for the object, and stores it in the mutator if the walk may reach the object again.
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
        // Not stored for a variable that is defined once and stays unchanged: its uses find no replacement, and stay
        // unchanged, too.
        let is_once = self.kind == Some(StructuralKind::FreeVar) && outer != DefRegion::PATTERN;
        if has_identity(self.kind) && !(is_once && is_unchanged(&answer)) {
            mutator::var_remap_set(mutator, object, answer.view())?;
        }
        Ok(answer)
    }

    /// Returns the definition region of the fields.
    fn inside(&self, outer: DefRegion) -> DefRegion {
        if self.kind == Some(StructuralKind::FreeVar) { outer.inside_variable() } else { outer }
    }
}

/// Returns `true` if objects of this kind are rewritten once and share the result.
fn has_identity(kind: Option<StructuralKind>) -> bool {
    matches!(kind, Some(StructuralKind::FreeVar | StructuralKind::DagNode))
}

fn shallow_copy(value: AnyView<'_>) -> Result<Any> {
    let hook = type_table::attr(value.type_index(), b"__ffi_shallow_copy__");
    if hook.type_index() != type_index::FUNCTION {
        plain_bail!(TYPE_ERROR, "__ffi_shallow_copy__ must be an ffi.Function");
    }
    let copy = native::call_function(&hook.get()?, &[value])?;
    if copy.type_index() != value.type_index() || is_same(copy.view(), value) {
        plain_bail!(
            TYPE_ERROR,
            "Shallow copy callback must return a distinct object with the same type as its input"
        );
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
