//! A misspelt argument of a field.

use ferrite::{Object, ObjectArc, Result, object_methods};

#[derive(Object)]
#[repr(C)]
#[object(key = "ui.Point")]
struct Point {
    #[object(readwrite)] //~ unknown argument
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
