//! Methods that are those of a trait.

use ferrite::{Object, object_methods};

#[derive(Object)]
#[object(key = "ui.Point")]
struct Point {
    x: i64,
}

trait Get {
    fn get(&self) -> i64;
}

#[object_methods]
impl Get for Point { //~ `object_methods` takes an `impl` block without a trait
    fn get(&self) -> i64 {
        self.x
    }
}

fn main() {
    println!("{}", Point { x: 1 }.get());
}
