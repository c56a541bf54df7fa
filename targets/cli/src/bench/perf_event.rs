//! The processor's counter of instructions, by Linux's `perf_event_open`.

/// Counter of the instructions that this thread executes in user mode.
pub struct PerfEvent {
    #[cfg(target_os = "linux")]
    file: std::fs::File,
}

#[cfg(target_os = "linux")]
mod linux {
    use core::ffi::{c_int, c_long, c_ulong};
    use std::fs::File;
    use std::io::{Error, ErrorKind, Read, Result};
    use std::os::fd::FromRawFd;

    use super::PerfEvent;

    /// Number of the system call.
    const PERF_EVENT_OPEN: Option<c_long> = if cfg!(target_arch = "x86_64") {
        Some(298)
    } else if cfg!(any(target_arch = "aarch64", target_arch = "riscv64")) {
        Some(241)
    } else {
        None
    };

    /// First version of `struct perf_event_attr`, which every kernel accepts.
    #[repr(C)]
    #[derive(Default)]
    struct Attributes {
        kind: u32,
        size: u32,
        config: u64,
        sample_period: u64,
        sample_type: u64,
        read_format: u64,
        flags: u64,
        wakeup_events: u32,
        breakpoint_type: u32,
        config1: u64,
    }

    const _: () = assert!(size_of::<Attributes>() == 64);

    const HARDWARE: u32 = 0;
    const INSTRUCTIONS: u64 = 1;
    /// Bits `exclude_kernel` and `exclude_hv`.
    const USER_MODE_ONLY: u64 = 1 << 5 | 1 << 6;

    unsafe extern "C" {
        fn syscall(number: c_long, ...) -> c_long;
    }

    impl PerfEvent {
        /// Opens the counter for this thread.
        ///
        /// # Errors
        /// The error of the system: the counter is missing, as in most virtual machines, or
        /// forbidden.
        pub fn open() -> Result<PerfEvent> {
            let Some(number) = PERF_EVENT_OPEN else { return Err(ErrorKind::Unsupported.into()) };
            let attributes = Attributes {
                kind: HARDWARE,
                size: size_of::<Attributes>() as u32,
                config: INSTRUCTIONS,
                flags: USER_MODE_ONLY,
                ..Attributes::default()
            };
            let (this_thread, any_processor, no_group, no_flags): (c_int, c_int, c_int, c_ulong) =
                (0, -1, -1, 0);
            // SAFETY: the kernel reads as many bytes of the record as it says.
            let opened = unsafe {
                syscall(
                    number,
                    &raw const attributes,
                    this_thread,
                    any_processor,
                    no_group,
                    no_flags,
                )
            };
            match c_int::try_from(opened) {
                Ok(descriptor @ 0..) => {
                    // SAFETY: the kernel has just opened the file for this caller.
                    Ok(PerfEvent { file: unsafe { File::from_raw_fd(descriptor) } })
                }
                _ => Err(Error::last_os_error()),
            }
        }

        /// Returns the number of instructions since the counter was opened.
        ///
        /// # Errors
        /// The error of the system.
        pub fn read(&self) -> Result<u64> {
            let mut bytes = [0; 8];
            (&self.file).read_exact(&mut bytes)?;
            Ok(u64::from_ne_bytes(bytes))
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl PerfEvent {
    /// Always fails: only Linux has instruction counters.
    pub fn open() -> std::io::Result<PerfEvent> {
        Err(std::io::ErrorKind::Unsupported.into())
    }

    /// Always fails: only Linux has instruction counters.
    pub fn read(&self) -> std::io::Result<u64> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
}
