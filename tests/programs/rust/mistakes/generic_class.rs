//! A class with a type parameter.

use ferrite::{Object, ObjectArc, Result, object_methods};

#[derive(Object)]
#[object(key = "ui.Holder")]
struct Holder<T> { //~ a class is not generic
    x: T,
}

#[object_methods]
impl<T> Holder<T> {
    fn new(x: T) -> Self {
        Holder { x }
    }

    fn get(&self) -> i64 {
        1
    }
}

fn main() -> Result<()> {
    let holder = ObjectArc::new(Holder::new(1i64))?;
    println!("{}", holder.borrow()?.get());
    Ok(())
}
