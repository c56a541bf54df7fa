//! Iterator over the children of a visited value, with their definition regions.
#![forbid(unsafe_code)]

use ferrite_core::abi::{kTVMFFIFieldFlagBitMaskSEqHashIgnore, type_index};
use ferrite_core::error::Result;
use ferrite_core::names::type_table;
use ferrite_core::plain_bail;
use ferrite_core::platform::upstream_release;
use ferrite_core::value::any::Any;

use crate::containers::{ArrayObject, DictObject, ListObject, MapObject};
use crate::structural::{DefRegion, StructuralKind};
use crate::walk::Fields;

/// Iterator over the elements of a sequence, the values of a map (for earlier upstream releases
/// also its keys), or the fields of any other object.
///
/// Keeps the visited value alive and tolerates changes to it: removed elements and entries are
/// skipped, and added ones may or may not be visited.
pub(super) struct VisitChildren {
    children: VisitedChildren,
    region: DefRegion,
}

enum VisitedChildren {
    Array { array: ArrayObject, next: usize },
    List { list: ListObject, next: usize, len: usize },
    Map { map: MapObject, next: Option<u64>, halves: Halves },
    Dict { dict: DictObject, next: Option<u64>, halves: Halves },
    Fields { object: Any, fields: Fields },
}

/// Alternation between the keys and values of a map. Only values are visited, except for upstream
/// releases that visit each key before its value.
struct Halves {
    gives_keys: bool,
    key_is_given: bool,
}

impl Halves {
    fn new() -> Halves {
        Halves { gives_keys: upstream_release::visits_include_keys(), key_is_given: false }
    }

    /// Returns `true` if a key is visited next. Advances from key to value.
    fn take_key(&mut self) -> bool {
        self.key_is_given = self.gives_keys && !self.key_is_given;
        self.key_is_given
    }
}

impl VisitChildren {
    /// Creates an iterator over the children of a value in a region; `None` if the value is not an
    /// object.
    ///
    /// # Errors
    /// InternalError for an object of an unregistered type.
    pub(super) fn of(value: &Any, region: DefRegion) -> Result<Option<Self>> {
        let index = value.type_index();
        let children = match index {
            ..type_index::STATIC_OBJECT_BEGIN => return Ok(None),
            type_index::ARRAY => VisitedChildren::Array { array: value.get()?, next: 0 },
            type_index::LIST => {
                let list = value.get::<ListObject>()?;
                VisitedChildren::List { len: list.len(), list, next: 0 }
            }
            type_index::MAP => {
                let map = value.get::<MapObject>()?;
                VisitedChildren::Map { next: map.first_slot(), map, halves: Halves::new() }
            }
            type_index::DICT => {
                let dict = value.get::<DictObject>()?;
                VisitedChildren::Dict { next: dict.first_slot()?, dict, halves: Halves::new() }
            }
            _ => return Self::into_fields(value, region).map(Some),
        };
        Ok(Some(Self { children, region }))
    }

    fn into_fields(object: &Any, region: DefRegion) -> Result<Self> {
        let Some(entry) = type_table::type_info(object.type_index()) else {
            plain_bail!(INTERNAL_ERROR, "There is no type with index {}", object.type_index());
        };
        let is_variable = StructuralKind::of(entry) == Some(StructuralKind::FreeVar);
        let region = if is_variable { region.inside_variable() } else { region };
        Ok(Self {
            children: VisitedChildren::Fields { object: object.clone(), fields: Fields::of(entry) },
            region,
        })
    }

    /// Returns the next child and its definition region; `None` at the end.
    ///
    /// # Errors
    /// Errors of field getters; RuntimeError for a field without a getter.
    pub(super) fn next(&mut self) -> Result<Option<(Any, DefRegion)>> {
        let child = match &mut self.children {
            VisitedChildren::Array { array, next } => {
                *next += 1;
                array.as_slice().get(*next - 1).cloned()
            }
            VisitedChildren::List { list, next, len } => {
                *next += 1;
                // A callback may have shortened the list.
                if *next > *len { None } else { list.element(*next - 1)? }
            }
            VisitedChildren::Map { map, next, halves } => next.and_then(|place| {
                let (key, value) = map.entry_refs(place)?;
                if halves.take_key() {
                    return Some(key.clone());
                }
                *next = map.next_slot(place);
                Some(value.clone())
            }),
            VisitedChildren::Dict { dict, next, halves } => {
                let Some(place) = *next else { return Ok(None) };
                match dict.entry_at(place)? {
                    None => None,
                    Some((key, _)) if halves.take_key() => Some(key),
                    Some((_, value)) => {
                        *next = dict.next_slot(place)?;
                        Some(value)
                    }
                }
            }
            VisitedChildren::Fields { object, fields } => {
                return next_field(object, fields, self.region);
            }
        };
        Ok(child.map(|child| (child, self.region)))
    }
}

fn next_field(
    object: &Any,
    fields: &mut Fields,
    region: DefRegion,
) -> Result<Option<(Any, DefRegion)>> {
    let ignored = i64::from(kTVMFFIFieldFlagBitMaskSEqHashIgnore);
    let Some(field) = fields.find(|field| field.flags() & ignored == 0) else { return Ok(None) };
    let region = DefRegion::of_field(field.flags()).map_or(region, |inner| region.enter(inner));
    Ok(Some((field.get(object)?, region)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_before_values_where_a_release_gives_them() {
        let turns = |gives_keys| {
            let mut halves = Halves { gives_keys, key_is_given: false };
            [(); 4].map(|()| halves.take_key())
        };
        assert_eq!(turns(true), [true, false, true, false]);
        assert_eq!(turns(false), [false; 4]);
    }
}
