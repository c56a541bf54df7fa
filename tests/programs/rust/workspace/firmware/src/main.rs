//! Counts through a function object and an object of a class of its own: on a Cortex-M, or on a
//! host, where it is a program like any other.
#![cfg_attr(target_os = "none", no_std, no_main)]

use ferrite::{Array, Function, Object, ObjectArc, Result, object_methods};

/// Counts events.
#[derive(Object)]
#[object(key = "firmware.Counter", mutable)]
struct Counter {
    /// The number so far.
    count: i64,
}

#[object_methods]
impl Counter {
    /// Adds to the number and returns it.
    fn add(&mut self, by: i64) -> i64 {
        self.count += by;
        self.count
    }
}

/// Returns 7.
fn run() -> Result<i64> {
    let counter = ObjectArc::new(Counter { count: 0 })?;
    let add = Function::from_typed(|counter: ObjectArc<Counter>, by: i64| {
        counter.borrow_mut().map(|mut counter| counter.add(by))
    })?;
    let numbers: Array<i64> = Array::from_slice(&[3, 4])?;
    for by in numbers.iter() {
        add.call::<i64>((&counter, by?))?;
    }
    let counter = counter.borrow()?;
    Ok(counter.count)
}

#[cfg(not(target_os = "none"))]
fn main() -> Result<()> {
    println!("{}", run()?);
    Ok(())
}

#[cfg(target_os = "none")]
mod board {
    use cortex_m as _;

    /// The first code of the firmware.
    #[unsafe(no_mangle)]
    extern "C" fn _start() -> ! {
        let _result = core::hint::black_box(super::run());
        loop {}
    }

    #[panic_handler]
    fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
        loop {}
    }
}
