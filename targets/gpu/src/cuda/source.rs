//! CUDA source, compiled when its module is loaded: by the global function
//! `tvm_callback_cuda_compile` if registered, as in TVM, otherwise by NVRTC.
//!
//! `FERRITE_CUDA_ARCH` names the architecture; the default is that of the devices, or `compute_75`
//! without a device.

use core::ffi::{CStr, c_int};

use ferrite_core::error::Result;
use ferrite_core::names::global_table;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{Bytes, Error, String, plain_bail, plain_ensure};

use super::image::Format;
use super::nvrtc::{Nvrtc, nvrtc};
use super::platform;
use crate::variable;

const CALLBACK: &[u8] = b"tvm_callback_cuda_compile";
const ARCHITECTURE: &CStr = c"FERRITE_CUDA_ARCH";

/// Default architecture without a device: the oldest one that every supported NVRTC can target.
const OLDEST: i64 = 75;

/// Environment variables that name header folders, each with the subfolder of the headers. Kernels
/// with half precision include `cuda_fp16.h`.
const INCLUDE_FOLDERS: [(&CStr, &str); 3] =
    [(c"FERRITE_CUDA_INCLUDE", ""), (c"CUDA_HOME", "/include"), (c"CUDA_PATH", "/include")];

/// Compiles source with the registered callback or with NVRTC.
///
/// # Errors
/// CUDAError with the compiler's log; RuntimeError if there is no compiler; InternalError for
/// source that is not UTF-8, which no callback gets: upstream's Python package releases such a
/// string twice; errors of the callback.
pub(super) fn compile(source: &[u8]) -> Result<(Format, Bytes)> {
    if let Some(callback) = global_table::get(CALLBACK)? {
        plain_ensure!(
            core::str::from_utf8(source).is_ok(),
            INTERNAL_ERROR,
            "Malformed cuda module: the source is not UTF-8"
        );
        let compiled = callback.call_packed(&[(&String::from_bytes(source)?).into()])?;
        let code = match compiled.as_view().bytes_of_string() {
            Some(text) => Bytes::new(text)?,
            None => compiled.get::<Bytes>()?,
        };
        let format = if code.as_bytes().starts_with(b"/") { Format::Ptx } else { Format::Binary };
        return Ok((format, code));
    }
    let mut text = Buffer::try_with_capacity(source.len() + 1)?;
    text.try_extend_from_slice(source)?;
    text.try_push(0)?;
    let Ok(text) = CStr::from_bytes_with_nul(&text) else {
        plain_bail!(INTERNAL_ERROR, "Malformed cuda module: the source has a NUL byte");
    };
    let nvrtc = nvrtc()?;
    let architecture = architecture(nvrtc)?;
    nvrtc.compile(text, architecture.as_str().unwrap_or_default(), &include_options()?)
}

/// Returns the architecture to compile for, from `FERRITE_CUDA_ARCH` or the devices.
fn architecture(nvrtc: &Nvrtc) -> Result<String> {
    if let Some(chosen) = variable::get(ARCHITECTURE) {
        return String::from_bytes(chosen);
    }
    let supported = nvrtc.architectures()?;
    match capabilities() {
        Some((lowest, highest)) => architecture_of(lowest, highest, &supported),
        None => String::format(format_args!("compute_{OLDEST}")),
    }
}

/// Chooses the architecture for devices between a lowest and a highest compute capability: machine
/// code with architecture-specific instructions if both are equal and the compiler supports it,
/// otherwise PTX.
fn architecture_of(lowest: i64, highest: i64, supported: &[c_int]) -> Result<String> {
    let is_known = supported.iter().any(|one| i64::from(*one) == lowest);
    if lowest == highest && is_known {
        let suffix = if lowest >= 90 { "a" } else { "" };
        return String::format(format_args!("sm_{lowest}{suffix}"));
    }
    let older = supported.iter().map(|one| i64::from(*one)).filter(|one| *one <= lowest).max();
    String::format(format_args!("compute_{}", older.unwrap_or(OLDEST)))
}

/// Returns the lowest and the highest compute capability of the devices; `None` without a device.
fn capabilities() -> Option<(i64, i64)> {
    let capability = |device: &super::device::Device| {
        device.capability().map(|(major, minor)| major * 10 + minor)
    };
    let all = || -> Result<Option<(i64, i64)>> {
        let mut range: Option<(i64, i64)> = None;
        for device in platform::platform()?.devices() {
            let one = capability(device)?;
            range = Some(
                range.map_or((one, one), |(lowest, highest)| (lowest.min(one), highest.max(one))),
            );
        }
        Ok::<_, Error>(range)
    };
    all().unwrap_or_default()
}

/// Returns the compiler options that name header folders, each ending in a NUL.
fn include_options() -> Result<Buffer<Buffer<u8>>> {
    let mut options = Buffer::new();
    for (name, behind) in INCLUDE_FOLDERS {
        if let Some(folder) = variable::get(name) {
            let mut option = Buffer::new();
            option.try_extend_from_slice(b"--include-path=")?;
            option.try_extend_from_slice(folder)?;
            option.try_extend_from_slice(behind.as_bytes())?;
            option.try_push(0)?;
            options.try_push(option)?;
        }
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::architecture_of;

    #[test]
    fn architectures_are_those_of_the_devices() {
        let supported = [75, 80, 86, 90, 100];
        let cases = [
            (75, 75, "sm_75"),
            (86, 86, "sm_86"),
            (90, 90, "sm_90a"),
            (100, 100, "sm_100a"),
            (80, 90, "compute_80"),
            (89, 89, "compute_86"),
            (120, 120, "compute_100"),
            (70, 70, "compute_75"),
        ];
        for (lowest, highest, expected) in cases {
            let found = architecture_of(lowest, highest, &supported).unwrap();
            assert_eq!(found.as_bytes(), expected.as_bytes(), "{lowest} to {highest}");
        }
    }
}
