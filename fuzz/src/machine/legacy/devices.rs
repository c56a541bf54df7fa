//! Steps with the memory and the streams of devices.

use std::ptr;

use ferrite_core::abi::*;

use super::{Api, shown, succeeds};
use crate::limits;
use crate::machine::Outcome;

impl Api<'_> {
    /// Allocates and frees memory, by its size and by a shape.
    pub(super) fn memory(&self, device: DLDevice, size: u16, alignment: u8) -> Outcome {
        if !may_use(device) {
            return Outcome::Skipped;
        }
        let symbols = self.symbols;
        let dtype = DLDataType { code: kDLFloat as u8, bits: 32, lanes: 1 };
        let shape = [i64::from(size % 64), 2];
        let (mut data, mut scoped) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the memory is freed once.
        let mut allocate = || unsafe {
            let (size, alignment) = (size.into(), alignment.into());
            succeeds((symbols.TVMDeviceAllocDataSpace)(device, size, alignment, dtype, &mut data))?;
            succeeds((symbols.TVMDeviceFreeDataSpace)(device, data))?;
            let shape = shape.as_ptr();
            let scope = ptr::null();
            succeeds((symbols.TVMDeviceAllocDataSpaceWithScope)(
                device,
                2,
                shape,
                dtype,
                scope,
                &mut scoped,
            ))?;
            succeeds((symbols.TVMDeviceFreeDataSpace)(device, scoped))?;
            Ok(String::new())
        };
        shown(allocate())
    }

    /// Creates a stream, sets it, waits for it and frees it.
    pub(super) fn streams(&self, device: DLDevice) -> Outcome {
        if !may_use(device) {
            return Outcome::Skipped;
        }
        let symbols = self.symbols;
        let DLDevice { device_type, device_id } = device;
        let (mut stream, default) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the stream is freed once.
        let mut create = || unsafe {
            succeeds((symbols.TVMStreamCreate)(device_type, device_id, &mut stream))?;
            succeeds((symbols.TVMSetStream)(device_type, device_id, stream))?;
            succeeds((symbols.TVMSetStream)(device_type, device_id, default))?;
            succeeds((symbols.TVMSynchronize)(device_type, device_id, stream))?;
            succeeds((symbols.TVMStreamStreamSynchronize)(
                device_type,
                device_id,
                stream,
                default,
            ))?;
            succeeds((symbols.TVMStreamFree)(device_type, device_id, stream))?;
            Ok(String::new())
        };
        shown(create())
    }
}

/// Returns `true` for devices without a driver.
fn may_use(device: DLDevice) -> bool {
    device.device_type == kDLCPU || !limits::has_driver()
}
