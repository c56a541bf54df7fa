//! The global functions `ffi.Map*` and `ffi.Dict*`.

use ferrite_core::abi::type_index;
use ferrite_core::error::Result;
use ferrite_core::names::ffi_functions::invalid_object;
use ferrite_core::object::{ObjectClass, borrow};
use ferrite_core::plain_ensure;
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::value::convert::AnyCompatible;

use super::iteration;
use crate::containers::dict::access;
use crate::containers::table::{Table, build};
use crate::containers::{Dict, DictObject, MapObject, cell, key, missing_key};
use crate::operation::{
    self, Answer, Copying, Key, Operand, Operands, Operations, Parameter, Read,
};

pub(super) fn create_map(args: &[AnyView<'_>]) -> Result<Any> {
    create(type_index::MAP, args)
}

pub(super) fn create_dict(args: &[AnyView<'_>]) -> Result<Any> {
    create(type_index::DICT, args)
}

/// Creates a Map or Dict from alternating keys and values.
fn create(type_index: i32, args: &[AnyView<'_>]) -> Result<Any> {
    let (pairs, rest) = args.as_chunks();
    plain_ensure!(
        rest.is_empty(),
        INTERNAL_ERROR,
        "Check failed: args.size() % 2 == 0 (1 vs. 0) : "
    );
    build::of_pairs(type_index, pairs).map(Any::new)
}

/// An operation on a Map or Dict, with its operands.
#[derive(Clone, Copy)]
pub(super) enum Entries {
    Size(Operand<0, Shared>),
    ForwardIterFunctor(Operand<0, Shared>),
    GetItem(Operand<0, Shared>, Operand<1, Key>),
    GetItemOrMissing(Operand<0, Shared>, Operand<1, Key>),
    Count(Operand<0, Shared>, Operand<1, Key>),
    GetDictItem(Operand<0, Shared>, Operand<1, Key>),
    GetDictItemOrMissing(Operand<0, Shared>, Operand<1, Key>),
    CountInDict(Operand<0, Shared>, Operand<1, Key>),
    SetItem(This, Operand<1, Key>, Operand<2, Any>),
    Erase(This, Operand<1, Key>),
    Clear(This),
}
use Entries::*;

/// The dict that an operation changes.
type This = Operand<0, Dict>;

/// Reader of a Map or Dict argument that the operation does not change.
pub(crate) enum Shared {}

impl Read for Shared {
    type Value<'a> = MapOrDict<'a>;

    #[inline(always)]
    unsafe fn read<'a>(argument: &'a AnyView<'a>) -> MapOrDict<'a> {
        // SAFETY: the argument is a Map or a Dict, which have the same layout.
        MapOrDict(unsafe { operation::object(argument) })
    }
}

/// A borrowed Map or Dict.
#[derive(Clone, Copy)]
pub(crate) struct MapOrDict<'a>(&'a DictObject);

impl<'a> MapOrDict<'a> {
    /// Returns the table. A Dict must be borrowed.
    #[inline(always)]
    fn table(self) -> Table<'a> {
        // SAFETY: both have a table; the callers borrow a Dict.
        unsafe { Table::of(self.0.as_object()) }
    }
}

// SAFETY: the type accepts Maps.
unsafe impl Parameter for MapObject {
    type Reader = Shared;
}

// SAFETY: the type accepts Dicts.
unsafe impl Parameter for DictObject {
    type Reader = Shared;
}

// SAFETY: the type accepts Dicts.
unsafe impl Parameter for Dict {
    type Reader = Self;
}

impl Read for Dict {
    type Value<'a> = &'a DictObject;

    #[inline(always)]
    unsafe fn read<'a>(argument: &'a AnyView<'a>) -> &'a DictObject {
        // SAFETY: the argument is a Dict.
        unsafe { operation::object(argument) }
    }
}

impl Entries {
    /// Returns the value for a key that is not present.
    ///
    /// # Errors
    /// KeyError, unless the operation returns a value.
    #[inline(always)]
    fn missing(self) -> Result<Any> {
        match self {
            GetItemOrMissing(..) | GetDictItemOrMissing(..) => Ok(invalid_object().into_any()),
            _ => Err(missing_key()),
        }
    }
}

impl Operations for Entries {
    // SAFETY: the caller passes a Map.
    const COPY: Option<Copying> =
        Some(|map| unsafe { DictObject::copy_of(operation::object(map)).map(Any::from) });

    #[cfg_attr(feature = "speed", inline(always))]
    fn run(self, operands: Operands<'_>, answer: Answer<'_>) -> Result<()> {
        let mut result = Any::NONE;
        match self {
            // SAFETY: the object is a Map or a Dict.
            Size(map) => unsafe {
                result = Any::from(Table::len_now(operands.get(map).0.as_object()) as i64);
            },
            // SAFETY: the object is a Map or a Dict.
            ForwardIterFunctor(map) => unsafe {
                result = iteration::functor(operands.get(map).0.as_object().clone())?;
            },
            GetItem(map, key) | GetItemOrMissing(map, key) => {
                let entry = operands.get(map).table().find_entry(operands.get(key).view())?;
                if let Some(entry) = entry {
                    // SAFETY: a Map does not change while it is shared; the cell of the answer is
                    // valid for writing.
                    unsafe { cell::share(entry.value(), answer.into_raw()) };
                    return Ok(());
                }
                result = self.missing()?;
            }
            GetDictItem(dict, key) | GetDictItemOrMissing(dict, key) => {
                let (dict, key) = (operands.get(dict), operands.get(key).view());
                let object = dict.0.as_object();
                // SAFETY: the object is a Dict; without a borrow, no user callback runs; the cell
                // of the answer is valid for writing.
                unsafe {
                    if key::may_call_hooks(key) || !borrow::is_readable_without(object)? {
                        let value = access::get(object, key)?;
                        answer.write(value.map_or_else(|| self.missing(), Ok)?);
                        return Ok(());
                    }
                    if let Some(entry) = dict.table().find_entry(key)? {
                        cell::share(entry.value(), answer.into_raw());
                        return Ok(());
                    }
                }
                result = self.missing()?;
            }
            Count(map, key) => {
                let entry = operands.get(map).table().find_entry(operands.get(key).view())?;
                result = Any::from(i64::from(entry.is_some()));
            }
            CountInDict(dict, key) => {
                let dict = operands.get(dict).0.as_object();
                // SAFETY: the object is a Dict.
                let value = unsafe { access::get(dict, operands.get(key).view())? };
                result = Any::from(i64::from(value.is_some()));
            }
            SetItem(dict, key, value) => {
                operands
                    .get(dict)
                    .insert(operands.get(key).to_owned()?, operands.get(value).to_owned()?)?;
            }
            Erase(dict, key) => {
                // SAFETY: the object is a Dict.
                drop(unsafe {
                    access::remove(operands.get(dict).as_object(), operands.get(key).view())?
                });
            }
            Clear(dict) => operands.get(dict).clear()?,
        }
        answer.write(result);
        Ok(())
    }
}
