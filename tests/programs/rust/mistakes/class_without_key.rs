//! A class without a name for other languages.

use ferrite::{Object, ObjectArc, Result, object_methods};

#[derive(Object)]
#[repr(C)]

struct Point { //~ the class has no type key
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
