//! Steps with modules of shared objects.

use ferrite_core::abi::*;

use super::state::{Machine, Outcome, bytes, pointer};
use crate::payloads::Payload;
use crate::shared_object::SharedObject;
use crate::{callbacks, limits};

impl Machine {
    pub(super) fn payload(&self, payload: &Payload) -> Outcome {
        let mut out = TVMFFIAny::NONE;
        // SAFETY: content and result live through the call.
        let status = unsafe {
            (self.library.symbols.TVMFFIBytesFromByteArray)(&bytes(&payload.bytes()), &mut out)
        };
        Outcome::Status(status, out)
    }

    pub(super) fn open_library(&self, object: &SharedObject) -> Outcome {
        if object.has_device() {
            limits::set_device_code(true);
        }
        let Some(file) = object.open() else { return Outcome::Skipped };
        let text = |text: &std::ffi::CStr| pointer(kTVMFFIRawStr, text.as_ptr().cast_mut().cast());
        let args = [text(&file.path), text(c"so")];
        let mut out = TVMFFIAny::NONE;
        let status = callbacks::call_global("ffi.Module.load_from_file.so", &args, &mut out);
        Outcome::Status(status, out)
    }
}
