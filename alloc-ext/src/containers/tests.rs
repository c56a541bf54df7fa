//! Tests across containers: comparison with models, memory layouts, allocation failures, deep
//! nesting, conversions.

use std::string::ToString;
use std::vec::Vec;

use ferrite_core::error::{Error, Result};
use ferrite_core::object::ObjectClass;
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::value::convert::AnyCompatible;
use ferrite_core::value::string::String;

use super::faults;
use super::table::Table;
use super::{Array, Dict, DictObject, List, Map, MapObject, Tuple};

/// A pseudorandom number generator (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

const ROUNDS: usize = if cfg!(miri) { 400 } else { 10_000 };

/// Offset of `fib_shift` in a dense table object, after the deleter. The two ends of the order
/// follow.
const SHIFT: usize = 48 + size_of::<usize>();
const HEAD: usize = (SHIFT + 4).next_multiple_of(8);
const TAIL: usize = HEAD + 8;

fn word(object: &impl ObjectClass, offset: usize) -> u64 {
    field(object, offset)
}

fn field<T>(object: &impl ObjectClass, offset: usize) -> T {
    // SAFETY: tests ask for what lies inside the record.
    unsafe { object.as_object().as_ptr().byte_add(offset).cast::<T>().read() }
}

fn text(value: &str) -> Any {
    Any::new(String::new(value).expect("memory"))
}

/// Model of a map: a vector of entries. Setting an existing key keeps its position in the small
/// layout, and moves it to the end in the dense one.
#[derive(Default)]
struct Model {
    entries: Vec<(std::string::String, i64)>,
}

impl Model {
    fn insert(&mut self, key: &str, value: i64, dense: bool) {
        match self.entries.iter().position(|(known, _)| known == key) {
            Some(at) if dense => {
                let (key, _) = self.entries.remove(at);
                self.entries.push((key, value));
            }
            Some(at) => self.entries[at].1 = value,
            None => self.entries.push((key.to_string(), value)),
        }
    }

    fn remove(&mut self, key: &str) -> Option<i64> {
        let at = self.entries.iter().position(|(known, _)| known == key)?;
        Some(self.entries.remove(at).1)
    }
}

/// Returns a string key, either a small string or a string object.
fn key_of(number: u64) -> std::string::String {
    if number.is_multiple_of(3) {
        std::format!("k{number}")
    } else {
        std::format!("a longer key {number}")
    }
}

fn is_dense(slots: u64) -> bool {
    slots >> 63 == 0
}

fn plain(entries: impl Iterator<Item = (Any, Any)>) -> Vec<(std::string::String, i64)> {
    entries
        .map(|(key, value)| {
            let key = key
                .view()
                .bytes_of_string()
                .map(|bytes| std::string::String::from_utf8_lossy(bytes).into_owned());
            (key.unwrap_or_default(), value.get().unwrap_or(-1))
        })
        .collect()
}

#[test]
fn dicts_do_what_a_model_does() -> Result<()> {
    let mut random = Random(1);
    for spread in [6, 60, 2_000] {
        let dict = DictObject::with_capacity(0)?;
        let mut model = Model::default();
        for round in 0..ROUNDS {
            let key = key_of(random.below(spread));
            match random.below(8) {
                0..4 => {
                    // A dict of four entries becomes dense before anything is inserted.
                    dict.insert(text(&key), Any::from(round as i64))?;
                    model.insert(&key, round as i64, is_dense(word(&dict, 40)));
                }
                4..6 => {
                    let removed = dict
                        .remove(text(&key).view())?
                        .map(|value| value.get::<i64>())
                        .transpose()?;
                    assert_eq!(removed, model.remove(&key));
                }
                6 => {
                    let known = model
                        .entries
                        .iter()
                        .find(|(known, _)| *known == key)
                        .map(|(_, value)| *value);
                    assert_eq!(
                        dict.get(text(&key).view())?.map(|value| value.get::<i64>()).transpose()?,
                        known
                    );
                }
                _ => assert_eq!(dict.len(), model.entries.len()),
            }
            if round % 97 == 0 {
                assert_eq!(plain(dict.iter().flatten()), model.entries);
                assert_eq!(plain(dict.copy()?.iter().flatten()), model.entries);
            }
        }
        assert_eq!(plain(dict.iter().flatten()), model.entries);
        dict.clear()?;
        assert!(dict.is_empty() && dict.iter().next().is_none());
    }
    Ok(())
}

