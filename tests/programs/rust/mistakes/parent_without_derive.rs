//! A class whose parent is not a class.

use ferrite::{Object, object_methods};

struct Base {
    x: i64,
}

#[derive(Object)] //~ `Base` is not a class of objects
#[object(key = "ui.Point", parent = Base)]
#[repr(C)]
struct Point {
    base: Base,
    y: i64,
}

#[object_methods]
impl Point {
    fn get(&self) -> i64 {
        self.y + self.base.x
    }
}

fn main() {}
