//! Environment variables that select drivers and devices, that limit pools of memory, and that name
//! code: libraries and header folders.

use core::ffi::{CStr, c_char};

/// Returns the value of an environment variable; `None` if it is not set, or if the process has
/// privileges that its caller lacks.
pub(crate) fn get(name: &CStr) -> Option<&'static [u8]> {
    get_c_str(name).map(CStr::to_bytes)
}

/// Returns the value of an environment variable as a C string; `None` if it is not set, or if the
/// process has privileges that its caller lacks.
pub(crate) fn get_c_str(name: &CStr) -> Option<&'static CStr> {
    unsafe extern "C" {
        fn getenv(name: *const c_char) -> *const c_char;
    }
    if privileges::are_raised() {
        return None;
    }
    // SAFETY: the name ends in a NUL, and so does the result; programs change their environment
    // before they start threads.
    unsafe {
        let value = getenv(name.as_ptr());
        (!value.is_null()).then(|| CStr::from_ptr(value))
    }
}

/// Returns the number of bytes of unused memory that a device may keep for tensors, from
/// `FERRITE_DEVICE_POOL` in MiB; 0 keeps none. Returns `None` without a limit.
#[cfg_attr(
    not(any(feature = "cuda", feature = "opencl", feature = "rocm", feature = "vulkan")),
    allow(dead_code, reason = "the other kinds keep no memory for tensors")
)]
pub(crate) fn pool_limit() -> Option<u64> {
    get(c"FERRITE_DEVICE_POOL").and_then(mebibytes)
}

/// Parses a number of MiB, in bytes. Returns `None` for anything but a number.
fn mebibytes(value: &[u8]) -> Option<u64> {
    let number: u64 = core::str::from_utf8(value).ok()?.trim().parse().ok()?;
    Some(number.saturating_mul(1 << 20))
}

/// Whether the program of this process has privileges that its caller lacks, by a set-user-ID bit
/// or by capabilities: who set the environment must not choose its code.
mod privileges {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(super) fn are_raised() -> bool {
        const AT_SECURE: core::ffi::c_ulong = 23;
        unsafe extern "C" {
            safe fn getauxval(kind: core::ffi::c_ulong) -> core::ffi::c_ulong;
        }
        getauxval(AT_SECURE) != 0
    }

    #[cfg(target_vendor = "apple")]
    pub(super) fn are_raised() -> bool {
        unsafe extern "C" {
            safe fn issetugid() -> core::ffi::c_int;
        }
        issetugid() != 0
    }

    /// Returns `false`: Windows has no set-user-ID programs.
    #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
    pub(super) fn are_raised() -> bool {
        false
    }
}

/// Returns `true` if a name contains a string, ignoring case.
#[cfg_attr(
    not(any(feature = "opencl", feature = "vulkan", feature = "webgpu", target_vendor = "apple")),
    allow(dead_code, reason = "CUDA's own variable chooses its devices, by number")
)]
pub(crate) fn contains(name: &[u8], text: &[u8]) -> bool {
    text.is_empty() || name.windows(text.len()).any(|window| window.eq_ignore_ascii_case(text))
}

#[cfg(test)]
mod tests {
    use super::{contains, mebibytes};

    #[test]
    fn a_limit_is_a_number_of_mebibytes() {
        assert_eq!(mebibytes(b"0"), Some(0));
        assert_eq!(mebibytes(b" 64\n"), Some(64 << 20));
        assert_eq!(mebibytes(b"99999999999999999"), Some(u64::MAX));
        for other in [&b""[..], b"off", b"-1", b"1.5", b"\xff"] {
            assert_eq!(mebibytes(other), None);
        }
    }

    #[test]
    fn devices_are_chosen_by_a_part_of_their_name() {
        assert!(contains(b"Portable Computing Language", b"computing"));
        assert!(contains(b"NVIDIA CUDA", b"") && contains(b"NVIDIA CUDA", b"nvidia cuda"));
        assert!(!contains(b"NVIDIA CUDA", b"amd") && !contains(b"ab", b"abc"));
    }
    #[cfg(target_os = "linux")]
    const CHOSEN: &core::ffi::CStr = c"FERRITE_NVRTC";

    /// Runs as a child of the next test.
    #[cfg(target_os = "linux")]
    #[test]
    #[ignore = "prints what a process with other privileges sees"]
    fn the_variable_as_this_process_sees_it() {
        println!("variable: {:?}", super::get(CHOSEN));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn variables_are_ignored_by_programs_with_raised_privileges() {
        use std::os::unix::fs::PermissionsExt;
        use std::os::unix::process::CommandExt;
        use std::process::Command;

        let folder =
            std::env::temp_dir().join(format!("ferrite-privileges-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let program = folder.join("test");
        std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        let printed = |mode: u32, user: Option<u32>| {
            for (path, mode) in [(&folder, 0o755), (&program, mode)] {
                std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
            }
            let mut command = Command::new(&program);
            if let Some(user) = user {
                command.uid(user);
            }
            let name = "variable::tests::the_variable_as_this_process_sees_it";
            let ran = command
                .args(["--ignored", "--exact", "--nocapture", name])
                .env(CHOSEN.to_str().unwrap(), "/tmp/evil.so")
                .current_dir("/")
                .output();
            ran.map(|output| String::from_utf8_lossy(&output.stdout).contains("variable: Some"))
        };
        let outcomes = (printed(0o755, None), printed(0o4755, Some(65534)));
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(outcomes.0.unwrap());
        // Only root can run a program as another user.
        match outcomes.1 {
            Ok(is_read) => assert!(!is_read),
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied),
        }
    }
}
