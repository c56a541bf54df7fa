//! Conversions between containers and collections of the Rust standard library. They fail where
//! memory may be refused or elements may have other types.
#![forbid(unsafe_code)]

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::ops::Index;

use ferrite_core::error::{Error, Result};
use ferrite_core::value::any::Any;
use ferrite_core::value::convert::{FromAny, Value};

use super::{Array, Dict, List, Map};

/// Implements the conversions of a sequence, whose elements are converted from those of the vector,
/// slice or array.
macro_rules! sequences {
    ($($name:ident),*) => {$(
        impl<T: Value, U: Into<T>> TryFrom<Vec<U>> for $name<T> {
            type Error = Error;

            fn try_from(elements: Vec<U>) -> Result<Self> {
                Self::try_from_iter(elements.into_iter().map(Into::into))
            }
        }

        impl<T: Value, U: Into<T>, const N: usize> TryFrom<[U; N]> for $name<T> {
            type Error = Error;

            fn try_from(elements: [U; N]) -> Result<Self> {
                Self::try_from_iter(elements.into_iter().map(Into::into))
            }
        }

        impl<T: Value, U: Into<T> + Clone> TryFrom<&[U]> for $name<T> {
            type Error = Error;

            fn try_from(elements: &[U]) -> Result<Self> {
                Self::try_from_iter(elements.iter().cloned().map(Into::into))
            }
        }

        impl<T: Value> TryFrom<$name<T>> for Vec<T> {
            type Error = Error;

            fn try_from(elements: $name<T>) -> Result<Vec<T>> {
                elements.iter().collect()
            }
        }
    )*};
}

sequences!(Array, List);

/// Implements the conversions of a map, whose entries are converted from those of a Rust map or an
/// array of pairs.
macro_rules! maps {
    ($($name:ident),*) => {$(
        impl<K: Value, V: Value, L: Into<K>, W: Into<V>> TryFrom<BTreeMap<L, W>> for $name<K, V> {
            type Error = Error;

            fn try_from(entries: BTreeMap<L, W>) -> Result<Self> {
                Self::try_from_iter(entries.into_iter().map(|(key, value)| (key.into(), value.into())))
            }
        }

        impl<K: Value, V: Value, L: Into<K>, W: Into<V>, const N: usize> TryFrom<[(L, W); N]> for $name<K, V> {
            type Error = Error;

            fn try_from(entries: [(L, W); N]) -> Result<Self> {
                Self::try_from_iter(entries.into_iter().map(|(key, value)| (key.into(), value.into())))
            }
        }

        impl<K: Value + FromAny + Ord, V: Value> TryFrom<$name<K, V>> for BTreeMap<K, V> {
            type Error = Error;

            fn try_from(entries: $name<K, V>) -> Result<Self> {
                entries.iter().collect()
            }
        }

        #[cfg(feature = "std")]
        impl<K: Value, V: Value, L: Into<K>, W: Into<V>, S> TryFrom<std::collections::HashMap<L, W, S>> for $name<K, V> {
            type Error = Error;

            fn try_from(entries: std::collections::HashMap<L, W, S>) -> Result<Self> {
                Self::try_from_iter(entries.into_iter().map(|(key, value)| (key.into(), value.into())))
            }
        }

        #[cfg(feature = "std")]
        impl<K: Value + Eq + core::hash::Hash, V: Value> TryFrom<$name<K, V>> for std::collections::HashMap<K, V> {
            type Error = Error;

            fn try_from(entries: $name<K, V>) -> Result<Self> {
                entries.iter().collect()
            }
        }
    )*};
}

maps!(Map, Dict);

/// Borrows an element of an array of any values.
///
/// # Panics
/// If the index is not below the length, as with a slice; [`Array::get`] returns an error.
impl Index<usize> for Array<Any> {
    type Output = Any;

    fn index(&self, index: usize) -> &Any {
        &self.as_slice()[index]
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use std::string::String;
    use std::{format, vec};

    #[test]
    fn sequences_come_from_rust_and_go_back() -> Result<()> {
        let array: Array<i64> = vec![1, 2, 3].try_into()?;
        assert_eq!(Vec::try_from(array.clone())?, [1, 2, 3]);
        let texts: List<String> = ["a", "a text of more than seven bytes"].try_into()?;
        assert_eq!(Vec::try_from(texts)?, ["a", "a text of more than seven bytes"]);
        let any = Array::<Any>::try_from(&[1i32, -1][..])?;
        assert_eq!(any[1].get::<i64>()?, -1);
        assert_eq!(format!("{array:?}"), "[1, 2, 3]");
        Ok(())
    }

    #[test]
    fn maps_come_from_rust_and_go_back() -> Result<()> {
        let array: Array<i64> = vec![1, 2, 3].try_into()?;
        let map: Map<String, Any> =
            HashMap::from([("a", Any::from(1)), ("b", Any::from(array))]).try_into()?;
        assert_eq!(map.at("b")?.get::<Vec<i64>>()?, [1, 2, 3]);
        let dict: Dict<String, i64> = BTreeMap::from([("x", 1), ("y", 2)]).try_into()?;
        assert_eq!(HashMap::<String, i64>::try_from(dict.clone())?.get("y"), Some(&2));
        assert_eq!(format!("{dict:?}"), r#"{"x": 1, "y": 2}"#);
        assert_eq!(
            BTreeMap::try_from(Map::<i64, bool>::try_from([(2, true), (1, false)])?)?.len(),
            2
        );
        Ok(())
    }

    #[test]
    fn an_element_of_another_type_is_an_error_on_the_way_back() -> Result<()> {
        let mixed = Array::<Any>::try_from([Any::from(1), Any::from(1.5)])?;
        let numbers: Array<i64> = Array::from_object_unchecked(mixed.into_untyped());
        assert_eq!(Vec::try_from(numbers).unwrap_err().kind_bytes(), b"TypeError");
        Ok(())
    }

    #[test]
    #[should_panic(expected = "index out of bounds")]
    fn an_index_beyond_the_end_panics() {
        let array: Array<Any> = Array::new().expect("memory");
        let _ = &array[0];
    }
}
