//! Adds two numbers through a function object: on a Cortex-M, or on a host, where it is a program like any other.
#![cfg_attr(target_os = "none", no_std, no_main)]

use ferrite::{Array, Function, Result};

/// Returns 7.
fn run() -> Result<i64> {
    let add = Function::from_typed(|a: i64, b: i64| a + b)?;
    let numbers: Array<i64> = Array::from_slice(&[3, 4])?;
    add.call_packed(&[numbers.get(0)?.into(), numbers.get(1)?.into()])?.get()
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
