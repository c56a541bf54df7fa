//! Methods of a type of the standard library.

use ferrite::object_methods;

#[object_methods]
impl std::vec::Vec<i64> { //~ a class is a struct of this crate with `derive(Object)`
    fn new2() -> i64 {
        1
    }
}

fn main() {}
