//! Containers in the formats of the crate `serde`. Their content is that of [`Any`]; reading
//! converts it to the types of the container.
#![forbid(unsafe_code)]

use core::result::Result;

use ferrite_core::value::any::Any;
use ferrite_core::value::convert::Value;
use serde_core::de::{Deserialize, Deserializer, Error};
use serde_core::ser::{Serialize, Serializer};

use super::{Array, Dict, List, Map};

macro_rules! containers {
    ($($name:ident<$($type:ident),*> from $first:ident, |$read:ident| $make:expr;)*) => {$(
        impl<$($type: Value),*> Serialize for $name<$($type),*> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                Any::from(self.clone()).serialize(serializer)
            }
        }

        impl<'de, $($type: Value),*> Deserialize<'de> for $name<$($type),*> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let value = Any::deserialize(deserializer)?;
                let made = $first::<$($type),*>::try_from(value).and_then(|$read| $make);
                made.map_err(|error| D::Error::custom(error.message()))
            }
        }
    )*};
}

containers! {
    Array<T> from Array, |array| Ok(array);
    List<T> from Array, |array| {
        let list = List::with_capacity(array.len())?;
        for element in array.iter() {
            list.push(element?)?;
        }
        Ok(list)
    };
    Map<K, V> from Map, |map| Ok(map);
    Dict<K, V> from Map, |map| {
        let dict = Dict::new()?;
        for entry in map.iter() {
            let (key, value) = entry?;
            dict.insert(key, value)?;
        }
        Ok(dict)
    };
}
