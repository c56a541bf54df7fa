//! Helpers for the tests of this folder: construction of values, and formatting of differences.

use ferrite_core::error::Result;
use ferrite_core::value::any::Any;
use ferrite_core::value::string::String;

pub(super) use super::walks::small as small_walk;
use super::{Options, first_structural_mismatch, structural_equal, structural_hash};
use crate::containers::{DictObject, MapObject};
use crate::reflection::AccessPath;

pub(super) const USED: Options = Options { map_free_vars: false, skip_tensor_content: false };

pub(super) const MAPPED: Options = Options { map_free_vars: true, skip_tensor_content: false };

pub(super) fn text(text: &str) -> Result<Any> {
    String::new(text).map(Any::new)
}

pub(super) fn map(entries: &[(Any, Any)]) -> Result<Any> {
    let mut map = MapObject::with_capacity(0)?;
    entries.iter().try_for_each(|(key, value)| map.insert(key.clone(), value.clone()))?;
    Ok(Any::new(map))
}

pub(super) fn dict(entries: &[(Any, Any)]) -> Result<Any> {
    let dict = DictObject::with_capacity(0)?;
    entries.iter().try_for_each(|(key, value)| dict.insert(key.clone(), value.clone()))?;
    Ok(Any::new(dict))
}

/// Returns `true` if two values are equal. Asserts that equal values have equal hashes and no
/// mismatch, and that both implementations agree.
pub(super) fn equal(lhs: &Any, rhs: &Any, options: Options) -> Result<bool> {
    let equal = structural_equal(lhs, rhs, options)?;
    assert_eq!(first_structural_mismatch(lhs, rhs, options)?.is_none(), equal);
    assert_eq!(small_walk::equal(lhs, rhs, options)?, equal);
    for side in [lhs, rhs] {
        assert_eq!(small_walk::hash(side, options)?, structural_hash(side, options)?);
    }
    if equal {
        assert_eq!(structural_hash(lhs, options)?, structural_hash(rhs, options)?);
    }
    Ok(equal)
}

/// Formats an access path as the kinds and keys of its steps.
pub(super) fn steps(path: &AccessPath) -> Result<std::string::String> {
    let mut text = std::string::String::new();
    for step in path.to_steps()?.iter() {
        let step = step?;
        let key = step.key();
        match key.try_get::<String>()? {
            Some(name) => text += &std::format!(" {}:{name}", step.kind()),
            None => text += &std::format!(" {}:{}", step.kind(), key.get::<i64>()?),
        }
    }
    Ok(text)
}

pub(super) fn difference(lhs: &Any, rhs: &Any) -> Result<[std::string::String; 2]> {
    let (lhs, rhs) = first_structural_mismatch(lhs, rhs, USED)?.expect("they differ");
    Ok([steps(&lhs)?, steps(&rhs)?])
}
