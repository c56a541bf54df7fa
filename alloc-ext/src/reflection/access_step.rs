//! Access steps: from a value to one of its fields, elements or entries.

use ferrite_core::abi::{kTVMFFISEqHashKindConstTreeNode, type_index};
use ferrite_core::error::Result;
use ferrite_core::platform::text::Writer;
use ferrite_core::value::any::Any;
use ferrite_core::{Function, String, object_class, plain_bail};

use super::AccessKind;
use super::class::{Class, attr};
use super::field::field;
use super::record::{self, Record, Reflected};
use crate::containers::key;

object_class! {
    /// One step of an [`AccessPath`](super::AccessPath).
    ///
    /// # Examples
    /// ```
    /// use ferrite_alloc_ext::reflection::{self, AccessKind, AccessStep};
    /// use ferrite_core::String;
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// reflection::install()?;
    /// let step = AccessStep::new(AccessKind::Attr, String::new("body")?.into())?;
    /// assert_eq!(step.kind(), AccessKind::Attr as i32);
    /// assert_eq!(step.key().get::<String>()?, "body");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Upstream
    /// `AccessStepObj` in `reflection/access_path.h`.
    pub struct AccessStep, CLASS.index(), "ffi.reflection.AccessStep"
}

/// Fields of an [`AccessStep`].
#[repr(C)]
#[derive(Clone)]
pub(crate) struct StepContent {
    /// An [`AccessKind`], or any other number set by C code.
    kind: i32,
    key: Any,
}

type StepRecord = Record<StepContent>;

pub(super) static CLASS: Class = Class {
    kind: kTVMFFISEqHashKindConstTreeNode,
    creator: Some(record::create::<AccessStep>),
    fields: &[
        field!(StepRecord, content.kind: i32, "kind", type_index::INT),
        field!(StepRecord, content.key: Any, "key", type_index::ANY),
    ],
    attrs: &[
        attr!("ffi.reflection.AccessStep", "__ffi_new__", record::new::<AccessStep>),
        attr!(
            "ffi.reflection.AccessStep",
            "__ffi_shallow_copy__",
            record::shallow_copy::<AccessStep>
        ),
        attr!("ffi.reflection.AccessStep", "__ffi_repr__", repr),
    ],
    ..Class::new("ffi.reflection.AccessStep", size_of::<StepRecord>())
};

// SAFETY: upstream's layout; values are sendable.
unsafe impl Reflected for AccessStep {
    type Content = StepContent;

    fn class() -> &'static Class {
        &CLASS
    }

    fn empty() -> Result<StepContent> {
        Ok(StepContent { kind: 0, key: Any::NONE })
    }
}

impl AccessStep {
    /// Creates a step. The key is a String for a field, an int for an element, and any value for a
    /// map entry.
    ///
    /// # Errors
    /// MemoryError.
    pub fn new(kind: AccessKind, key: Any) -> Result<AccessStep> {
        record::make(StepContent { kind: kind as i32, key })
    }

    /// Returns the [`AccessKind`] as a number, or any other number set by C code.
    pub fn kind(&self) -> i32 {
        record::content_of(self).kind
    }

    /// Returns the field name, element index or map key.
    pub fn key(&self) -> Any {
        record::content_of(self).key
    }

    /// Returns `true` if both steps have the same kind and equal keys.
    ///
    /// # Errors
    /// Errors of the keys' equality hook.
    pub fn step_equal(&self, other: &AccessStep) -> Result<bool> {
        let (left, right) = (record::content_of(self), record::content_of(other));
        Ok(left.kind == right.kind && key::equal(left.key.view(), right.key.view())?)
    }
}

/// Implements `__ffi_repr__`: formats the step as a suffix such as `.name` or `[0]`. `print`
/// formats keys.
fn repr(step: AccessStep, print: Function) -> Result<String> {
    let StepContent { kind, key } = record::content_of(&step);
    let printed = || print.call_packed(&[key.view()])?.get::<String>();
    match kind {
        0 => {
            let name = key.get::<String>()?;
            String::compose(&|out| {
                out.put(b".");
                out.put(name.as_bytes());
            })
        }
        1 | 4 => {
            let index = key.get::<i64>()?;
            item(kind == 4, &|out| out.put_number(index))
        }
        2 | 3 | 5 => {
            let shown = printed()?;
            item(kind != 2, &|out| out.put(shown.as_bytes()))
        }
        other => plain_bail!(INTERNAL_ERROR, "There is no access kind {}", other),
    }
}

/// Formats `[KEY]`, or `[<missing:KEY>]` for a missing item.
fn item(is_missing: bool, write_key: &dyn Fn(&mut Writer<'_>)) -> Result<String> {
    let (open, close): (&[u8], &[u8]) =
        if is_missing { (b"[<missing:", b">]") } else { (b"[", b"]") };
    String::compose(&|out| {
        out.put(open);
        write_key(out);
        out.put(close);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(kind: AccessKind, key: Any) -> Result<String> {
        let print = Function::from_typed(|_: Any| String::new("key"))?;
        repr(AccessStep::new(kind, key)?, print)
    }

    #[test]
    fn steps_are_written_by_kind() -> Result<()> {
        assert_eq!(shown(AccessKind::Attr, String::new("name")?.into())?, ".name");
        assert_eq!(shown(AccessKind::ArrayItem, Any::from(2i64))?, "[2]");
        assert_eq!(shown(AccessKind::MapItem, Any::NONE)?, "[key]");
        assert_eq!(shown(AccessKind::ArrayItemMissing, Any::from(2i64))?, "[<missing:2>]");
        assert_eq!(shown(AccessKind::MapItemMissing, Any::NONE)?, "[<missing:key>]");
        let error = shown(AccessKind::Attr, Any::from(1i64)).unwrap_err();
        assert_eq!(error.kind_bytes(), b"TypeError");
        Ok(())
    }

    #[test]
    fn steps_with_equal_keys_are_equal() -> Result<()> {
        let text = || String::new("a rather long name").map(Any::from);
        let step = AccessStep::new(AccessKind::Attr, text()?)?;
        assert!(step.step_equal(&AccessStep::new(AccessKind::Attr, text()?)?)?);
        assert!(!step.step_equal(&AccessStep::new(AccessKind::MapItem, text()?)?)?);
        assert!(!step.step_equal(&AccessStep::new(AccessKind::Attr, Any::NONE)?)?);
        Ok(())
    }
}
