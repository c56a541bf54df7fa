//! Devices as values of [`Any`], and their names.

use crate::abi::{DLDevice, TVMFFIAnyPayload, type_index};
use crate::error::Result;
use crate::value::any::{Any, AnyView};
use crate::value::convert::AnyCompatible;
use crate::{any_from, any_texts};

pub mod kind;
mod text;

pub use text::{to_string, type_name, write_device};

any_from!(DLDevice);

// SAFETY: `view` gives the record that the ABI defines for type index 6, and only such a cell is
// read as a device.
unsafe impl AnyCompatible for DLDevice {
    any_texts!("Device", "Device");

    fn view(&self) -> AnyView<'_> {
        AnyView::plain(type_index::DEVICE, TVMFFIAnyPayload { v_device: *self })
    }

    fn into_any(self) -> Any {
        // SAFETY: a device is plain data, so there is no reference to hand over.
        unsafe { Any::from_raw(*self.view().as_raw()) }
    }

    /// Accepts a device or a device name. As upstream, any other string does not convert.
    fn try_from_view(value: AnyView<'_>) -> Result<Option<DLDevice>> {
        if value.type_index() == type_index::DEVICE {
            // SAFETY: the type index says that the payload holds a device.
            return Ok(Some(unsafe { value.as_raw().payload.v_device }));
        }
        Ok(value.bytes_of_string().and_then(DLDevice::try_parse))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CUDA1: DLDevice = DLDevice { device_type: 2, device_id: 1 };

    #[test]
    fn a_device_goes_through_any() {
        let any = CUDA1.into_any();
        assert_eq!(any.type_index(), type_index::DEVICE);
        assert_eq!(any.get::<DLDevice>().unwrap(), CUDA1);
    }

    #[test]
    fn text_converts_or_does_not() {
        assert_eq!(AnyView::from(c"cuda:1").get::<DLDevice>().unwrap(), CUDA1);
        assert!(AnyView::from(c"toaster").try_get::<DLDevice>().unwrap().is_none());
        assert!(AnyView::from(1i64).try_get::<DLDevice>().unwrap().is_none());
    }
}
