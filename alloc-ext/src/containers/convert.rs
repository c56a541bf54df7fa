//! Conversion of values to `Array<T>`, `Map<K, V>` and the other typed containers, and the
//! descriptions of type mismatches.
//!
//! A container is shared without a copy if all its elements already have the requested types.
//! Otherwise, and if the other class of the pair is given (List for Array, Dict for Map), the
//! result is a copy with converted elements.

use core::any::TypeId;

use ferrite_core::abi::{TVMFFIAny, TVMFFIObject, type_index};
use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;
use ferrite_core::platform::text::Writer;
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::value::convert::{AnyCompatible, FromAny, TypeText, Value};

use super::{Array, ArrayObject, Dict, DictObject, List, ListObject, Map, MapObject};

/// Dereferences an rvalue reference. Returns other values unchanged.
///
/// The conversion shares the object, and does not move it out of the caller's reference.
pub(crate) fn referent(view: AnyView<'_>) -> AnyView<'_> {
    if view.type_index() != type_index::OBJECT_RVALUE_REF {
        return view;
    }
    // SAFETY: an rvalue reference points to the caller's object pointer (ABI), which is null once
    // moved from.
    unsafe {
        let object = view.as_raw().payload.v_ptr.cast::<*mut TVMFFIObject>().read();
        if object.is_null() {
            return AnyView::NONE;
        }
        let mut cell = TVMFFIAny { type_index: (*object).type_index, ..TVMFFIAny::NONE };
        cell.payload.v_obj = object;
        AnyView::from_raw(cell)
    }
}

/// Returns `true` if `T` accepts every element or entry without conversion.
fn takes_all<T: 'static>() -> bool {
    TypeId::of::<T>() == TypeId::of::<Any>() || TypeId::of::<T>() == TypeId::of::<(Any, Any)>()
}

/// Returns `true` if a value already is a `T`: converting it yields bitwise the same value.
pub(super) fn is_a<T: Value>(value: &Any) -> Result<bool> {
    Ok(takes_all::<T>() || T::is_exact(value.as_view())?)
}

/// A source of elements: an Array or List.
enum ElementSource {
    Array(ArrayObject),
    List(ListObject),
}

impl ElementSource {
    fn of(view: AnyView<'_>) -> Result<Option<Self>> {
        if let Some(array) = ArrayObject::try_from_view(view)? {
            return Ok(Some(Self::Array(array)));
        }
        Ok(ListObject::try_from_view(view)?.map(Self::List))
    }

    fn len(&self) -> usize {
        match self {
            Self::Array(array) => array.len(),
            Self::List(list) => list.len(),
        }
    }

    /// Returns `true` if `test` returns `true` for all elements. Stops at the first `false` or
    /// error.
    fn all(&self, test: &mut dyn FnMut(&Any) -> Result<bool>) -> Result<bool> {
        match self {
            Self::Array(array) => {
                for value in array.as_slice() {
                    if !test(value)? {
                        return Ok(false);
                    }
                }
            }
            Self::List(list) => {
                // Conversions may run user callbacks, which may change the list: each element is
                // owned meanwhile.
                for value in (0..).map_while(|index| list.element(index).transpose()) {
                    if !test(&value?)? {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }
}

/// Appends a description such as `Array[index 1: int]` of the first element that does not convert
/// to `T`.
fn describe_elements<T: FromAny>(name: &str, elements: &ElementSource, out: &mut Writer<'_>) {
    out.put(name.as_bytes());
    let mut index = 0;
    // An error of a hook ends the text here.
    let _ = elements.all(&mut |value| {
        let fits = matches!(T::from_view(value.as_view()), Ok(Some(_)));
        if !fits {
            out.put(b"[index ");
            out.put_unsigned(index);
            out.put(b": ");
            T::describe(value.view(), out);
            out.put(b"]");
        }
        index += 1;
        Ok(fits)
    });
}

macro_rules! sequence_conversions {
    ($name:ident, $object:ident, $text:literal) => {
        // SAFETY: view and into_any return the value's own reference, as the trait requires.
        unsafe impl<T: Value> AnyCompatible for $name<T> {
            const TEXT: &'static TypeText =
                &TypeText::generic($text, $object::TYPE_KEY, &[T::TYPE]);

            fn view(&self) -> AnyView<'_> {
                self.as_untyped().view()
            }

            fn into_any(self) -> Any {
                self.into_untyped().into_any()
            }

            fn try_from_view(view: AnyView<'_>) -> Result<Option<Self>> {
                let view = referent(view);
                let Some(elements) = ElementSource::of(view)? else {
                    return Ok(None);
                };
                if let Some(object) = $object::try_from_view(view)?
                    && (takes_all::<T>() || elements.all(&mut is_a::<T>)?)
                {
                    return Ok(Some(Self::from_object_unchecked(object)));
                }
                #[allow(
                    unused_mut,
                    reason = "an Array is changed through its reference, a List through its object"
                )]
                let mut copy = Self::with_capacity(elements.len())?;
                let complete = elements.all(&mut |value| match T::from_view(value.as_view())? {
                    Some(value) => copy.push(value).map(|()| true),
                    None => Ok(false),
                })?;
                Ok(complete.then_some(copy))
            }

            fn describe_mismatch(view: AnyView<'_>, out: &mut Writer<'_>) {
                let elements =
                    if takes_all::<T>() { Ok(None) } else { ElementSource::of(referent(view)) };
                match elements {
                    Ok(Some(elements)) => describe_elements::<T>($text, &elements, out),
                    _ => $object::describe_mismatch(view, out),
                }
            }
        }
    };
}

sequence_conversions!(Array, ArrayObject, "Array");
sequence_conversions!(List, ListObject, "List");

/// A source of entries: a Map or Dict.
enum EntrySource {
    Map(MapObject),
    Dict(DictObject),
}

impl EntrySource {
    fn of(view: AnyView<'_>) -> Result<Option<Self>> {
        if let Some(map) = MapObject::try_from_view(view)? {
            return Ok(Some(Self::Map(map)));
        }
        Ok(DictObject::try_from_view(view)?.map(Self::Dict))
    }

