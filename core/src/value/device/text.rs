//! Parsing and formatting of device names such as `cuda:1`.
#![forbid(unsafe_code)]

use super::kind;
use crate::abi::DLDevice;
use crate::error::Result;
use crate::plain_bail;
use crate::platform::text::Writer;
use crate::value::string::String;

/// Names that parse, aliases included. As upstream, pinned host memory and oneAPI have names that
/// are printed but not parsed.
const PARSED: &[(&[u8], i32)] = &[
    (b"cpu", kind::CPU),
    (b"cuda", kind::CUDA),
    (b"opencl", kind::OPENCL),
    (b"vulkan", kind::VULKAN),
    (b"metal", kind::METAL),
    (b"mps", kind::METAL),
    (b"vpi", kind::VPI),
    (b"rocm", kind::ROCM),
    (b"ext_dev", kind::EXT_DEV),
    (b"hexagon", kind::HEXAGON),
    (b"wgpu", kind::WEB_GPU),
    (b"webgpu", kind::WEB_GPU),
    (b"maia", kind::MAIA),
    (b"trn", kind::TRN),
];

impl DLDevice {
    /// Parses a device of the form `name` or `name:id`. Anything after a space is ignored. The
    /// default id is 0.
    ///
    /// Returns `None` if the string is not a device name or the id is not a decimal number of at
    /// most 31 bits.
    ///
    /// # Upstream
    /// `TryStringViewToDLDevice` of `include/tvm/ffi/device.h`.
    pub fn try_parse(text: &[u8]) -> Option<DLDevice> {
        let text = text.split(|&byte| byte == b' ').next()?;
        let mut parts = text.split(|&byte| byte == b':');
        let name = parts.next()?;
        let (_, device_type) = *PARSED.iter().find(|(known, _)| *known == name)?;
        let device_id = match parts.next() {
            Some(digits) => parse_id(digits)?,
            None => 0,
        };
        match parts.next() {
            Some(_) => None,
            None => Some(DLDevice { device_type, device_id }),
        }
    }

    /// Parses a device as [`DLDevice::try_parse`] does.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::abi::DLDevice;
    /// use ferrite_core::value::device::kind;
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let device = DLDevice::parse(b"cuda:1")?;
    /// assert_eq!((device.device_type, device.device_id), (kind::CUDA, 1));
    /// assert!(DLDevice::parse(b"toaster").is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// ValueError if the string is not a device name.
    pub fn parse(text: &[u8]) -> Result<DLDevice> {
        match DLDevice::try_parse(text) {
            Some(device) => Ok(device),
            None => plain_bail!(VALUE_ERROR, "Invalid device: {}", text),
        }
    }
}

fn parse_id(digits: &[u8]) -> Option<i32> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0i32, |value, &digit| {
        let digit = digit.is_ascii_digit().then(|| i32::from(digit - b'0'))?;
        value.checked_mul(10)?.checked_add(digit)
    })
}

/// Returns the name of a device type, or `None` if DLPack 1.3 does not define the type.
///
/// # Examples
/// ```
/// use ferrite_core::value::device;
///
/// assert_eq!(device::type_name(device::kind::VULKAN), Some("vulkan"));
/// assert_eq!(device::type_name(1234), None);
/// ```
///
/// # Upstream
/// The names of the Python package's `Device`.
pub fn type_name(device_type: i32) -> Option<&'static str> {
    let name = match device_type {
        kind::CPU => "cpu",
        kind::CUDA => "cuda",
        kind::CUDA_HOST => "cuda_host",
        kind::OPENCL => "opencl",
        kind::VULKAN => "vulkan",
        kind::METAL => "metal",
        kind::VPI => "vpi",
        kind::ROCM => "rocm",
        kind::ROCM_HOST => "rocm_host",
        kind::EXT_DEV => "ext_dev",
        kind::CUDA_MANAGED => "cuda_managed",
        kind::ONE_API => "oneapi",
        kind::WEB_GPU => "webgpu",
        kind::HEXAGON => "hexagon",
        kind::MAIA => "maia",
        kind::TRN => "trn",
        _ => return None,
    };
    Some(name)
}

/// Writes a device as `name:id`. An undefined type is written as its number.
pub fn write_device(device: DLDevice, out: &mut Writer<'_>) {
    match type_name(device.device_type) {
        Some(name) => out.put(name.as_bytes()),
        None => out.put_number(device.device_type.into()),
    }
    out.put(b":");
    out.put_number(device.device_id.into());
}

/// Returns a device as the string `name:id`.
///
/// # Examples
/// ```
/// use ferrite_core::abi::DLDevice;
/// use ferrite_core::value::device;
///
/// # fn main() -> ferrite_core::Result<()> {
/// assert_eq!(device::to_string(DLDevice { device_type: device::kind::CPU, device_id: 0 })?, "cpu:0");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// MemoryError if the name does not fit a small string and memory is exhausted.
pub fn to_string(device: DLDevice) -> Result<String> {
    String::compose(&|out| write_device(device, out))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Option<(i32, i32)> {
        DLDevice::try_parse(text.as_bytes()).map(|device| (device.device_type, device.device_id))
    }

    fn printed(device_type: i32, device_id: i32) -> std::string::String {
        let text = to_string(DLDevice { device_type, device_id }).unwrap();
        std::string::String::from_utf8(text.as_bytes().to_vec()).unwrap()
    }

    #[test]
    fn parses_names_and_ids() {
        assert_eq!(parsed("cpu"), Some((kind::CPU, 0)));
        assert_eq!(parsed("cuda:3"), Some((kind::CUDA, 3)));
        assert_eq!(parsed("mps:1"), Some((kind::METAL, 1)));
        assert_eq!(parsed("wgpu"), Some((kind::WEB_GPU, 0)));
        assert_eq!(parsed("cuda:2147483647"), Some((kind::CUDA, i32::MAX)));
        assert_eq!(parsed("llvm -mcpu=x"), None);
        assert_eq!(parsed("cuda -arch=sm_80"), Some((kind::CUDA, 0)));
    }

    #[test]
    fn refuses_what_names_no_device() {
        for text in [
            "",
            " cpu",
            ":",
            ":0",
            "cuda:",
            "cuda:x",
            "cuda:-1",
            "cuda:1:2",
            "cuda:2147483648",
            "CPU",
            "cuda_host",
        ] {
            assert_eq!(parsed(text), None, "{text}");
        }
        let error = DLDevice::parse(b"toaster:1").unwrap_err();
        assert_eq!(error.kind_bytes(), b"ValueError");
        assert_eq!(error.message_bytes(), b"Invalid device: toaster:1");
    }

    #[test]
    fn prints_every_type() {
        assert_eq!(printed(kind::CPU, 0), "cpu:0");
        assert_eq!(printed(kind::CUDA_MANAGED, i32::MIN), "cuda_managed:-2147483648");
        assert_eq!(printed(5, 1), "5:1");
        assert_eq!(printed(i32::MIN, i32::MIN), "-2147483648:-2147483648");
    }

    #[test]
    fn parsed_names_round_trip() {
        for &(name, device_type) in PARSED {
            let canonical = type_name(device_type).unwrap();
            assert_eq!(DLDevice::try_parse(canonical.as_bytes()), DLDevice::try_parse(name));
        }
    }
}
