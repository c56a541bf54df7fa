//! Hash frame of an object, which is hashed field by field.
#![forbid(unsafe_code)]

use ferrite_core::abi::kTVMFFIFieldFlagBitMaskSEqHashIgnore;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::value::any::Any;

use super::super::hash_leaf::hash_leaf;
use crate::dataclass::combine;
use crate::structural::{DefRegion, StructuralKind};
use crate::walk::{Fields, MaybeOwned};

/// A hash of an object in progress.
pub(super) struct ObjectHashFrame<'w> {
    pub object: MaybeOwned<'w, ObjectRef>,
    pub identity: Identity,
    /// Definition region of the fields.
    region: DefRegion,
    fields: Fields,
    pub hash: u64,
}

/// Properties other than content that affect the hash of an object, or its caching.
#[derive(Clone, Copy)]
pub(super) struct Identity {
    pub kind: StructuralKind,
    /// Definition region that contains the object.
    pub region: DefRegion,
    /// Whether the hash must be cached.
    pub may_be_revisited: bool,
}

/// Initial state for hashing the fields of an object.
pub(super) struct ObjectStart {
    pub identity: Identity,
    /// Definition region of the fields.
    pub region: DefRegion,
    pub fields: Fields,
    pub hash: u64,
}

impl<'w> ObjectHashFrame<'w> {
    #[inline(always)]
    pub(super) fn new(object: MaybeOwned<'w, ObjectRef>, start: ObjectStart) -> Self {
        let ObjectStart { identity, region, fields, hash } = start;
        Self { object, identity, region, fields, hash }
    }

    /// Hashes leaves up to the next field value that is a container or object, and returns it with
    /// its definition region; `None` at the end.
    #[inline(always)]
    pub(super) fn next(
        &mut self,
        skip_tensor_content: bool,
    ) -> Result<Option<(ObjectRef, DefRegion)>> {
        let object: &ObjectRef = &self.object;
        for field in &mut self.fields {
            if field.flags() & i64::from(kTVMFFIFieldFlagBitMaskSEqHashIgnore) != 0 {
                continue;
            }
            let mut value = Any::NONE;
            field.read(object, &mut value)?;
            match hash_leaf(&value, skip_tensor_content)? {
                Some(hash) => self.hash = combine(self.hash, hash),
                None => {
                    let region = self.region.in_field(field.flags());
                    return Ok(value.into_object().ok().map(|object| (object, region)));
                }
            }
        }
        Ok(None)
    }
}