    fn len(&self) -> usize {
        match self {
            Self::Map(map) => map.len(),
            Self::Dict(dict) => dict.len(),
        }
    }

    /// Returns `true` if `test` returns `true` for all entries. Stops at the first `false` or
    /// error.
    fn all(&self, test: &mut dyn FnMut(&Any, &Any) -> Result<bool>) -> Result<bool> {
        match self {
            Self::Map(map) => {
                for (key, value) in map.iter() {
                    if !test(key, value)? {
                        return Ok(false);
                    }
                }
            }
            Self::Dict(dict) => {
                for entry in dict.iter() {
                    let (key, value) = entry?;
                    if !test(&key, &value)? {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }
}

/// Appends a description such as `Map[some key is int, V]` of the first entry whose key does not
/// convert to `K` or whose value does not convert to `V`.
fn describe_entries<K: FromAny, V: FromAny>(
    name: &str,
    entries: &EntrySource,
    out: &mut Writer<'_>,
) {
    out.put(name.as_bytes());
    // An error of a hook ends the text here.
    let _ = entries.all(&mut |key, value| {
        if !matches!(K::from_view(key.as_view()), Ok(Some(_))) {
            out.put(b"[some key is ");
            K::describe(key.view(), out);
            out.put(b", V]");
            return Ok(false);
        }
        if !matches!(V::from_view(value.as_view()), Ok(Some(_))) {
            out.put(b"[K, some value is ");
            V::describe(value.view(), out);
            out.put(b"]");
            return Ok(false);
        }
        Ok(true)
    });
}

macro_rules! map_conversions {
    ($name:ident, $object:ident, $text:literal) => {
        // SAFETY: view and into_any return the value's own reference, as the trait requires.
        unsafe impl<K: Value, V: Value> AnyCompatible for $name<K, V> {
            const TEXT: &'static TypeText =
                &TypeText::generic($text, $object::TYPE_KEY, &[K::TYPE, V::TYPE]);

            fn view(&self) -> AnyView<'_> {
                self.as_untyped().view()
            }

            fn into_any(self) -> Any {
                self.into_untyped().into_any()
            }

            fn try_from_view(view: AnyView<'_>) -> Result<Option<Self>> {
                let view = referent(view);
                let Some(entries) = EntrySource::of(view)? else {
                    return Ok(None);
                };
                if let Some(object) = $object::try_from_view(view)?
                    && (takes_all::<(K, V)>()
                        || entries
                            .all(&mut |key, value| Ok(is_a::<K>(key)? && is_a::<V>(value)?))?)
                {
                    return Ok(Some(Self::from_object_unchecked(object)));
                }
                #[allow(
                    unused_mut,
                    reason = "a Map is changed through its reference, a Dict through its object"
                )]
                let mut copy = Self::with_capacity(entries.len())?;
                let complete = entries.all(&mut |key, value| match (
                    K::from_view(key.as_view())?,
                    V::from_view(value.as_view())?,
                ) {
                    (Some(key), Some(value)) => copy.insert(key, value).map(|()| true),
                    _ => Ok(false),
                })?;
                Ok(complete.then_some(copy))
            }

            fn describe_mismatch(view: AnyView<'_>, out: &mut Writer<'_>) {
                let entries =
                    if takes_all::<(K, V)>() { Ok(None) } else { EntrySource::of(referent(view)) };
                match entries {
                    Ok(Some(entries)) => describe_entries::<K, V>($text, &entries, out),
                    _ => $object::describe_mismatch(view, out),
                }
            }
        }
    };
}

map_conversions!(Map, MapObject, "Map");
map_conversions!(Dict, DictObject, "Dict");
