//! Classes and functions for programs in other languages, without unsafe code.
#![forbid(unsafe_code)]

mod counter;
mod shapes;

use counter::Counter;
use ferrite::{Array, Dict, Function, Map, Object, ObjectArc, Result, String, export, function};

/// Greets by name.
#[function(name = "demo.greet")]
fn greet(name: String) -> Result<String> {
    String::format(format_args!("hello {name}"))
}

/// Sums the numbers of each key.
#[export]
fn totals(groups: Map<String, Array<i64>>) -> Result<Dict<String, i64>> {
    let totals = Dict::new()?;
    for group in &groups {
        let (key, numbers) = group?;
        totals.insert(key, numbers.iter().sum::<Result<i64>>()?)?;
    }
    Ok(totals)
}

/// Creates a counter.
#[export(name = "make_counter")]
fn counter_of(value: i64) -> Result<ObjectArc<Counter>> {
    Counter::new(value).into_arc()
}

/// Calls a function while the counter is borrowed for writing.
#[export]
fn call_while_borrowed(counter: ObjectArc<Counter>, callback: Function) -> Result<()> {
    let _borrow = counter.borrow_mut()?;
    callback.call_packed(&[])?;
    Ok(())
}

/// Panics.
#[export]
fn fail() {
    panic!("on purpose");
}
