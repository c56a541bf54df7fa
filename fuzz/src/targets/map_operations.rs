//! Fuzzes Map and Dict against a model built on the standard library: the same operations give the
//! same entries in the same order.

use arbitrary::Arbitrary;
use ferrite_alloc_ext::containers::{Dict, Map};

#[derive(Arbitrary, Debug)]
enum Operation {
    Insert(u8, i64),
    Remove(u8),
    Clear,
}

/// Model of both containers: entries in insertion order. In the hashed layout, an update moves its
/// entry to the end.
#[derive(Default)]
struct Model {
    entries: Vec<(i64, i64)>,
    hashed: bool,
}

impl Model {
    fn insert(&mut self, key: i64, value: i64) {
        // A write to a map of four entries converts it to the hashed layout.
        self.hashed |= self.entries.len() == 4;
        let found = self.entries.iter().position(|(other, _)| *other == key);
        match found {
            Some(at) if !self.hashed => self.entries[at].1 = value,
            Some(at) => {
                self.entries.remove(at);
                self.entries.push((key, value));
            }
            None => self.entries.push((key, value)),
        }
    }

    fn remove(&mut self, key: i64) {
        self.entries.retain(|(other, _)| *other != key);
    }
}

/// Runs the target on an input.
pub fn run(input: &[u8]) {
    let Some(operations) = super::arbitrary::<Vec<Operation>>(input) else { return };
    let mut map = Map::<i64, i64>::new().expect("memory");
    let dict = Dict::<i64, i64>::new().expect("memory");
    let (mut map_model, mut dict_model) = (Model::default(), Model::default());
    for operation in operations {
        match operation {
            Operation::Insert(key, value) => {
                map.insert(key.into(), value).expect("memory");
                dict.insert(key.into(), value).expect("memory");
                map_model.insert(key.into(), value);
                dict_model.insert(key.into(), value);
            }
            Operation::Remove(key) => {
                map.remove(&i64::from(key)).expect("memory");
                dict.remove(&i64::from(key)).expect("memory");
                map_model.remove(key.into());
                dict_model.remove(key.into());
            }
            Operation::Clear => {
                map.clear().expect("memory");
                dict.clear().expect("one thread");
                // A Map is replaced by a new one; a Dict keeps its layout.
                map_model = Model::default();
                dict_model.entries.clear();
            }
        }
    }
    let of_map: Vec<_> = map.iter().map(|pair| pair.expect("ints")).collect();
    let of_dict: Vec<_> = dict.iter().map(|pair| pair.expect("ints")).collect();
    assert_eq!(of_map, map_model.entries);
    assert_eq!(of_dict, dict_model.entries);
}
