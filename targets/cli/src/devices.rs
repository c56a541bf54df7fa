//! `ferrite devices`: the devices that are found.

use ferrite::device::Device;
use serde::Serialize;

use crate::failure::{Failure, Outcome};
use crate::output;

const NO_DEVICE: &str = "no device was found: OpenCL, Vulkan, CUDA and ROCm come with the driver of a GPU; on Debian, \
    `apt-get install ocl-icd-libopencl1 pocl-opencl-icd` makes an OpenCL device of the processor";

/// A device with its name, as the command reports it.
#[derive(Serialize)]
struct Found {
    device: String,
    name: Option<String>,
}

/// Runs the command.
///
/// # Errors
/// [`Kind::Missing`](crate::failure::Kind::Missing) if the build has no back ends, or if there is
/// no device other than the processor.
pub fn run(json: bool) -> Outcome<()> {
    if !cfg!(feature = "devices") {
        return Err(Failure::missing(
            "this build has no devices: build it with `--features devices`",
        ));
    }
    let found: Vec<_> = Device::all().map(describe).collect();
    if json {
        output::print_json(&found)?;
    } else {
        let line = |found: &Found| {
            format!("{:<12} {}\n", found.device, found.name.as_deref().unwrap_or("without a name"))
        };
        output::print_report(&found.iter().map(line).collect::<String>())?;
    }
    if found.is_empty() { Err(Failure::missing(NO_DEVICE)) } else { Ok(()) }
}

fn describe(device: Device) -> Found {
    let name = device.name().ok().flatten();
    Found {
        device: device.to_string(),
        name: name.map(|name| String::from_utf8_lossy(name.as_bytes()).into_owned()),
    }
}
