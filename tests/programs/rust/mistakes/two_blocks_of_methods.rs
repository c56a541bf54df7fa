//! Two blocks of methods of one class.

use ferrite::{Object, object_methods};

#[derive(Object)]
#[object(key = "ui.Point")]
struct Point {
    x: i64,
}

#[object_methods]
impl Point {
    fn get(&self) -> i64 {
        self.x
    }
}

#[object_methods] //~ conflicting implementations of trait `ferrite::class::ObjectMethods` for type `Point`
impl Point {
    fn get2(&self) -> i64 {
        self.x
    }
}

fn main() {
    println!("{}", Point { x: 1 }.get());
}
