//! Maps with the keys of others, and keys that collide.

use super::*;
use crate::containers::MapObject;
use ferrite_core::object::object_alloc::Apart;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::string::String;

fn tail_of(keys: &[&str], value: i64) -> Result<Buffer<Any>> {
    let mut tail = Buffer::new();
    for (key, value) in keys.iter().zip(value..) {
        tail.try_push(Any::new(String::new(key)?))?;
        tail.try_push(Any::new(String::new(&std::format!("the value {value}"))?))?;
    }
    Ok(tail)
}

fn texts(map: &MapObject) -> std::string::String {
    std::format!("{:?}", map.iter().collect::<std::vec::Vec<_>>())
}

const KEYS: [&str; 6] = ["id", "name", "a longer key", "shape", "tags", "another long key"];

#[test]
fn the_map_is_the_one_that_hashing_makes() -> Result<()> {
    let pattern = MapObject::of_tail(&mut tail_of(&KEYS, 0)?, 0, &mut Apart)?;
    let mut tail = tail_of(&KEYS, 10)?;
    let mut map = pattern.with_same_keys(&mut tail, 0, &mut Apart)?.expect("the same keys");
    assert!(tail.is_empty());
    let hashed = MapObject::of_tail(&mut tail_of(&KEYS, 10)?, 0, &mut Apart)?;
    assert_eq!(texts(&map), texts(&hashed));
    for key in KEYS {
        let key = Any::new(String::new(key)?);
        assert_eq!(map.at(key.view())?.get::<String>()?, hashed.at(key.view())?.get::<String>()?);
    }
    // It changes and grows like any other map.
    let shared = map.clone();
    for number in 0..20i64 {
        map.insert(Any::from(number), Any::new(String::new("a value of its own")?))?;
    }
    map.remove(Any::from(3i64).view())?;
    assert_eq!((map.len(), shared.len()), (25, 6));
    assert_eq!(texts(&shared), texts(&hashed));
    Ok(())
}

#[test]
fn other_keys_give_no_map() -> Result<()> {
    let pattern = MapObject::of_tail(&mut tail_of(&KEYS, 0)?, 0, &mut Apart)?;
    let mut others = [KEYS; 3];
    others[0].swap(0, 1);
    others[1][5] = "another key again";
    others[2][5] = "id";
    for keys in others {
        let mut tail = tail_of(&keys, 0)?;
        assert!(pattern.with_same_keys(&mut tail, 0, &mut Apart)?.is_none());
        assert_eq!(tail.len(), 2 * keys.len());
    }
    assert!(pattern.with_same_keys(&mut tail_of(&KEYS[..5], 0)?, 0, &mut Apart)?.is_none());
    Ok(())
}

#[test]
fn without_memory_the_entries_stay() -> Result<()> {
    let pattern = MapObject::of_tail(&mut tail_of(&KEYS, 0)?, 0, &mut Apart)?;
    crate::containers::faults::with_every_refusal(|| {
        let Ok(mut tail) = tail_of(&KEYS, 0) else { return };
        let found = pattern.with_same_keys(&mut tail, 0, &mut Apart).map(|map| map.is_some());
        assert_eq!(tail.len(), if found.is_ok() { 0 } else { 2 * KEYS.len() });
        assert!(found.unwrap_or(true));
    });
    Ok(())
}

#[cfg(feature = "speed")]
mod collisions {
    use super::super::limited::MOST_COLLISIONS;
    use super::*;
    use crate::containers::key::hash_bytes;

    /// Returns strings of eight letters with one hash for each `family`: 2^32 counts twice as much
    /// as 1 in it, so that what the first four letters lose the last four make up for.
    fn colliding(family: u8) -> impl Iterator<Item = [u8; 8]> {
        (0..31 * 31 * 31_u32).map(move |number| {
            let digits = [number % 31, number / 31 % 31, number / 961].map(|digit| digit as u8);
            let [a, b, c] = digits;
            [
                b'q' - 2 * a,
                b'q' - 2 * b,
                b'q' - 2 * c,
                b'a' + family,
                b'`' + a,
                b'`' + b,
                b'`' + c,
                b'a',
            ]
        })
    }

    fn entries(keys: impl Iterator<Item = [u8; 8]>) -> Buffer<Any> {
        let mut values = Buffer::new();
        for (key, number) in keys.zip(0i64..) {
            values.try_push(Any::new(String::from_bytes(&key).unwrap())).unwrap();
            values.try_push(Any::from(number)).unwrap();
        }
        values
    }

    /// Number of keys, fewer where each step takes long.
    const KEYS: usize = if cfg!(miri) { 1_100 } else { 29_000 };

    #[test]
    fn crafted_keys_have_one_hash() {
        let mut hashes = colliding(3).map(|key| hash_bytes(&key));
        let first = hashes.next();
        assert!(hashes.all(|hash| Some(hash) == first));
    }

    #[test]
    #[cfg_attr(
        miri,
        ignore = "half a million steps along a chain, which the tests of chains take in small"
    )]
    #[cfg_attr(
        not(feature = "std"),
        ignore = "takes more memory than the pool of a build without std"
    )]
    fn a_document_ends_with_the_first_chain_that_is_too_long() {
        let mut values = entries(colliding(0).take(KEYS));
        let error = MapObject::of_tail(&mut values, 0, &mut Apart).map(drop).unwrap_err();
        assert_eq!(error.kind_bytes(), b"ValueError");
        assert_eq!(
            error.message_bytes(),
            b"More than 1024 keys of an object have hashes that collide"
        );
        // Keys up to the one too many were moved out, none behind it.
        let taken = values.iter().step_by(2).take_while(|key| key.is_none()).count();
        assert_eq!(taken, MOST_COLLISIONS + 1);
    }

    #[test]
    #[cfg_attr(
        miri,
        ignore = "millions of steps along chains, which the tests of chains take in small"
    )]
    fn as_many_as_allowed_collide() {
        let mut values =
            entries(colliding(0).take(MOST_COLLISIONS).chain(colliding(1).take(MOST_COLLISIONS)));
        let map = MapObject::of_tail(&mut values, 0, &mut Apart).unwrap();
        assert_eq!(map.len(), 2 * MOST_COLLISIONS);
        for (key, number) in colliding(1).take(MOST_COLLISIONS).zip(MOST_COLLISIONS as i64..) {
            let key = String::from_bytes(&key).unwrap();
            assert_eq!(map.at((&key).into()).unwrap().get::<i64>().unwrap(), number);
        }
        // A repeated key does not count again.
        let mut values =
            entries(colliding(0).take(MOST_COLLISIONS).chain(colliding(0).take(MOST_COLLISIONS)));
        let map = MapObject::of_tail(&mut values, 0, &mut Apart).unwrap();
        assert_eq!(map.len(), MOST_COLLISIONS);
    }
}
