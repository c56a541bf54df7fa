//! A class whose fields have no names.

use ferrite::{Object, ObjectArc, Result, object_methods};

#[derive(Object)]
#[object(key = "ui.Metres")]
struct Metres(i64); //~ the fields of a class have names: write a struct with braces

#[object_methods]
impl Metres {
    fn new(x: i64) -> Self {
        Metres(x)
    }

    fn get(&self) -> i64 {
        self.0
    }
}

fn main() -> Result<()> {
    let metres = ObjectArc::new(Metres::new(1i64))?;
    println!("{}", metres.borrow()?.get());
    Ok(())
}