#[test]
fn maps_do_what_a_model_does_and_leave_copies_alone() -> Result<()> {
    let mut random = Random(2);
    let mut map = MapObject::with_capacity(0)?;
    let mut model = Model::default();
    let mut kept: Option<(MapObject, Vec<(std::string::String, i64)>)> = None;
    for round in 0..ROUNDS {
        let key = key_of(random.below(if round % 1000 < 500 { 5 } else { 300 }));
        if random.below(3) > 0 {
            map.insert(text(&key), Any::from(round as i64))?;
            model.insert(&key, round as i64, is_dense(word(&map, 40)));
        } else {
            let removed =
                map.remove(text(&key).view())?.map(|value| value.get::<i64>()).transpose()?;
            assert_eq!(removed, model.remove(&key));
        }
        if random.below(50) == 0
            && let Some((copy, entries)) = kept.replace((map.clone(), model.entries.clone()))
        {
            assert_eq!(
                plain(copy.iter().map(|(key, value)| (key.clone(), value.clone()))),
                entries
            );
        }
    }
    assert_eq!(plain(map.iter().map(|(key, value)| (key.clone(), value.clone()))), model.entries);
    Ok(())
}

#[test]
fn lists_do_what_a_vector_does() -> Result<()> {
    let mut random = Random(3);
    let list = List::<i64>::new()?;
    let mut model = Vec::new();
    for round in 0..ROUNDS as i64 {
        let at = random.below(model.len() as u64 + 1) as usize;
        match random.below(7) {
            0..3 => {
                list.insert(at, round)?;
                model.insert(at, round);
            }
            3 => {
                list.push(round)?;
                model.push(round);
            }
            4 if at < model.len() => assert_eq!(list.remove(at)?.get::<i64>()?, model.remove(at)),
            5 if at < model.len() && random.below(20) == 0 => {
                list.as_untyped().remove_range(at as i64, model.len() as i64)?;
                model.truncate(at);
            }
            _ => {
                list.reverse()?;
                model.reverse();
            }
        }
    }
    assert_eq!(list.iter().collect::<Result<Vec<_>>>()?, model);
    Ok(())
}

#[test]
fn tables_have_upstreams_slots() -> Result<()> {
    let dict = DictObject::with_capacity(0)?;
    let mut map = MapObject::with_capacity(0)?;
    assert_eq!((word(&map, 32), word(&map, 40), field::<usize>(&map, 48)), (0, (1 << 63) + 2, 0));
    assert_eq!(field::<usize>(&map, 24), map.as_object().as_ptr() as usize + 56);
    for count in 1..=100i64 {
        dict.insert(Any::from(count), Any::NONE)?;
        map.insert(Any::from(count), Any::NONE)?;
        // Read off upstream's library with the same keys; the load factor is not asked where the
        // home of a key is free.
        let slots = match count {
            1..=2 => (1 << 63) + 2,
            3..=4 => (1 << 63) + 4,
            5..=8 => 8,
            9..=16 => 16,
            17..=31 => 32,
            32..=63 => 64,
            _ => 128,
        };
        assert_eq!((word(&dict, 40), word(&map, 40)), (slots, slots), "{count} entries");
        if is_dense(slots) {
            assert_eq!(field::<u32>(&map, SHIFT), 64 - slots.trailing_zeros());
        }
    }
    for (expected, slots) in [(1, (1 << 63) + 2), (3, (1 << 63) + 3), (4, 8), (5, 16), (9, 32)] {
        assert_eq!(word(&MapObject::with_capacity(expected)?, 40), slots);
    }
    Ok(())
}

#[test]
fn tables_of_texts_have_upstreams_slots() -> Result<()> {
    let mut map = MapObject::with_capacity(0)?;
    let mut sizes = Vec::new();
    for number in 0..200u64 {
        let before = word(&map, 40);
        map.insert(text(&std::format!("a longer key {}", number * 7)), Any::NONE)?;
        if word(&map, 40) != before {
            sizes.push((number + 1, word(&map, 40) & !(1 << 63)));
        }
    }
    assert_eq!(sizes, [(3, 4), (5, 8), (8, 16), (16, 32), (32, 64), (64, 128), (127, 256)]);
    Ok(())
}

