//! Map and Dict against std: the same operations give the same entries in the same order.
#![no_main]

use arbitrary::Arbitrary;
use ferrite_alloc_ext::containers::{Dict, Map};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
enum Operation {
    Insert(u8, i64),
    Remove(u8),
    Clear,
}

/// What the containers promise: insertion order, which an update of the hashed layout renews.
fn keys_and_values(model: &[(u8, i64)]) -> Vec<(i64, i64)> {
    let mut pairs: Vec<_> = model.iter().map(|(key, value)| (i64::from(*key), *value)).collect();
    pairs.sort_unstable();
    pairs
}

fuzz_target!(|operations: Vec<Operation>| {
    let mut map = Map::<i64, i64>::new().expect("memory");
    let dict = Dict::<i64, i64>::new().expect("memory");
    let mut model: Vec<(u8, i64)> = Vec::new();
    for operation in operations {
        match operation {
            Operation::Insert(key, value) => {
                map.insert(key.into(), value).expect("memory");
                dict.insert(key.into(), value).expect("memory");
                model.retain(|(other, _)| *other != key);
                model.push((key, value));
            }
            Operation::Remove(key) => {
                map.remove(&key.into()).expect("memory");
                dict.remove(&key.into()).expect("memory");
                model.retain(|(other, _)| *other != key);
            }
            Operation::Clear => {
                map.clear().expect("memory");
                dict.clear();
                model.clear();
            }
        }
        assert_eq!((map.len(), dict.len()), (model.len(), model.len()));
    }
    let mut of_map: Vec<_> = map.iter().map(|pair| pair.expect("ints")).collect();
    let mut of_dict: Vec<_> = dict.iter().map(|pair| pair.expect("ints")).collect();
    assert_eq!(of_map, of_dict);
    of_map.sort_unstable();
    of_dict.sort_unstable();
    assert_eq!(of_map, keys_and_values(&model));
});
