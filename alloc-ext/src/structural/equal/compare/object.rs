//! Comparison frame of two objects, which are compared field by field.
#![forbid(unsafe_code)]

use ferrite_core::abi::kTVMFFIFieldFlagBitMaskSEqHashIgnore;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::value::any::Any;
use ferrite_core::value::string::String;

use super::super::compare_leaf::compare_leaves;
use super::super::trace::Trace;
use super::pair::{NodePair, Pair};
use crate::reflection::AccessKind;
use crate::structural::{DefRegion, StructuralKind};
use crate::walk::{Field, Fields};

/// A comparison of two objects of the same type in progress.
pub(super) struct ObjectFrame<'w> {
    /// The objects, with the definition region that contains them.
    pub pair: NodePair<'w>,
    pub kind: StructuralKind,
    /// Definition region of the fields.
    region: DefRegion,
    fields: Fields,
    last: Option<Field>,
}

impl<'w> ObjectFrame<'w> {
    #[inline(always)]
    pub(super) fn new(
        pair: NodePair<'w>,
        kind: StructuralKind,
        region: DefRegion,
        fields: Fields,
    ) -> Self {
        Self { pair, kind, region, fields, last: None }
    }

    #[inline(always)]
    pub(super) fn next(
        &mut self,
        skip_tensor_content: bool,
        differs: &mut bool,
    ) -> Result<Option<Pair<ObjectRef>>> {
        let Pair { lhs: left, rhs: right, .. } = self.pair.borrowed();
        for field in &mut self.fields {
            if field.flags() & i64::from(kTVMFFIFieldFlagBitMaskSEqHashIgnore) != 0 {
                continue;
            }
            self.last = Some(field);
            // Fresh variables in each iteration, so that the compiler knows when they contain
            // numbers that need no drop.
            let mut lhs = Any::NONE;
            field.read(left, &mut lhs)?;
            let mut rhs = Any::NONE;
            field.read(right, &mut rhs)?;
            match compare_leaves(&lhs, &rhs, skip_tensor_content)? {
                Some(true) => {}
                Some(false) => {
                    *differs = true;
                    break;
                }
                None => {
                    let region = self.region.in_field(field.flags());
                    let Ok(lhs) = lhs.into_object() else { break };
                    let Ok(rhs) = rhs.into_object() else { break };
                    return Ok(Some(Pair { lhs, rhs, region }));
                }
            }
        }
        Ok(None)
    }

    /// Appends the path step to the field being compared.
    pub(super) fn trace(&self, trace: &mut Trace) -> Result<()> {
        let name = String::from_bytes(self.last.map_or(b"", Field::name))?;
        trace.push_same(AccessKind::Attr, name.into())
    }
}