/// Matches upstream, which grows before it looks the key up.
#[test]
fn setting_a_key_in_a_full_small_table_makes_it_dense() -> Result<()> {
    let dict = DictObject::with_capacity(0)?;
    let mut map = MapObject::with_capacity(0)?;
    for (key, value) in [("a", 0), ("b", 1), ("c", 2), ("d", 3), ("a", 4)] {
        dict.insert(text(key), Any::from(value))?;
        map.insert(text(key), Any::from(value))?;
    }
    let entries =
        [("b", 1), ("c", 2), ("d", 3), ("a", 4)].map(|(key, value)| (key.to_string(), value));
    assert_eq!(plain(dict.iter().flatten()), entries);
    assert_eq!(plain(map.iter().map(|(key, value)| (key.clone(), value.clone()))), entries);
    assert_eq!((word(&dict, 40), word(&map, 40)), (8, 8));
    Ok(())
}

#[test]
fn dense_items_lie_where_upstream_looks_for_them() -> Result<()> {
    let mut map = MapObject::with_capacity(4)?;
    map.insert(Any::from(5i64), Any::from(50i64))?;
    let slot = 11_400_714_819_323_198_485u64.wrapping_mul(2_654_435_839) >> 61;
    assert_eq!((word(&map, HEAD), word(&map, TAIL)), (slot, slot));
    // SAFETY: the block starts with 16 metadata bytes, then items of 48 bytes.
    unsafe {
        let block = field::<*const u8>(&map, 24);
        assert_eq!(block.add(slot as usize).read(), 0);
        let item = block.add(16 + 48 * slot as usize).cast::<u64>();
        let words: Vec<u64> = (0..6).map(|index| item.add(index).read()).collect();
        // An int's type index is the first half of its cell.
        let int = if cfg!(target_endian = "little") { 1 } else { 1 << 32 };
        assert_eq!(words, [int, 5, int, 50, u64::MAX, u64::MAX]);
    }
    Ok(())
}

#[test]
fn equal_keys_of_different_types_are_apart() -> Result<()> {
    let dict = DictObject::with_capacity(0)?;
    for key in [
        Any::from(1i64),
        Any::from(1.0f64),
        Any::from(true),
        Any::NONE,
        text("1"),
        Any::from(f64::NAN),
    ] {
        dict.insert(key, Any::NONE)?;
    }
    assert_eq!(dict.len(), 6);
    assert!(dict.contains(AnyView::from(f64::NAN))?);
    assert!(!dict.contains(AnyView::from(0i64))?);
    Ok(())
}

#[test]
fn missing_keys_are_key_errors() -> Result<()> {
    let map = Map::<i64, i64>::new()?;
    let error = map.at(&1).expect_err("empty");
    assert_eq!(
        (error.kind_bytes(), error.message_bytes()),
        (&b"KeyError"[..], &b"key is not in Map"[..])
    );
    Ok(())
}

/// Returns an object whose reference count shows whether containers leak or lose references.
fn witness() -> Array<i64> {
    Array::from_slice(&[1]).expect("memory")
}

#[test]
fn refused_memory_leaves_dicts_as_they_were() {
    for entries in [0, 2, 4, 7, 31] {
        let seen = witness();
        let refusals = faults::with_every_refusal(|| {
            let Ok(dict) = DictObject::with_capacity(0) else { return };
            let mut inserted = 0;
            for key in 0..=entries {
                let before: Vec<_> =
                    dict.iter().flatten().map(|(key, _)| key.get::<i64>().unwrap_or(-1)).collect();
                if dict.insert(Any::from(key), Any::new(seen.clone())).is_err() {
                    let after: Vec<_> = dict
                        .iter()
                        .flatten()
                        .map(|(key, _)| key.get::<i64>().unwrap_or(-1))
                        .collect();
                    assert_eq!(before, after);
                    break;
                }
                inserted += 1;
            }
            for key in 0..inserted {
                assert!(matches!(dict.contains(AnyView::from(key)), Ok(true)));
            }
            assert_eq!(seen.as_untyped().as_object().strong_count(), 1 + inserted as u32);
        });
        assert!(refusals > 0);
        assert_eq!(seen.as_untyped().as_object().strong_count(), 1);
    }
}

