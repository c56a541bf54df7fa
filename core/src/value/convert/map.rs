//! Rust maps as values. They are read and created by the library's global functions, so every build
//! with containers supports them.
#![forbid(unsafe_code)]

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::value::owned_param;
use super::{Described, FromAny, FromView, IntoAny, TypeText};
use crate::abi::type_index;
use crate::call::function::Function;
use crate::error::{Result, out_of_memory};
use crate::value::any::{Any, AnyView};

/// Calls `each` with each entry of a Map or Dict until it returns `false`. Returns the last result
/// of `each`, `true` without entries, or `None` for other values.
fn for_each(
    view: &AnyView<'_>,
    each: &mut dyn FnMut(&Any, &Any) -> Result<bool>,
) -> Result<Option<bool>> {
    let (size, iterator) = match view.type_index() {
        type_index::MAP => ("ffi.MapSize", "ffi.MapForwardIterFunctor"),
        type_index::DICT => ("ffi.DictSize", "ffi.DictForwardIterFunctor"),
        _ => return Ok(None),
    };
    if Function::global(size)?.call_packed(&[*view])?.get::<i64>()? == 0 {
        return Ok(Some(true));
    }
    let next = Function::global(iterator)?.call_packed(&[*view])?.get::<Function>()?;
    loop {
        if !each(&next.call_packed(&[0i64.into()])?, &next.call_packed(&[1i64.into()])?)? {
            return Ok(Some(false));
        }
        if !next.call_packed(&[2i64.into()])?.get::<bool>()? {
            return Ok(Some(true));
        }
    }
}

/// Calls `each` with each entry of a Map or Dict, converted. Returns `false` if the value is
/// neither, or an entry does not convert.
fn for_each_as<K: FromAny, V: FromAny>(
    view: &AnyView<'_>,
    mut each: impl FnMut(K, V),
) -> Result<bool> {
    let whole = for_each(view, &mut |key, value| {
        let (Some(key), Some(value)) =
            (K::from_view(key.as_view())?, V::from_view(value.as_view())?)
        else {
            return Ok(false);
        };
        each(key, value);
        Ok(true)
    })?;
    Ok(whole == Some(true))
}

/// Returns the entries of a Map or Dict, or `None` for other values.
#[cfg(feature = "serde")]
pub(crate) fn entries_of(view: &AnyView<'_>) -> Result<Option<Vec<(Any, Any)>>> {
    let mut entries = Vec::new();
    let whole = for_each(view, &mut |key, value| {
        entries.try_reserve(1)?;
        entries.push((key.clone(), value.clone()));
        Ok(true)
    })?;
    Ok(whole.map(|_| entries))
}

/// Creates a Map of entries. `len` is their number.
pub(crate) fn map_of<K: IntoAny, V: IntoAny>(
    len: usize,
    entries: impl Iterator<Item = (K, V)>,
) -> Result<Any> {
    let mut values: Vec<Any> = with_capacity(2 * len)?;
    for (key, value) in entries {
        values.push(key.try_into_any()?);
        values.push(value.try_into_any()?);
    }
    let mut views = with_capacity(values.len())?;
    views.extend(values.iter().map(Any::view));
    Function::global("ffi.Map")?.call_packed(&views)
}

fn with_capacity<T>(len: usize) -> Result<Vec<T>> {
    let mut values = Vec::new();
    values.try_reserve_exact(len).map_err(|_| out_of_memory(len.saturating_mul(size_of::<T>())))?;
    Ok(values)
}

macro_rules! maps {
    ($([$($bound:tt)*] $name:ty;)*) => {$(
        impl<K: Described, V: Described, $($bound)*> Described for $name {
            const TYPE: &'static TypeText = &TypeText::generic("Map", "ffi.Map", &[K::TYPE, V::TYPE]);

            fn accepts(view: &AnyView<'_>) -> bool {
                matches!(
                    for_each(view, &mut |key, value| Ok(K::accepts(key.as_view()) && V::accepts(value.as_view()))),
                    Ok(Some(true))
                )
            }
        }
    )*};
}

maps! {
    [] BTreeMap<K, V>;
}

impl<'a, K: FromAny + Ord, V: FromAny> FromView<'a> for BTreeMap<K, V> {
    fn from_view(view: &'a AnyView<'a>) -> Result<Option<Self>> {
        let mut map = BTreeMap::new();
        let is_whole = for_each_as(view, |key, value| drop(map.insert(key, value)))?;
        Ok(is_whole.then_some(map))
    }

    fn is_exact(_: &'a AnyView<'a>) -> Result<bool> {
        Ok(false)
    }
}

owned_param!([K: FromAny + Ord, V: FromAny] BTreeMap<K, V>);

impl<K: IntoAny, V: IntoAny> IntoAny for BTreeMap<K, V> {
    fn try_into_any(self) -> Result<Any> {
        map_of(self.len(), self.into_iter())
    }
}

#[cfg(feature = "std")]
mod hashed {
    use super::*;
    use core::hash::{BuildHasher, Hash};
    use std::collections::HashMap;

    maps! {
        [S] HashMap<K, V, S>;
    }

    impl<'a, K: FromAny + Eq + Hash, V: FromAny, S: BuildHasher + Default> FromView<'a>
        for HashMap<K, V, S>
    {
        fn from_view(view: &'a AnyView<'a>) -> Result<Option<Self>> {
            let mut map = HashMap::default();
            let is_whole = for_each_as(view, |key, value| drop(map.insert(key, value)))?;
            Ok(is_whole.then_some(map))
        }

        fn is_exact(_: &'a AnyView<'a>) -> Result<bool> {
            Ok(false)
        }
    }

    owned_param!([K: FromAny + Eq + Hash, V: FromAny, S: BuildHasher + Default] HashMap<K, V, S>);

    impl<K: IntoAny, V: IntoAny, S> IntoAny for HashMap<K, V, S> {
        fn try_into_any(self) -> Result<Any> {
            map_of(self.len(), self.into_iter())
        }
    }
}
