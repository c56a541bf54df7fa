//! Order of walks.
#![forbid(unsafe_code)]

/// Order of callbacks in a walk.
///
/// # Examples
/// ```
/// use ferrite_alloc_ext::json;
/// use ferrite_alloc_ext::structural::{Structural, WalkOrder};
/// use ferrite_core::Any;
///
/// # fn main() -> ferrite_core::Result<()> {
/// let value = json::parse(b"[[1], 2]")?;
/// let strings = |order| {
///     let mut strings = Vec::new();
///     let note = |node: &Any| json::stringify(node, None).map(|text| strings.push(text.to_string()));
///     value.structural_walk(order, note)?;
///     Ok::<_, ferrite_core::Error>(strings.join(" "))
/// };
/// assert_eq!(strings(WalkOrder::Pre)?, "[[1],2] [1] 1 2");
/// assert_eq!(strings(WalkOrder::Post)?, "1 [1] 2 [[1],2]");
/// # Ok(())
/// # }
/// ```
///
/// # Upstream
/// `WalkOrder` in `extra/structural_visit.h`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WalkOrder {
    /// Before the children of a node.
    Pre,
    /// After the children of a node.
    Post,
}
