//! Deep copies, which preserve sharing and cycles.
#![forbid(unsafe_code)]

use core::marker::PhantomData;
use core::ops::ControlFlow;

use ferrite_core::abi::type_index;
use ferrite_core::class;
use ferrite_core::error::{Error, Result};
use ferrite_core::names::type_table;
use ferrite_core::object::ObjectRef;
use ferrite_core::object::object_alloc::Chunks;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::{plain_bail, plain_error};

use super::enums::{enum_class, is_enum};
use crate::containers::{ArrayObject, DictObject, ListObject, MapObject};
use crate::walk::{
    Children, ChildrenKind, Entered, Fold, Hooks, IdentityMap, MaybeOwned, ensure_unshared, fold,
    for_each_field, prefetch_next,
};

const SHALLOW_COPY: &str = "__ffi_shallow_copy__";

/// Returns a deep copy of a value.
///
/// Containers are rebuilt. Other objects are copied by the `__ffi_shallow_copy__` hook of their
/// type, and all their fields, including read-only ones, are then replaced by copies. Strings,
/// bytes, shapes, big integers and enums are shared with the original. In a cycle, an Array or Map
/// that refers back to an Array or Map that is still being copied keeps the reference to the
/// original. A cycle through an object of a class in Rust that never changes is an error: other
/// code could see the copy before it is complete.
///
/// Allocation: on hosts, many Arrays and Maps share one [chunk](Chunks) of memory. An object that
/// outlives the others may keep up to 16 KiB alive.
///
/// # Errors
/// InternalError for an object whose type lacks the hook, such as a function or tensor;
/// RuntimeError for a hook whose copy has
/// other references, and for a cycle through an object of a class in Rust that never changes;
/// errors of hooks, getters and setters; ValueError beyond the maximum depth of [`crate::walk`];
/// MemoryError.
///
/// # Examples
/// ```
/// use ferrite_alloc_ext::containers::ListObject;
/// use ferrite_alloc_ext::dataclass;
/// use ferrite_core::value::any::Any;
///
/// # fn main() -> ferrite_core::error::Result<()> {
/// let list = ListObject::from_slice(&[Any::from(1i64)])?;
/// let copy: ListObject = dataclass::deep_copy(&Any::new(list.clone()))?.get()?;
/// copy.push(Any::from(2i64))?;
/// assert_eq!((list.len(), copy.len()), (1, 2));
/// # Ok(())
/// # }
/// ```
///
/// # Upstream
/// `DeepCopy` in `extra/dataclass.h`, which moves entries of cyclic Dicts to the end.
pub fn deep_copy(value: &Any) -> Result<Any> {
    let mut copier = Copier {
        borrowed: PhantomData,
        copies: IdentityMap::default(),
        hooks: Hooks::new(SHALLOW_COPY),
        enum_class: enum_class(),
        has_placeholders: false,
        last_type: (type_index::NONE, false),
        entries: Buffer::new(),
        chunks: Default::default(),
    };
    let object = match value.as_object() {
        Some(object) if !copier.is_shared(value) => object,
        _ => return Ok(value.clone()),
    };
    let copied = fold(&mut copier, MaybeOwned::Borrowed(object)).and_then(|copy| {
        if copier.has_placeholders {
            copier.replace_placeholders()?;
        }
        Ok(copy)
    });
    if copied.is_err() {
        copier.empty_copies();
    }
    copied
}

struct Copier<'w> {
    borrowed: PhantomData<&'w Any>,
    /// Copies of all mutable objects, and of all objects that the walk may reach again.
    copies: IdentityMap<Copy>,
    hooks: Hooks,
    enum_class: Option<i32>,
    /// Whether a copy contains a placeholder: a reference to an original that was not copied
    /// completely yet.
    has_placeholders: bool,
    /// Type index of the last object that a hook copied, and whether its class is
    /// [frozen](is_frozen).
    last_type: (i32, bool),
    /// Scratch buffer for the keys and values of a map that is copied in bulk.
    entries: Buffer<Any>,
    /// Memory that the copies of Arrays and Maps are allocated in.
    chunks: Chunks,
}

