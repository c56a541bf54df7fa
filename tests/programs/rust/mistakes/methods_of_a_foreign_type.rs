//! Methods of a type of the prelude.

use ferrite::object_methods;

#[object_methods]
impl String { //~ a class is a struct of this crate with `derive(Object)`
    fn get(&self) -> i64 {
        1
    }
}

fn main() {}
