//! Kinds of access steps.
#![forbid(unsafe_code)]

/// Kind of an access step.
///
/// # Upstream
/// `AccessKind` in `reflection/access_path.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum AccessKind {
    /// A field, by name.
    Attr = 0,
    /// An element, by index.
    ArrayItem = 1,
    /// An entry, by key.
    MapItem = 2,
    /// A missing field, by name.
    AttrMissing = 3,
    /// A missing element, by index.
    ArrayItemMissing = 4,
    /// A missing entry, by key.
    MapItemMissing = 5,
}
