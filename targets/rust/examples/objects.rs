//! Classes of objects: fields, methods and a parent, which programs in Python, C and C++ use by the
//! same names.
//!
//! `cargo run --example objects`

use ferrite::{Any, Function, Object, ObjectArc, Result, object_methods};

/// Counts.
#[derive(Object)]
#[object(key = "example.Counter")]
struct Counter {
    /// The value so far.
    #[object(read_write)]
    value: i64,
}

#[object_methods]
impl Counter {
    fn new(value: i64) -> Self {
        Counter { value }
    }

    /// Adds to the value and returns it.
    fn add(&mut self, by: i64) -> i64 {
        self.value += by;
        self.value
    }
}

fn main() -> Result<()> {
    let counter = ObjectArc::new(Counter::new(1))?;
    println!("{}", counter.borrow_mut()?.add(2));

    // As other languages do it.
    let twice = Function::from_typed(|counter: ObjectArc<Counter>| {
        let value = counter.borrow()?.value;
        counter.borrow_mut().map(|mut counter| counter.add(value))
    })?;
    println!("{}", twice.call::<i64>((&counter,))?);
    println!("{:?}", Any::from(counter));
    Ok(())
}
