//! Firmware on the embassy executor that is a device of TVM: clients call `sensor.mean` over the
//! serial line of the board. Tasks run between sessions.
#![no_std]
#![no_main]

use cortex_m_rt as _;
use embassy_executor::Spawner;
use embassy_futures::yield_now;
use ferrite::{Function, Result, TensorView};
use ferrite_rpc::server::{Access, Host, serve};
use ferrite_rpc::wire::{Closed, Stream};
use panic_semihosting as _;
use semihosting::{println, process};

/// Bytes for the arguments of a request.
const ARGUMENT_BYTES: usize = 1024;

/// The UART of Arm's Cortex-M System Design Kit: data, state, control and divider.
const UART: *mut u32 = 0x4000_4000 as *mut u32;
const SENDING: u32 = 1;
const RECEIVED: u32 = 2;

/// The serial line, with memory for arguments.
struct Line {
    memory: Option<[u64; ARGUMENT_BYTES / 8]>,
}

impl Line {
    /// Enables the UART at 115,200 baud.
    fn start() -> Line {
        // SAFETY: the registers of the UART, which nothing else uses.
        unsafe {
            UART.add(4).write_volatile(25_000_000 / 115_200);
            UART.add(2).write_volatile(SENDING | RECEIVED);
        }
        Line { memory: Some([0; ARGUMENT_BYTES / 8]) }
    }

    /// Waits until the state has, or has not, a bit.
    fn wait(bit: u32, is_set: bool) {
        // SAFETY: a register that is read without effect.
        while (unsafe { UART.add(1).read_volatile() } & bit != 0) != is_set {}
    }
}

impl Stream for Line {
    fn read(&mut self, target: &mut [u8]) -> core::result::Result<(), Closed> {
        for byte in target {
            Line::wait(RECEIVED, true);
            // SAFETY: the data register has a byte.
            *byte = unsafe { UART.read_volatile() } as u8;
        }
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> core::result::Result<(), Closed> {
        for byte in bytes {
            Line::wait(SENDING, false);
            // SAFETY: the data register takes a byte.
            unsafe { UART.write_volatile(u32::from(*byte)) };
        }
        Ok(())
    }

    fn flush(&mut self) -> core::result::Result<(), Closed> {
        Ok(())
    }
}

impl Host for Line {
    type Memory = [u64; ARGUMENT_BYTES / 8];

    fn take_memory(&mut self, bytes: usize) -> Option<Self::Memory> {
        if bytes <= ARGUMENT_BYTES { self.memory.take() } else { None }
    }

    fn return_memory(&mut self, memory: Self::Memory) {
        self.memory = Some(memory);
    }
}

/// Clients may call the function of the sensor.
struct Sensor;

impl Access for Sensor {
    fn find(&self, name: &[u8]) -> Result<Option<Function>> {
        if name == b"sensor.mean" { Function::global("sensor.mean").map(Some) } else { Ok(None) }
    }
}

/// Returns the mean of a float32 vector.
fn mean(samples: TensorView<'_>) -> Result<f64> {
    let samples = samples.as_slice::<f32>()?;
    Ok(f64::from(samples.iter().sum::<f32>()) / samples.len() as f64)
}

#[embassy_executor::main]
async fn main(_spawner: Spawner) {
    if let Err(error) = Function::register("sensor.mean", mean) {
        println!("{error}");
        process::exit(1)
    }
    let mut line = Line::start();
    loop {
        serve(&mut line, &Sensor);
        yield_now().await;
    }
}
