//! Access paths: steps from a root value to a nested value, as linked lists that share their
//! prefixes.

use ferrite_core::abi::{kTVMFFISEqHashKindConstTreeNode, type_index};
use ferrite_core::error::Result;
use ferrite_core::object::{ObjectClass, ObjectRef};
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::any::Any;
use ferrite_core::{Error, Function, String, object_class, plain_error};

use super::class::{Class, attr, method};
use super::field::field;
use super::record::{self, Record, Reflected};
use super::{AccessKind, AccessStep};
use crate::containers::Array;

object_class! {
    /// Path from a root value to a nested value: a linked list of steps. Paths share their
    /// prefixes.
    ///
    /// # Examples
    /// ```
    /// use ferrite_alloc_ext::reflection::{self, AccessKind, AccessPath};
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// reflection::install()?;
    /// let path = AccessPath::root()?.access(AccessKind::ArrayItem, 0i64.into())?;
    /// assert_eq!(path.depth(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Upstream
    /// `AccessPathObj` in `reflection/access_path.h`.
    pub struct AccessPath, CLASS.index(), "ffi.reflection.AccessPath"
}

/// Fields of an [`AccessPath`].
#[repr(C)]
#[derive(Clone)]
pub(crate) struct PathContent {
    /// The path without its last step; `None` for the root.
    parent: Option<ObjectRef>,
    /// The last step; `None` for the root.
    step: Option<AccessStep>,
    /// Number of steps.
    depth: i32,
}

type PathRecord = Record<PathContent>;

pub(super) static CLASS: Class = Class {
    kind: kTVMFFISEqHashKindConstTreeNode,
    creator: Some(record::create::<AccessPath>),
    fields: &[
        field!(PathRecord, content.parent: Option<ObjectRef>, "parent", type_index::ANY),
        field!(PathRecord, content.step: Option<AccessStep>, "step", type_index::ANY),
        field!(PathRecord, content.depth: i32, "depth", type_index::INT),
    ],
    methods: &[
        method!(static "ffi.reflection.AccessPath", "_root", AccessPath::root),
        method!("ffi.reflection.AccessPath", "_extend", extend),
        method!("ffi.reflection.AccessPath", "_attr", attr),
        method!("ffi.reflection.AccessPath", "_array_item", array_item),
        method!("ffi.reflection.AccessPath", "_map_item", map_item),
        method!("ffi.reflection.AccessPath", "_attr_missing", attr_missing),
        method!("ffi.reflection.AccessPath", "_array_item_missing", array_item_missing),
        method!("ffi.reflection.AccessPath", "_map_item_missing", map_item_missing),
        method!("ffi.reflection.AccessPath", "_is_prefix_of", is_prefix_of),
        method!("ffi.reflection.AccessPath", "_to_steps", to_steps),
        method!("ffi.reflection.AccessPath", "_path_equal", path_equal),
    ],
    attrs: &[
        attr!("ffi.reflection.AccessPath", "__ffi_new__", record::new::<AccessPath>),
        attr!(
            "ffi.reflection.AccessPath",
            "__ffi_shallow_copy__",
            record::shallow_copy::<AccessPath>
        ),
        attr!("ffi.reflection.AccessPath", "__ffi_repr__", repr),
    ],
    ..Class::new("ffi.reflection.AccessPath", size_of::<PathRecord>())
};

// SAFETY: upstream's layout; an optional reference is a nullable pointer.
unsafe impl Reflected for AccessPath {
    type Content = PathContent;

    fn class() -> &'static Class {
        &CLASS
    }

    fn empty() -> Result<PathContent> {
        Ok(PathContent { parent: None, step: None, depth: 0 })
    }
}

impl AccessPath {
    /// Creates an empty path, to the root value.
    ///
    /// # Errors
    /// MemoryError.
    pub fn root() -> Result<AccessPath> {
        record::make(PathContent { parent: None, step: None, depth: 0 })
    }

    /// Creates the path that extends this one by a step.
    ///
    /// # Errors
    /// MemoryError.
    pub fn extend(&self, step: AccessStep) -> Result<AccessPath> {
        let depth = self.depth().saturating_add(1);
        record::make(PathContent {
            parent: Some(self.as_object().clone()),
            step: Some(step),
            depth,
        })
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
        record::content_of(self).depth
    }

    /// Returns the path without its last step, and the last step; `None` for the root.
    ///
    /// # Errors
    /// InternalError for a malformed path, which only C code can create.
    pub fn parent(&self) -> Result<Option<(AccessPath, AccessStep)>> {
        match record::content_of(self) {
            PathContent { parent: None, .. } => Ok(None),
            PathContent { parent: Some(parent), step: Some(step), .. } => {
                let parent = parent.downcast::<AccessPath>().map_err(|_| malformed())?;
                Ok(Some((parent, step)))
            }
            _ => Err(malformed()),
        }
    }

    /// Returns the steps, in order from the root.
    ///
    /// # Errors
    /// MemoryError; InternalError for a malformed path.
    pub fn to_steps(&self) -> Result<Array<AccessStep>> {
        let mut backwards = Buffer::new();
        let mut path = self.clone();
        while let Some((parent, step)) = path.parent()? {
            backwards.try_push(step)?;
            path = parent;
        }
        let mut steps = Array::with_capacity(backwards.len())?;
        while let Some(step) = backwards.pop() {
            steps.push(step)?;
        }
        Ok(steps)
    }

