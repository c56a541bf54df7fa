//! Lookup of the structural kinds of types.
#![forbid(unsafe_code)]

use ferrite_core::abi::{
    kTVMFFISEqHashKindConstTreeNode, kTVMFFISEqHashKindDAGNode, kTVMFFISEqHashKindFreeVar,
    kTVMFFISEqHashKindUniqueInstance, kTVMFFISEqHashKindUnsupported,
};
use ferrite_core::error::Result;
use ferrite_core::names::type_table::{self, TypeEntry};
use ferrite_core::{plain_bail, plain_error};

use super::StructuralKind;

impl StructuralKind {
    /// Returns the kind of a type; `None` for a type without metadata.
    #[expect(non_upper_case_globals, reason = "the constants are spelled as in C")]
    pub fn of(entry: &TypeEntry) -> Option<Self> {
        // Unknown numbers are tree nodes, like upstream.
        Some(match entry.metadata()?.structural_eq_hash_kind {
            kTVMFFISEqHashKindUnsupported => Self::Unsupported,
            kTVMFFISEqHashKindFreeVar => Self::FreeVar,
            kTVMFFISEqHashKindDAGNode => Self::DagNode,
            kTVMFFISEqHashKindConstTreeNode => Self::ConstTreeNode,
            kTVMFFISEqHashKindUniqueInstance => Self::UniqueInstance,
            _ => Self::TreeNode,
        })
    }

    /// Returns the type table entry and the kind of a type whose objects can be compared
    /// structurally.
    ///
    /// # Errors
    /// TypeError for a type without metadata or of kind `Unsupported`; InternalError for an
    /// unregistered type.
    pub fn of_comparable(type_index: i32) -> Result<(&'static TypeEntry, Self)> {
        let entry = type_table::type_info(type_index).ok_or_else(|| {
            plain_error!(INTERNAL_ERROR, "There is no type with index {}", type_index)
        })?;
        let lacks = match Self::of(entry) {
            None => "Type metadata is not set",
            Some(Self::Unsupported) => "_type_s_eq_hash_kind is not set",
            Some(kind) => return Ok((entry, kind)),
        };
        plain_bail!(
            TYPE_ERROR,
            "{} for type `{}`, so StructuralHash is not supported for this type",
            lacks,
            entry.type_key()
        )
    }
}

/// Cache of the last result of [`StructuralKind::of_comparable`], since consecutive objects often
/// have the same type.
#[derive(Default)]
pub struct KindCache {
    last: Option<(i32, &'static TypeEntry, StructuralKind)>,
}

impl KindCache {
    /// Looks up a type like [`StructuralKind::of_comparable`].
    ///
    /// # Errors
    /// Errors of [`StructuralKind::of_comparable`].
    #[inline]
    pub fn get(&mut self, type_index: i32) -> Result<(&'static TypeEntry, StructuralKind)> {
        if let Some((index, entry, kind)) = self.last
            && index == type_index
        {
            return Ok((entry, kind));
        }
        let (entry, kind) = StructuralKind::of_comparable(type_index)?;
        self.last = Some((type_index, entry, kind));
        Ok((entry, kind))
    }
}