#[test]
fn copies_count_entries_that_the_order_does_not_lead_to() -> Result<()> {
    let value = witness();
    let dict = DictObject::with_capacity(0)?;
    for key in 0..6i64 {
        dict.insert(Any::from(key), Any::new(value.clone().into_untyped()))?;
    }
    let strong_count = || value.as_untyped().as_object().strong_count();
    let before = strong_count();
    // So it is while C++ code clears a table whose items have destructors.
    // SAFETY: the object is a Dict without other users, hence its field is as valid as it is.
    let head = unsafe { &raw mut (*Table::of(dict.as_object()).fields()).iter_head };
    // SAFETY: as above; no reference to the field exists.
    let kept = unsafe { head.replace(u64::MAX) };
    drop(dict.copy()?);
    // SAFETY: as above.
    unsafe { head.write(kept) };
    assert_eq!((strong_count(), dict.len()), (before, 6));
    Ok(())
}

#[test]
fn a_dict_that_an_allocator_changes_is_not_copied() {
    std::thread_local!(static CHANGED: std::cell::Cell<Option<DictObject>> = const { std::cell::Cell::new(None) });
    let change = || {
        if let Some(dict) = CHANGED.take() {
            // SAFETY: the object is a Dict. C++ code changes it in place, whether or not it is
            // borrowed.
            let insert =
                |key| unsafe { super::table::insert(dict.as_object(), Any::from(key), Any::NONE) };
            let _ = (2..9i64).try_for_each(insert);
        }
    };
    faults::asked_while(change, || {
        let filled = || {
            let dict = DictObject::with_capacity(0)?;
            (0..2i64).try_for_each(|key| dict.insert(Any::from(key), Any::NONE))?;
            Ok(dict)
        };
        let Ok::<_, Error>(dict) = filled() else { return };
        CHANGED.set(Some(dict.clone()));
        let error = dict.copy().map(drop).unwrap_err();
        assert!([&b"MemoryError"[..], b"RuntimeError"].contains(&error.kind_bytes()));
    });
}

#[test]
fn refused_memory_leaves_maps_as_they_were() {
    let seen = witness();
    let refusals = faults::with_every_refusal(|| {
        let Ok(mut map) = MapObject::with_capacity(0) else { return };
        let mut shared = map.clone();
        for key in 0..20i64 {
            let count = map.len();
            if map.insert(Any::from(key), Any::new(seen.clone())).is_err() {
                assert_eq!(map.len(), count);
                assert!((0..key).all(|key| matches!(map.contains(AnyView::from(key)), Ok(true))));
                break;
            }
            if key % 7 == 0 {
                shared = map.clone();
            }
        }
        let _ = shared.clear();
    });
    assert!(refusals > 5);
    assert_eq!(seen.as_untyped().as_object().strong_count(), 1);
}

#[test]
fn refused_memory_leaves_sequences_as_they_were() {
    let seen = witness();
    faults::with_every_refusal(|| {
        let (Ok(mut array), Ok(list)) = (Array::<Array<i64>>::new(), List::<Array<i64>>::new())
        else {
            return;
        };
        let shared = array.clone();
        for count in 0..10 {
            let (lengths, done) =
                ((array.len(), list.len()), array.push(seen.clone()).and(list.push(seen.clone())));
            if done.is_err() {
                assert!(array.len() - lengths.0 + list.len() - lengths.1 <= 1);
                return;
            }
            if count == 5 && list.as_untyped().replace_range(1, 3, list.as_untyped()).is_err() {
                assert_eq!(list.len(), 6);
                return;
            }
        }
        assert_eq!(shared.len(), 0);
    });
    assert_eq!(seen.as_untyped().as_object().strong_count(), 1);
}

#[test]
fn long_chains_are_released_on_a_small_stack() {
    let links = if cfg!(feature = "std") && !cfg!(miri) { 10_000_000 } else { 300 };
    let build = move || -> Result<()> {
        let mut chain = Any::NONE;
        for _ in 0..links {
            chain = Any::new(Array::try_from_iter([chain])?);
        }
        drop(chain);
        let mut chain = Any::NONE;
        for _ in 0..links / 100 {
            chain = Any::new(Dict::<i64, Any>::try_from_iter([(
                1,
                List::try_from_iter([chain])?.into_any(),
            )])?);
        }
        drop(chain);
        Ok(())
    };
    let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(build).expect("thread");
    assert!(matches!(thread.join(), Ok(Ok(()))));
}

