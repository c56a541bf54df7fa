//! Structural kinds: how objects of a type are compared and hashed structurally.
#![forbid(unsafe_code)]

/// Structural kind of a type: how its objects are compared and hashed.
///
/// # Upstream
/// `TVMFFISEqHashKind` in `c_api.h`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StructuralKind {
    /// Cannot be compared or hashed structurally.
    Unsupported,
    /// Compared by content. Sharing is ignored.
    TreeNode,
    /// A variable. Equal to the variable that it is bound to, or to itself.
    FreeVar,
    /// Compared by content and sharing: a node corresponds to one node of the other value.
    DagNode,
    /// Compared by identity, then by content, which contains no variables.
    ConstTreeNode,
    /// Compared by identity.
    UniqueInstance,
}
