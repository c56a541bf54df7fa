//! Methods of a struct that is not a class.

use ferrite::object_methods;

struct Point {
    x: i64,
    y: i64,
}

#[object_methods] //~ `Point` is not a class of objects
impl Point {
    fn new(x: i64, y: i64) -> Self {
        Point { x, y }
    }

    fn norm(&self) -> i64 {
        self.x + self.y
    }

    fn twice(&self) -> Self {
        Point { x: 2 * self.x, y: 2 * self.y }
    }
}

fn main() {
    println!("{}", Point::new(1, 2).twice().norm());
}
