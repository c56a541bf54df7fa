//! A class and a class derived from it.

use ferrite::{Array, Object, ObjectArc, String, object_methods};

/// A shape in the plane.
#[derive(Object)]
#[object(key = "demo.Shape", structural = "tree")]
pub struct Shape {
    /// Name of the shape.
    #[object(default = String::new("unnamed")?)]
    pub name: String,
}

/// A circle around a point.
#[derive(Object)]
#[repr(C)]
#[object(key = "demo.Circle", parent = Shape, structural = "tree")]
pub struct Circle {
    shape: Shape,
    /// Distance of the border from the centre.
    radius: f64,
    /// Coordinates of the centre.
    centre: Array<i64>,
    /// The circle around this one.
    #[object(default = None, keyword)]
    outer: Option<ObjectArc<Circle>>,
    #[object(structural = "ignore", no_repr, default = 1, keyword)]
    width: i32,
}

#[object_methods]
impl Circle {
    /// Returns the area, with three as pi.
    fn area(&self) -> f64 {
        3.0 * self.radius * self.radius
    }
}