enum Copy {
    /// An Array or Map on the current path. Its copy is created after the copies of its elements.
    Open,
    /// An object of a frozen class on the current path. Nobody may reach its copy before all fields
    /// are set.
    Filling,
    Made(Any),
}

struct CopyFrame<'w> {
    children: Children<'w>,
    copy: Unfinished,
    /// Index of the object in `Copier::copies`, if it is there.
    place: Option<usize>,
    /// Copied key whose value is copied next.
    key: Option<Any>,
}

/// A copy that is being filled with copied children.
enum Unfinished {
    Array(ArrayObject),
    List(ListObject),
    Map(MapObject),
    Dict(DictObject),
    /// Object from the shallow-copy hook, whose fields are being replaced by copies.
    Object(Any),
    /// Object of a frozen class from the shallow-copy hook, which no other copy may reference
    /// before it is complete.
    Frozen(Any),
}

impl<'w> Fold for Copier<'w> {
    type Node = MaybeOwned<'w, ObjectRef>;
    type Frame = CopyFrame<'w>;
    type Value = Any;
    const NAME: &'static str = "ObjectGraphDFS";

    /// Enters an object that is not shared with the original. Never called with a leaf.
    fn enter(
        &mut self,
        object: MaybeOwned<'w, ObjectRef>,
        _: &mut Buffer<CopyFrame<'w>>,
    ) -> Result<Entered<CopyFrame<'w>, Any>> {
        match if object.is_unshared() { None } else { self.copies.get(&object) } {
            Some(Copy::Made(copy)) => return Ok(Entered::Value(copy.clone())),
            Some(Copy::Open) => {
                self.has_placeholders = true;
                return Ok(Entered::Value(Any::new(object.into_owned())));
            }
            Some(Copy::Filling) => return Err(frozen_cycle(object.type_index())),
            None => {}
        }
        let children = Children::of(object, 0)?;
        if let Some(copy) = self.copy_whole(&children)? {
            if !children.object().is_unshared() {
                self.copies.insert(children.object(), Copy::Made(copy.clone()))?;
            }
            return Ok(Entered::Value(copy));
        }
        let copy = self.begin(children.object(), children.len())?;
        let place = self.note(children.object(), copy.known())?;
        Ok(Entered::Frame(CopyFrame { children, copy, place, key: None }))
    }

    /// Returns the next child that must be copied. Adds the shared children before it to the copy.
    fn next(&mut self, frame: &mut CopyFrame<'w>) -> Result<Option<MaybeOwned<'w, ObjectRef>>> {
        while let Some(child) = frame.children.take() {
            if !self.is_shared(&child) {
                return Ok(child.into_object());
            }
            frame.add(child.into_owned())?;
        }
        Ok(None)
    }

    fn feed(&mut self, frame: &mut CopyFrame<'w>, copy: Any) -> Result<ControlFlow<Any>> {
        frame.add(copy)?;
        Ok(ControlFlow::Continue(()))
    }

    fn leave(&mut self, frame: &mut CopyFrame<'w>) -> Result<Any> {
        let copy = match &frame.copy {
            Unfinished::Array(array) => Any::new(array.clone()),
            Unfinished::Map(map) => Any::new(map.clone()),
            Unfinished::List(list) => return Ok(Any::new(list.clone())),
            Unfinished::Dict(dict) => return Ok(Any::new(dict.clone())),
            Unfinished::Object(object) => return Ok(object.clone()),
            Unfinished::Frozen(object) => object.clone(),
        };
        if let Some(place) = frame.place {
            self.copies.set_at(place, Copy::Made(copy.clone()));
        }
        Ok(copy)
    }

    fn abandon(&mut self, _: CopyFrame<'w>) {}
}

impl CopyFrame<'_> {
    /// Adds the copy of the last visited child.
    fn add(&mut self, copy: Any) -> Result<()> {
        match &mut self.copy {
            Unfinished::Array(array) => return array.push(copy),
            Unfinished::List(list) => return list.push(copy),
            Unfinished::Object(object) | Unfinished::Frozen(object) => {
                return set_field(object, &self.children, &copy);
            }
            Unfinished::Map(_) | Unfinished::Dict(_) => {}
        }
        let Some(key) = self.key.take() else {
            self.key = Some(copy);
            return Ok(());
        };
        match &mut self.copy {
            Unfinished::Map(map) => map.insert(key, copy).map(drop),
            Unfinished::Dict(dict) => dict.insert(key, copy).map(drop),
            _ => Ok(()),
        }
    }
}

