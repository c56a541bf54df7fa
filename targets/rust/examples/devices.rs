//! Devices: memory, copies and streams, the same for GPUs and for the CPU.
//!
//! `cargo run --example devices --features opencl,vulkan,cuda`; without features, there is the CPU
//! alone.

use ferrite::Result;
use ferrite::device::{Device, DeviceTensor};

fn main() -> Result<()> {
    for device in core::iter::once(Device::CPU).chain(Device::all()) {
        let numbers = DeviceTensor::from_slice(device, &[1f32, 2.0, 3.0], &[3])?;
        let copy = numbers.to_device(device)?;
        println!("{device:?}: {:?}", &*copy.read::<f32>()?);
    }
    Ok(())
}
