//! A class of two fields in the order of the compiler.

use ferrite::{Object, ObjectArc, Result, object_methods};

#[derive(Object)]
#[object(key = "ui.Point")]
struct Point { //~ a class with several fields needs `#[repr(C)]`
    #[object(read_write)]
    x: i64,
    y: i64,
}

#[object_methods]
impl Point {
    fn new(x: i64, y: i64) -> Self {
        Point { x, y }
    }

    fn norm(&self) -> i64 {
        self.x + self.y
    }

    fn shift(&mut self, by: i64) {
        self.x += by
    }
}

fn main() -> Result<()> {
    let point = ObjectArc::new(Point::new(1, 2))?;
    point.borrow_mut()?.shift(3);
    println!("{}", point.borrow()?.norm());
    let again: ObjectArc<Point> = ferrite::Any::from(point).get()?;
    drop(again);
    Ok(())
}
