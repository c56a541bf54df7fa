//! Steps with arrays and DLPack.

use std::ptr;

use ferrite_core::abi::*;

use super::{Api, of_array, shown, succeeds};
use crate::machine::{Outcome, object, status};
use crate::program::{Meta, Reg};
use crate::{limits, normal};

/// Size of the buffer that arrays are copied from and to.
const BUFFER: usize = 4096;

/// Returns the number of bytes that are copied into an array and out of it.
pub fn copied_bytes(meta: &Meta, bytes: u8, exact: bool) -> usize {
    if exact { meta.bytes().unwrap_or(0).min(BUFFER) } else { bytes.into() }
}

impl Api<'_> {
    pub(super) fn array(&self, meta: &Meta, bytes: u8, exact: bool) -> Outcome {
        let is_refused = meta.negative || meta.elements().is_none();
        if !(is_refused || meta.fits() && !meta.null_data)
            || i32::from(meta.device_type) != kDLCPU && limits::has_driver()
        {
            return Outcome::Skipped;
        }
        let symbols = self.symbols;
        let (sizes, _) = meta.sizes_and_strides();
        let mut array = ptr::null_mut();
        let mut buffer = [7u8; BUFFER];
        let (data, len) = (buffer.as_mut_ptr().cast(), copied_bytes(meta, bytes, exact));
        // SAFETY: the sizes are as many as the number says; the buffer has as many bytes.
        unsafe {
            let status = (symbols.TVMArrayAlloc)(
                sizes.as_ptr(),
                meta.ndim(),
                meta.code.into(),
                meta.bits.into(),
                meta.lanes.into(),
                meta.device_type.into(),
                meta.device_id.into(),
                &mut array,
            );
            if status != 0 || array.is_null() {
                return Outcome::Status(status, of_array(array));
            }
            let mut index = 0;
            if (symbols.TVMArrayCopyFromBytes)(array, data, len) == 0
                && (symbols.TVMArrayCopyToBytes)(array, data, len) == 0
                && (symbols.TVMArrayGetTypeIndex)(array, &mut index) == 0
            {
                return Outcome::Status(0, of_array(array));
            }
            (symbols.TVMArrayFree)(array);
            Outcome::Status(-1, TVMFFIAny::NONE)
        }
    }

    fn array_in(&self, reg: Reg) -> Option<*mut DLTensor> {
        let tensor = self.object_of(reg, kTVMFFITensor)?;
        // SAFETY: the content of a tensor is a DLTensor.
        Some(unsafe { normal::content::<DLTensor>(&object(tensor)) }.cast_mut())
    }

    pub(super) fn copy_array(&self, from: Reg, to: Reg) -> Outcome {
        let [Some(from), Some(to)] = [from, to].map(|reg| self.array_in(reg)) else {
            return Outcome::Skipped;
        };
        // SAFETY: both live.
        let on_cpu =
            [from, to].iter().all(|array| unsafe { (**array).device.device_type } == kDLCPU);
        if !on_cpu && limits::has_driver() {
            return Outcome::Skipped;
        }
        // SAFETY: both live, and have the memory that they say.
        let copy = || unsafe {
            succeeds((self.symbols.TVMArrayCopyFromTo)(from, to, ptr::null_mut()))?;
            succeeds((self.symbols.TVMDeviceCopyDataFromTo)(from, to, ptr::null_mut()))?;
            Ok(String::new())
        };
        shown(copy())
    }

    pub(super) fn dlpack(&self, tensor: Reg, back: bool) -> Outcome {
        let Some(array) = self.array_in(tensor) else { return Outcome::Skipped };
        let symbols = self.symbols;
        let (mut managed, mut out) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the export is owned, and is released once: here, or by the array that takes it
        // back.
        unsafe {
            let exported = (symbols.TVMArrayToDLPack)(array, &mut managed);
            if exported != 0 {
                return status(exported);
            }
            if back {
                let status = (symbols.TVMArrayFromDLPack)(managed, &mut out);
                if status != 0 {
                    (symbols.TVMDLManagedTensorCallDeleter)(managed);
                }
                return Outcome::Status(status, of_array(out));
            }
            let shown = normal::show_tensor(&(*managed).dl_tensor);
            (symbols.TVMDLManagedTensorCallDeleter)(managed);
            Outcome::Shown(0, shown)
        }
    }
}
