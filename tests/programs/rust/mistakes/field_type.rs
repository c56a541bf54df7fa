//! A field that is not a value.

use ferrite::{Object, ObjectArc, Result, object_methods};

#[derive(Object)]
#[repr(C)]
#[object(key = "ui.Point")]
struct Point {
    #[object(read_write)]
    x: i64,
    y: i64,
    z: std::sync::Arc<i64>, //~ `Arc<i64>` cannot be the type of a field
}

#[object_methods]
impl Point {
    fn new(x: i64, y: i64) -> Self {
        Point { x, y, z: Default::default() }
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