    /// Returns `true` if both paths have the same length and equal steps.
    ///
    /// # Errors
    /// Errors of the equality hooks of keys; InternalError for a malformed path.
    pub fn path_equal(&self, other: &AccessPath) -> Result<bool> {
        if self.depth() != other.depth() {
            return Ok(false);
        }
        let (mut left, mut right) = (self.clone(), other.clone());
        while !left.as_object().ptr_eq(right.as_object()) {
            let Some((left_parent, left_step)) = left.parent()? else { return Ok(true) };
            let (right_parent, right_step) = right.parent()?.ok_or_else(malformed)?;
            if !left_step.step_equal(&right_step)? {
                return Ok(false);
            }
            (left, right) = (left_parent, right_parent);
        }
        Ok(true)
    }

    /// Returns `true` if this path is a prefix of `other`, or equal to it.
    ///
    /// # Errors
    /// Errors of [`AccessPath::path_equal`].
    pub fn is_prefix_of(&self, other: &AccessPath) -> Result<bool> {
        let depth = self.depth();
        let mut beginning = other.clone();
        while beginning.depth() > depth {
            (beginning, _) = beginning.parent()?.ok_or_else(malformed)?;
        }
        self.path_equal(&beginning)
    }
}

fn malformed() -> Error {
    plain_error!(
        INTERNAL_ERROR,
        "Check failed: the access path has no step or no parent of its type"
    )
}

fn extend(path: AccessPath, step: AccessStep) -> Result<AccessPath> {
    path.extend(step)
}

fn attr(path: AccessPath, name: String) -> Result<AccessPath> {
    path.access(AccessKind::Attr, name.into())
}

fn array_item(path: AccessPath, index: i64) -> Result<AccessPath> {
    path.access(AccessKind::ArrayItem, index.into())
}

fn map_item(path: AccessPath, key: Any) -> Result<AccessPath> {
    path.access(AccessKind::MapItem, key)
}

fn attr_missing(path: AccessPath, name: String) -> Result<AccessPath> {
    path.access(AccessKind::AttrMissing, name.into())
}

fn array_item_missing(path: AccessPath, index: i64) -> Result<AccessPath> {
    path.access(AccessKind::ArrayItemMissing, index.into())
}

fn map_item_missing(path: AccessPath, key: Any) -> Result<AccessPath> {
    path.access(AccessKind::MapItemMissing, key)
}

fn is_prefix_of(path: AccessPath, other: AccessPath) -> Result<bool> {
    path.is_prefix_of(&other)
}

fn to_steps(path: AccessPath) -> Result<Array<AccessStep>> {
    path.to_steps()
}

fn path_equal(path: AccessPath, other: AccessPath) -> Result<bool> {
    path.path_equal(&other)
}

/// Implements `__ffi_repr__`: formats the root, then all steps by `print`.
fn repr(path: AccessPath, print: Function) -> Result<String> {
    let mut text = Buffer::new();
    text.try_extend_from_slice(b"<root>")?;
    for step in path.to_steps()?.as_slice() {
        let step = print.call_packed(&[step.view()])?.get::<String>()?;
        text.try_extend_from_slice(step.as_bytes())?;
    }
    String::from_bytes(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(steps: &[i64]) -> Result<AccessPath> {
        steps.iter().try_fold(AccessPath::root()?, |path, step| array_item(path, *step))
    }

    #[test]
    fn steps_come_from_the_root_on() -> Result<()> {
        let path = path(&[7, 8, 9])?;
        let keys = path
            .to_steps()?
            .iter()
            .map(|step| step?.key().get::<i64>())
            .collect::<Result<std::vec::Vec<_>>>()?;
        assert_eq!((keys.as_slice(), path.depth()), (&[7, 8, 9][..], 3));
        Ok(())
    }

    #[test]
    fn equal_steps_make_equal_paths() -> Result<()> {
        assert!(path(&[1, 2])?.path_equal(&path(&[1, 2])?)?);
        assert!(!path(&[1, 2])?.path_equal(&path(&[2, 2])?)?);
        assert!(!path(&[1])?.path_equal(&path(&[1, 2])?)?);
        Ok(())
    }

    #[test]
    fn prefixes_are_beginnings() -> Result<()> {
        assert!(path(&[1])?.is_prefix_of(&path(&[1, 2])?)?);
        assert!(AccessPath::root()?.is_prefix_of(&path(&[1])?)?);
        assert!(!path(&[2])?.is_prefix_of(&path(&[1, 2])?)?);
        assert!(!path(&[1, 2])?.is_prefix_of(&path(&[1])?)?);
        Ok(())
    }

    #[test]
    fn malformed_paths_are_refused() -> Result<()> {
        let step = AccessStep::new(AccessKind::ArrayItem, Any::from(1i64))?;
        let parent = Some(step.clone().into_object());
        let bad: AccessPath = record::make(PathContent { parent, step: Some(step), depth: 1 })?;
        assert_eq!(bad.to_steps().map(|_| ()).unwrap_err().kind_bytes(), b"InternalError");
        Ok(())
    }

    #[test]
    fn long_paths_are_released_without_recursion() -> Result<()> {
        let mut path = AccessPath::root()?;
        for index in 0..500 {
            path = array_item(path, index)?;
        }
        drop(path);
        Ok(())
    }
}
