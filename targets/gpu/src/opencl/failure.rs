//! Errors of the OpenCL driver.
#![forbid(unsafe_code)]

use ferrite_core::error::{Error, Result};
use ferrite_core::plain_error;

use super::api::{self, Status};

/// Converts a status into a result.
///
/// # Errors
/// Same errors as [`error`].
#[inline]
pub(super) fn check(status: Status) -> Result<()> {
    if status == api::SUCCESS { Ok(()) } else { Err(error(status)) }
}

/// Returns the error for a status: MemoryError if the device or the driver is out of memory,
/// otherwise InternalError.
#[cold]
pub(super) fn error(status: Status) -> Error {
    match status {
        api::MEM_OBJECT_ALLOCATION_FAILURE | api::OUT_OF_HOST_MEMORY => {
            plain_error!(MEMORY_ERROR, "OpenCL Error, code={}: {}", status, name(status))
        }
        _ => plain_error!(INTERNAL_ERROR, "OpenCL Error, code={}: {}", status, name(status)),
    }
}

/// Returns the name of an error code.
pub(super) fn name(status: Status) -> &'static str {
    const DRIVER: [&str; 20] = [
        "CL_SUCCESS",
        "CL_DEVICE_NOT_FOUND",
        "CL_DEVICE_NOT_AVAILABLE",
        "CL_COMPILER_NOT_AVAILABLE",
        "CL_MEM_OBJECT_ALLOCATION_FAILURE",
        "CL_OUT_OF_RESOURCES",
        "CL_OUT_OF_HOST_MEMORY",
        "CL_PROFILING_INFO_NOT_AVAILABLE",
        "CL_MEM_COPY_OVERLAP",
        "CL_IMAGE_FORMAT_MISMATCH",
        "CL_IMAGE_FORMAT_NOT_SUPPORTED",
        "CL_BUILD_PROGRAM_FAILURE",
        "CL_MAP_FAILURE",
        "CL_MISALIGNED_SUB_BUFFER_OFFSET",
        "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
        "CL_COMPILE_PROGRAM_FAILURE",
        "CL_LINKER_NOT_AVAILABLE",
        "CL_LINK_PROGRAM_FAILURE",
        "CL_DEVICE_PARTITION_FAILED",
        "CL_KERNEL_ARG_INFO_NOT_AVAILABLE",
    ];
    const CALLER: [&str; 41] = [
        "CL_INVALID_VALUE",
        "CL_INVALID_DEVICE_TYPE",
        "CL_INVALID_PLATFORM",
        "CL_INVALID_DEVICE",
        "CL_INVALID_CONTEXT",
        "CL_INVALID_QUEUE_PROPERTIES",
        "CL_INVALID_COMMAND_QUEUE",
        "CL_INVALID_HOST_PTR",
        "CL_INVALID_MEM_OBJECT",
        "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR",
        "CL_INVALID_IMAGE_SIZE",
        "CL_INVALID_SAMPLER",
        "CL_INVALID_BINARY",
        "CL_INVALID_BUILD_OPTIONS",
        "CL_INVALID_PROGRAM",
        "CL_INVALID_PROGRAM_EXECUTABLE",
        "CL_INVALID_KERNEL_NAME",
        "CL_INVALID_KERNEL_DEFINITION",
        "CL_INVALID_KERNEL",
        "CL_INVALID_ARG_INDEX",
        "CL_INVALID_ARG_VALUE",
        "CL_INVALID_ARG_SIZE",
        "CL_INVALID_KERNEL_ARGS",
        "CL_INVALID_WORK_DIMENSION",
        "CL_INVALID_WORK_GROUP_SIZE",
        "CL_INVALID_WORK_ITEM_SIZE",
        "CL_INVALID_GLOBAL_OFFSET",
        "CL_INVALID_EVENT_WAIT_LIST",
        "CL_INVALID_EVENT",
        "CL_INVALID_OPERATION",
        "CL_INVALID_GL_OBJECT",
        "CL_INVALID_BUFFER_SIZE",
        "CL_INVALID_MIP_LEVEL",
        "CL_INVALID_GLOBAL_WORK_SIZE",
        "CL_INVALID_PROPERTY",
        "CL_INVALID_IMAGE_DESCRIPTOR",
        "CL_INVALID_COMPILER_OPTIONS",
        "CL_INVALID_LINKER_OPTIONS",
        "CL_INVALID_DEVICE_PARTITION_COUNT",
        "CL_INVALID_PIPE_SIZE",
        "CL_INVALID_DEVICE_QUEUE",
    ];
    let found = match status.checked_neg().map(usize::try_from) {
        Some(Ok(code @ ..30)) => DRIVER.get(code),
        Some(Ok(code)) => CALLER.get(code - 30),
        _ => None,
    };
    match status {
        api::PLATFORM_NOT_FOUND => "CL_PLATFORM_NOT_FOUND_KHR",
        _ => found.copied().unwrap_or("an unknown error"),
    }
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn codes_have_names() {
        let cases = [
            (0, "CL_SUCCESS"),
            (-11, "CL_BUILD_PROGRAM_FAILURE"),
            (-19, "CL_KERNEL_ARG_INFO_NOT_AVAILABLE"),
            (-30, "CL_INVALID_VALUE"),
            (-38, "CL_INVALID_MEM_OBJECT"),
            (-45, "CL_INVALID_PROGRAM_EXECUTABLE"),
            (-54, "CL_INVALID_WORK_GROUP_SIZE"),
            (-61, "CL_INVALID_BUFFER_SIZE"),
            (-70, "CL_INVALID_DEVICE_QUEUE"),
            (-1001, "CL_PLATFORM_NOT_FOUND_KHR"),
        ];
        for (status, expected) in cases {
            assert_eq!(name(status), expected);
        }
        for status in [1, -20, -29, -71, i32::MIN, i32::MAX] {
            assert_eq!(name(status), "an unknown error");
        }
    }
}
