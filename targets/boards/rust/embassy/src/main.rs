//! Firmware on the embassy executor. One task sends readings through a channel; the main task
//! passes each to a function that it finds by name, and prints the results.
#![no_std]
#![no_main]

use cortex_m_rt as _;
use embassy_executor::Spawner;
use embassy_futures::yield_now;
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::channel::Channel;
use ferrite::{Function, Result, Tensor};
use panic_semihosting as _;
use semihosting::{println, process};

/// Readings of the sensor, three samples each.
static READINGS: Channel<CriticalSectionRawMutex, [f32; 3], 2> = Channel::new();

const COUNT: usize = 4;

#[embassy_executor::task]
async fn measure() {
    for reading in 0..COUNT {
        READINGS.send([reading as f32, 1.0, 2.0]).await;
        yield_now().await; // as a driver that waits for its peripheral
    }
}

/// Returns the mean of a float32 vector.
fn mean(samples: Tensor) -> Result<f64> {
    let samples = samples.as_slice::<f32>()?;
    Ok(f64::from(samples.iter().sum::<f32>()) / samples.len() as f64)
}

async fn process_readings() -> Result<()> {
    Function::register("sensor.mean", mean)?;
    let mean = Function::global("sensor.mean")?;
    for _ in 0..COUNT {
        let reading = Tensor::from_slice(&READINGS.receive().await, &[3])?;
        let mean: f64 = mean.call((&reading,))?;
        println!("mean of {:?}: {mean}", reading.as_slice::<f32>()?);
    }
    Ok(())
}

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    match measure() {
        Ok(task) => spawner.spawn(task),
        Err(_) => process::abort(),
    }
    match process_readings().await {
        Ok(()) => process::exit(0),
        Err(error) => {
            println!("{error}");
            process::exit(1)
        }
    }
}
