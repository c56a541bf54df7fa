//! A method with a parameter that is not a value.

use ferrite::{Object, ObjectArc, Result, object_methods};

#[derive(Object)]
#[repr(C)]
#[object(key = "ui.Point")]
struct Point {
    #[object(read_write)]
    x: i64,
    y: i64,
}

#[object_methods]
impl Point {
    fn new(x: i64, y: i64) -> Self {
        Point { x, y }
    }

    fn norm(&self, by: std::sync::Arc<i64>) -> i64 { //~ cannot be called with values
        self.x + self.y
    }

    fn shift(&mut self, by: i64) {
        self.x += by
    }
}

fn main() -> Result<()> {
    let point = ObjectArc::new(Point::new(1, 2))?;
    point.borrow_mut()?.shift(3);
    println!("{}", point.borrow()?.norm(std::sync::Arc::new(1)));
    let again: ObjectArc<Point> = ferrite::Any::from(point).get()?;
    drop(again);
    Ok(())
}