/// Sets the last visited field to its copy, unless the copy is the same value.
fn set_field(object: &Any, children: &Children<'_>, copy: &Any) -> Result<()> {
    match children.last_field() {
        Some((field, original)) if !is_same(original, copy) => field.set(object, copy),
        _ => Ok(()),
    }
}

impl Unfinished {
    /// Returns the state to record for the object. An Array or Map has no copy yet that its own
    /// descendants could refer to.
    fn known(&self) -> Copy {
        match self {
            Self::Array(_) | Self::Map(_) => Copy::Open,
            Self::List(list) => Copy::Made(Any::new(list.clone())),
            Self::Dict(dict) => Copy::Made(Any::new(dict.clone())),
            Self::Object(object) => Copy::Made(object.clone()),
            Self::Frozen(_) => Copy::Filling,
        }
    }
}

impl Copier<'_> {
    /// Records the state of an object's copy, and returns its index. An unshared Array or Map is
    /// not recorded, since the walk cannot reach it again. Mutable objects are always recorded,
    /// because their copies may contain placeholders.
    fn note(&mut self, object: &MaybeOwned<'_, ObjectRef>, copy: Copy) -> Result<Option<usize>> {
        let is_fixed = matches!(object.type_index(), type_index::ARRAY | type_index::MAP);
        if is_fixed && object.is_unshared() {
            return Ok(None);
        }
        self.copies.insert_indexed(object, copy).map(Some)
    }

    /// Copies a sequence or Map in bulk if all its children are shared with the original; `None`
    /// otherwise. A Map must also have the layout that repeated insertion would give, as most do.
    fn copy_whole(&mut self, children: &Children<'_>) -> Result<Option<Any>> {
        let object = children.object();
        match children.kind {
            ChildrenKind::Sequence
                if children.contiguous().iter().all(|child| self.is_shared(child)) =>
            {
                Ok(Some(match object.type_index() {
                    type_index::ARRAY => Any::new(ArrayObject::from_slice_in(
                        children.contiguous(),
                        &mut self.chunks,
                    )?),
                    _ => Any::new(ListObject::from_slice(children.contiguous())?),
                }))
            }
            ChildrenKind::Map => match object.as_class::<MapObject>() {
                Some(map) if map.is_as_grown() => self.copy_map(map),
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// Copies a Map in bulk if all keys and values are shared with the original; `None` otherwise.
    fn copy_map(&mut self, map: &MapObject) -> Result<Option<Any>> {
        self.entries.clear();
        for (key, value) in map.iter() {
            for part in [key, value] {
                if !self.is_shared(part) {
                    return Ok(None);
                }
                self.entries.try_push(part.clone())?;
            }
        }
        Ok(map.with_same_keys(&mut self.entries, 0, &mut self.chunks)?.map(Any::new))
    }

    fn is_shared(&self, value: &Any) -> bool {
        prefetch_next(value);
        value.view().object_ptr().is_none()
            || matches!(
                value.type_index(),
                type_index::STR | type_index::BYTES | type_index::SHAPE | type_index::BIG_INT
            )
            || is_enum(value.type_index(), self.enum_class)
    }

    /// Creates the copy of an object, still without its children.
    fn begin(&mut self, object: &ObjectRef, child_count: usize) -> Result<Unfinished> {
        match object.type_index() {
            type_index::ARRAY => {
                ArrayObject::with_capacity_in(child_count, &mut self.chunks).map(Unfinished::Array)
            }
            type_index::LIST => ListObject::with_capacity(child_count).map(Unfinished::List),
            type_index::MAP => MapObject::with_capacity(0).map(Unfinished::Map),
            type_index::DICT => DictObject::with_capacity(0).map(Unfinished::Dict),
            other => match self.hooks.of_type(other)? {
                Some(hook) => {
                    let copy = checked_copy(hook.call_packed(&[AnyView::from(object)])?, other)?;
                    Ok(if self.is_frozen(other) {
                        Unfinished::Frozen(copy)
                    } else {
                        Unfinished::Object(copy)
                    })
                }
                None => plain_bail!(
                    INTERNAL_ERROR,
                    "Check failed: (copy_fn.has_value()) is false: Cannot deep copy object of type \"{}\" because it \
                     is not copy-constructible",
                    type_table::type_key_of(other)
                ),
            },
        }
    }

    /// Returns `true` if Rust code reads objects of the type without a borrow, so that their fields
    /// are set only while the walk alone can reach them.
    fn is_frozen(&mut self, index: i32) -> bool {
        if self.last_type.0 != index {
            self.last_type = (index, is_frozen(index));
        }
        self.last_type.1
    }

    /// Empties the copies of Lists and Dicts after a failure, so that cycles among them are
    /// released. A copy that a hook gave to another thread, which is using it, is left as it is.
    fn empty_copies(&self) {
        for place in 0..self.copies.len() {
            let Some(Copy::Made(copy)) = self.copies.value_at(place) else { continue };
            let Some(object) = copy.as_object() else { continue };
            if let Some(list) = object.as_class::<ListObject>() {
                let _ = list.clear();
            } else if let Some(dict) = object.as_class::<DictObject>() {
                let _ = dict.clear();
            }
        }
    }

    /// Replaces the placeholders in all mutable copies by references to copies.
    fn replace_placeholders(&self) -> Result<()> {
        for place in 0..self.copies.len() {
            let Some(Copy::Made(copy)) = self.copies.value_at(place) else { continue };
            match copy.type_index() {
                type_index::ARRAY | type_index::MAP => {}
                type_index::LIST => self.replace_in_list(&copy.get()?)?,
                type_index::DICT => self.replace_in_dict(&copy.get()?)?,
                _ => self.replace_in_fields(copy)?,
            }
        }
        Ok(())
    }

    /// Returns the copy of a value if the value is an original; `None` otherwise.
    fn copy_of(&self, value: &Any) -> Option<&Any> {
        value.view().object_ptr()?;
        match self.copies.get(value) {
            Some(Copy::Made(copy)) if !is_same(copy, value) => Some(copy),
            _ => None,
        }
    }

    fn replace_in_list(&self, list: &ListObject) -> Result<()> {
        (0..list.len() as i64).try_for_each(|index| match self.copy_of(&list.get(index)?) {
            Some(copy) => list.set(index, copy.clone()),
            None => Ok(()),
        })
    }

    fn replace_in_dict(&self, dict: &DictObject) -> Result<()> {
        let (mut entries, mut has_originals) = (Buffer::new(), false);
        for entry in dict.iter() {
            let (key, value) = entry?;
            has_originals |= self.copy_of(&key).or(self.copy_of(&value)).is_some();
            entries.try_push((key, value))?;
        }
        if !has_originals {
            return Ok(());
        }
        // Inserts all entries anew, to keep their order.
        dict.clear()?;
        entries.into_iter().try_for_each(|(key, value)| {
            let key = self.copy_of(&key).cloned().unwrap_or(key);
            dict.insert(key, self.copy_of(&value).cloned().unwrap_or(value))
        })
    }

    fn replace_in_fields(&self, object: &Any) -> Result<()> {
        let index = object.type_index();
        for_each_field(index, |field| match self.copy_of(&field.get(object)?) {
            Some(_) if is_frozen(index) => Err(frozen_cycle(index)),
            Some(copy) => field.set(object, copy),
            None => Ok(()),
        })
    }
}

/// Returns `true` if Rust code reads objects of the type without a borrow.
fn is_frozen(index: i32) -> bool {
    type_table::type_info(index).is_some_and(class::is_frozen)
}

#[cold]
fn frozen_cycle(index: i32) -> Error {
    plain_error!(
        RUNTIME_ERROR,
        "Cannot deep copy a cycle through an object of class `{}`, which never changes",
        type_table::type_key_of(index)
    )
}

/// Returns the result of a shallow-copy hook if its fields may be set: it has the type of the
/// original, else a TypeError, and no other references, else a RuntimeError.
fn checked_copy(copy: Any, expected: i32) -> Result<Any> {
    if copy.type_index() == expected {
        if let Some(object) = copy.as_object() {
            ensure_unshared(object, SHALLOW_COPY)?;
        }
        return Ok(copy);
    }
    plain_bail!(
        TYPE_ERROR,
        "{} of `{}` made a value of type `{}`",
        SHALLOW_COPY,
        type_table::type_key_of(expected),
        type_table::type_key_of(copy.type_index())
    )
}

/// Returns `true` if two values are bitwise equal.
fn is_same(lhs: &Any, rhs: &Any) -> bool {
    lhs.type_index() == rhs.type_index()
        && lhs.as_raw().small_str_len == rhs.as_raw().small_str_len
        && lhs.view().payload_bits() == rhs.view().payload_bits()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{add_hook, pair, pair_type, part, set_part};
    use super::*;
    use ferrite_core::call::function::Function;
    use ferrite_core::value::string::String;

    fn list(values: &[Any]) -> Result<Any> {
        ListObject::from_slice(values).map(Any::new)
    }

    /// Registers a class whose objects can be copied.
    fn copied_class(key: &str) -> Result<i32> {
        let index = pair_type(key, [0, 0])?;
        let hook =
            Function::from_typed(move |value: Any| pair(index, part(&value, 0), part(&value, 1)))?;
        add_hook(index, "__ffi_shallow_copy__", &hook)?;
        Ok(index)
    }

    #[test]
    fn containers_are_rebuilt_and_leaves_shared() -> Result<()> {
        let text = Any::new(String::new("longer than seven")?);
        let inner = list(&[text.clone(), Any::from(1i64)])?;
        let mut map = MapObject::with_capacity(0)?;
        map.insert(Any::from(1i64), inner.clone())?;
        map.insert(text.clone(), inner.clone())?;
        let copy: MapObject = deep_copy(&Any::new(map))?.get()?;
        let copied = copy.at(Any::from(1i64).view())?;
        assert!(!is_same(copied, &inner));
        assert!(is_same(copied, copy.at(text.view())?), "what was shared is shared");
        assert!(is_same(&copied.get::<ListObject>()?.get(0)?, &text));
        Ok(())
    }

    #[test]
    fn maps_are_copied_as_inserting_makes_them() -> Result<()> {
        for (len, room) in (0..40).flat_map(|len| [(len, 0), (len, 5), (len, 100)]) {
            let mut map = MapObject::with_capacity(room)?;
            let mut inserted = MapObject::with_capacity(0)?;
            for number in 0..len {
                map.insert(Any::from(number * 7919), Any::from(number))?;
                inserted.insert(Any::from(number * 7919), Any::from(number))?;
            }
            let copy: MapObject = deep_copy(&Any::new(map.clone()))?.get()?;
            assert_eq!((copy.len(), copy.is_as_grown()), (map.len(), len > 4));
            assert_eq!(inserted.is_as_grown(), len > 4);
            let entries = |map: &MapObject| -> std::vec::Vec<_> {
                map.iter()
                    .map(|(key, value)| (key.view().payload_bits(), value.view().payload_bits()))
                    .collect()
            };
            assert_eq!(entries(&copy), entries(&map));
            for number in 0..len {
                assert_eq!(copy.at(Any::from(number * 7919).view())?.get::<i64>()?, number);
            }
        }
        Ok(())
    }

    #[test]
    fn cycles_lead_to_copies_only() -> Result<()> {
        let inner = ListObject::with_capacity(0)?;
        let dict = DictObject::with_capacity(0)?;
        let array =
            Any::new(ArrayObject::from_slice(&[Any::new(inner.clone()), Any::new(dict.clone())])?);
        inner.push(array.clone())?;
        inner.push(Any::new(inner.clone()))?;
        dict.insert(Any::from(1i64), array.clone())?;
        dict.insert(Any::from(2i64), Any::NONE)?;
        let copy = deep_copy(&array)?;
        assert!(!is_same(&copy, &array));
        let elements: ArrayObject = copy.get()?;
        let copied: ListObject = elements.get(0)?.get()?;
        assert!(is_same(&copied.get(0)?, &copy) && is_same(&copied.get(1)?, elements.get(0)?));
        let copied: DictObject = elements.get(1)?.get()?;
        let entries = copied.iter().collect::<Result<std::vec::Vec<_>>>()?;
        assert!(is_same(&entries[0].1, &copy) && entries[1].1.is_none());
        for open in [&inner, &elements.get(0)?.get()?] {
            open.clear()?;
        }
        dict.clear()?;
        copied.clear()?;
        Ok(())
    }

    #[test]
    fn a_failed_copy_of_a_cycle_leaves_nothing_behind() -> Result<()> {
        let text = String::new("longer than seven")?;
        let function = Any::new(Function::from_typed(|| 1i64)?);
        let inner = ListObject::from_slice(&[Any::new(text.clone())])?;
        let dict = DictObject::with_capacity(0)?;
        dict.insert(Any::from(1i64), Any::new(inner.clone()))?;
        inner.push(Any::new(inner.clone()))?;
        inner.push(Any::new(dict.clone()))?;
        inner.push(function)?;
        let value = Any::new(text);
        let before = value.as_object().map(ObjectRef::strong_count);
        assert!(deep_copy(&Any::new(dict)).is_err(), "functions are not copied");
        assert_eq!(value.as_object().map(ObjectRef::strong_count), before);
        inner.clear()?;
        Ok(())
    }

    #[test]
    fn objects_are_copied_by_their_hooks() -> Result<()> {
        let index = copied_class("test.copy.Copied")?;
        let inner = list(&[])?;
        let object = pair(index, inner.clone(), Any::from(5i64))?;
        let copy = deep_copy(&object)?;
        assert!(!is_same(&copy, &object) && !is_same(&part(&copy, 0), &inner));
        assert_eq!(part(&copy, 1).get::<i64>()?, 5);
        set_part(&object, 0, Any::new(ArrayObject::from_slice(core::slice::from_ref(&object))?));
        let array = part(&object, 0);
        let copy = deep_copy(&array)?;
        let copied = copy.get::<ArrayObject>()?.get(0)?.clone();
        assert!(is_same(&part(&copied, 0), &copy));
        set_part(&object, 0, Any::NONE);
        set_part(&copied, 0, Any::NONE);
        Ok(())
    }

    #[test]
    fn objects_without_a_hook_are_refused() -> Result<()> {
        let function = Any::new(Function::from_typed(|| 1i64)?);
        let error = deep_copy(&list(&[function])?).map(drop).expect_err("functions are not copied");
        assert_eq!(error.kind_bytes(), b"InternalError");
        assert_eq!(
            error.message_bytes(),
            b"Check failed: (copy_fn.has_value()) is false: Cannot deep copy object of type \"ffi.Function\" because \
              it is not copy-constructible"
        );
        let index = pair_type("test.copy.Wrong", [0, 0])?;
        add_hook(index, "__ffi_shallow_copy__", &Function::from_typed(|_: Any| 1i64)?)?;
        let error = deep_copy(&pair(index, Any::NONE, Any::NONE)?)
            .map(drop)
            .expect_err("an int is no copy");
        assert_eq!(error.kind_bytes(), b"TypeError");
        Ok(())
    }
}
