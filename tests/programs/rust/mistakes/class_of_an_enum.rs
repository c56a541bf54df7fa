//! A class whose content is an enum.

use ferrite::{Object, ObjectArc, Result, object_methods};

#[derive(Object)]
#[object(key = "ui.Choice")]
enum Choice { //~ only a struct can be the content of objects
    A,
    B,
}

#[object_methods]
impl Choice {
    fn new() -> Self {
        Choice::A
    }

    fn get(&self) -> bool {
        matches!(self, Choice::B)
    }
}

fn main() -> Result<()> {
    let choice = ObjectArc::new(Choice::new())?;
    println!("{}", choice.borrow()?.get());
    Ok(())
}
