//! Firmware in Rust: registers a network as a global function, calls it by name with tensors, and
//! logs failures with defmt. It has no C code, and its only heap is the library's block pool.
#![no_std]
#![no_main]

mod network;
mod stack;

use core::ffi::c_char;

use cortex_m::peripheral::{Peripherals, SYST, syst::SystClkSource};
use cortex_m_rt::{ExceptionFrame, entry, exception};
use defmt_semihosting as _;
use ferrite_core::abi::{DLDataType, DLDevice};
use ferrite_core::error::ErrorKind;
use ferrite_core::error::log;
use ferrite_core::platform::memory;
use ferrite_core::{AnyView, Error, Function, Result, Tensor};
use network::{DIGITS, PIXELS};

/// SysTick has 25 MHz and an instruction takes one nanosecond (`-icount shift=0`).
const INSTRUCTIONS_PER_TICK: u32 = 40;
const MOST_TICKS: u32 = 0x00FF_FFFF;

const FLOAT32: DLDataType = DLDataType { code: 2, bits: 32, lanes: 1 };
const CPU: DLDevice = DLDevice { device_type: 1, device_id: 0 };

/// Number of correctly classified pictures, and the instructions of one call.
struct Outcome {
    right: usize,
    instructions: u32,
}

fn classify_all(classify: &Function) -> Result<Outcome> {
    let scores = Tensor::empty(&[1, DIGITS as i64], FLOAT32, CPU)?;
    let (mut right, mut ticks) = (0, 0);
    for (picture, label) in network::X.chunks_exact(PIXELS).zip(network::LABEL) {
        let picture = Tensor::from_slice(picture, &[1, PIXELS as i64])?;
        let start = SYST::get_current();
        classify.call_packed(&[AnyView::from(&picture), AnyView::from(&scores)])?;
        ticks += start.wrapping_sub(SYST::get_current()) & MOST_TICKS; // it counts down
        right += usize::from(network::largest(&scores.as_slice()?) as i64 == label);
    }
    let calls = network::LABEL.len();
    Ok(Outcome { right, instructions: ticks * INSTRUCTIONS_PER_TICK / calls as u32 })
}

/// Returns `true` if calls with wrong arguments raise errors of the expected kind.
fn mistakes(classify: &Function) -> Result<bool> {
    let scores = Tensor::empty(&[1, DIGITS as i64], FLOAT32, CPU)?;
    let small = Tensor::from_slice(&[0.0f32; 3], &[1, 3])?;
    let attempts = [
        (
            ErrorKind::ValueError,
            classify.call_packed(&[AnyView::from(&small), AnyView::from(&scores)]),
        ),
        (
            ErrorKind::TypeError,
            classify.call_packed(&[AnyView::from(7i64), AnyView::from(&scores)]),
        ),
        (ErrorKind::TypeError, classify.call_packed(&[])),
        (ErrorKind::MemoryError, Tensor::empty(&[1 << 20], FLOAT32, CPU).map(Into::into)),
    ];
    let mut refused = true;
    for (kind, attempt) in attempts {
        match attempt {
            Err(error) if error.kind() == kind => defmt::warn!("refused: {}", error),
            Err(error) => return Err(error),
            Ok(value) => {
                defmt::error!("not refused: {}", value);
                refused = false;
            }
        }
    }
    Ok(refused)
}

/// Forwards a line of the library's log to defmt.
unsafe extern "C" fn log_line(text: *const c_char, size: usize) {
    // SAFETY: the library passes a borrowed line of that size.
    let line = unsafe { core::slice::from_raw_parts(text.cast::<u8>(), size) };
    defmt::info!("{=str}", core::str::from_utf8(line).unwrap_or("a line that is not UTF-8"));
}

fn run() -> Result<bool> {
    // SAFETY: the function accepts any line, at any time.
    unsafe { log::set_sink(Some(log_line)) };
    Function::set_global("classify", &Function::from_typed(network::classify)?, false)?;
    let Some(classify) = Function::find_global("classify")? else { return Ok(false) };
    defmt::info!("pictures of {}, on {}", FLOAT32, CPU);
    let refused = mistakes(&classify)?;
    // After the mistakes the library must still work.
    let Outcome { right, instructions } = classify_all(&classify)?;
    let is_good = refused && right == network::LABEL.len();
    let result = if is_good { "ok" } else { "FAILED" };
    defmt::println!(
        "row|perceptron in Rust|{=str}, {=usize} of 20 digits|{=u32}",
        result,
        right,
        instructions
    );
    defmt::println!("stack|{=usize}", stack::most_used());
    defmt::println!("pool|{=usize}", memory::stats().high_water);
    Ok(is_good)
}

#[entry]
fn main() -> ! {
    if let Some(mut peripherals) = Peripherals::take() {
        peripherals.SYST.set_clock_source(SystClkSource::Core);
        peripherals.SYST.set_reload(MOST_TICKS);
        peripherals.SYST.clear_current();
        peripherals.SYST.enable_counter();
    }
    let is_good = run().unwrap_or_else(|error: Error| {
        defmt::error!("{}", error);
        false
    });
    semihosting::process::exit(i32::from(!is_good))
}

#[exception]
unsafe fn HardFault(_: &ExceptionFrame) -> ! {
    semihosting::process::exit(139)
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    defmt::error!("panic");
    semihosting::process::exit(134)
}