#[test]
fn matching_containers_pass_and_others_are_copied() -> Result<()> {
    let numbers = Any::new(Array::from_slice(&[1i64, 2])?);
    let same = numbers.get::<Array<i64>>()?;
    assert_eq!(same.view().object_ptr(), numbers.view().object_ptr());
    let floats = numbers.get::<Array<f64>>()?;
    assert_eq!(floats.as_slice()[1].type_index(), 3);
    let list = numbers.get::<List>()?;
    list.push(Any::NONE)?;
    assert_eq!((same.len(), list.len()), (2, 3));
    let error = list.into_any().get::<Array<i64>>().expect_err("None inside");
    assert_eq!(
        error.message_bytes(),
        b"Cannot convert from type `Array[index 2: None]` to `Array<int>`"
    );
    let dict = Dict::try_from_iter([(1i64, true)])?.into_any();
    assert_eq!(dict.get::<Map<i64, i64>>()?.get(&1)?, Some(1));
    assert_eq!(dict.get::<Dict>()?.view().object_ptr(), dict.view().object_ptr());
    Ok(())
}

#[test]
fn tuples_have_a_type_for_each_element() -> Result<()> {
    let pair = Tuple::new((1i64, true))?;
    assert_eq!(pair.get()?, (1, true));
    let any = pair.into_any();
    let same = any.get::<Tuple<(i64, bool)>>()?;
    assert_eq!(same.view().object_ptr(), any.view().object_ptr());
    let other = any.get::<Tuple<(f64, Any)>>()?;
    assert_ne!(other.view().object_ptr(), any.view().object_ptr());
    assert_eq!(other.get()?.0, 1.0);
    type Three = Tuple<(i64, i64, i64)>;
    assert_eq!(String::compose(&|out| <Three>::TEXT.write_name(out))?, "Tuple<int, int, int>");
    assert_eq!(
        String::compose(&|out| <Three>::describe_mismatch(any.view(), out))?,
        "Array[size=2]"
    );
    assert_eq!(
        String::compose(&|out| <Tuple<(i64, String)>>::describe_mismatch(any.view(), out))?,
        "Array[index 1: bool]"
    );
    assert!(any.get::<Three>().is_err());
    let schema = String::compose(&|out| Tuple::<(i64, String)>::TEXT.write_schema(out))?;
    assert_eq!(schema, r#"{"type":"Tuple","args":[{"type":"int"},{"type":"ffi.String"}]}"#);
    Ok(())
}

#[test]
fn mismatches_name_the_place() -> Result<()> {
    let nested =
        Any::new(Array::try_from_iter([Array::try_from_iter([Any::from(1i64), text("x")])?])?);
    assert_eq!(
        String::compose(&|out| <Array<Array<i64>>>::describe_mismatch(nested.view(), out))?,
        "Array[index 0: Array[index 1: ffi.SmallStr]]"
    );
    assert_eq!(
        String::compose(&|out| <Array<i64>>::describe_mismatch(AnyView::from(1i64), out))?,
        "int"
    );
    let map = Any::new(Map::try_from_iter([(1i64, text("x"))])?);
    assert_eq!(
        String::compose(&|out| <Map<String, Any>>::describe_mismatch(map.view(), out))?,
        "Map[some key is int, V]"
    );
    assert_eq!(
        String::compose(&|out| <Dict<i64, i64>>::describe_mismatch(map.view(), out))?,
        "Dict[K, some value is ffi.SmallStr]"
    );
    assert_eq!(
        String::compose(&|out| <Map<String, List<Option<i64>>>>::TEXT.write_name(out))?,
        "Map<str, List<Optional<int>>>"
    );
    let schema = String::compose(&|out| Map::<String, Array<i64>>::TEXT.write_schema(out))?;
    assert_eq!(
        schema,
        r#"{"type":"ffi.Map","args":[{"type":"ffi.String"},{"type":"ffi.Array","args":[{"type":"int"}]}]}"#
    );
    Ok(())
}
