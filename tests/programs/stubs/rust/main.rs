//! Uses classes and functions of a library by the module that `ferrite stubs` made. Prints what it
//! finds. usage: client LIBRARY

mod rust_objects;

use ferrite::{Array, Map, Result};
use rust_objects::{Library, demo};

fn main() -> Result<()> {
    let file = std::env::args().nth(1).unwrap_or_default();
    println!("before: {}", demo::Counter::new(1).is_err());
    let library = Library::load(&file)?;
    let counter = library.make_counter(40)?;
    println!("counter: {} {}", counter.add(2)?, counter.value()?);
    counter.set_value(9)?;
    println!("new: {}, set: {}", demo::Counter::new(5)?.value()?, counter.value()?);
    println!("greet: {}", demo::greet("you")?);
    let numbers: Array<i64> = [1i64, 2].try_into()?;
    let groups: Map<ferrite::String, Array<i64>> = [(ferrite::String::new("a")?, numbers)].try_into()?;
    println!("totals: {}", library.totals(&groups)?.len());
    Ok(())
}
