//! Errors of the Metal framework.

use ferrite_core::String;
use ferrite_core::error::{Error, Result};
use ferrite_core::plain_error;
use objc2::runtime::ProtocolObject;
use objc2_foundation::{NSError, NSString};
use objc2_metal::{MTLCommandBuffer, MTLCommandBufferStatus};

/// Converts an `NSString` to a String.
///
/// # Errors
/// MemoryError.
pub(super) fn text(text: &NSString) -> Result<String> {
    String::format(format_args!("{text}"))
}

/// Returns the description of an error.
///
/// # Errors
/// MemoryError.
pub(super) fn description(error: &NSError) -> Result<String> {
    text(&error.localizedDescription())
}

/// Returns the error of a command buffer; `None` unless it failed.
pub(super) fn of_commands(commands: &ProtocolObject<dyn MTLCommandBuffer>) -> Option<Error> {
    if commands.status() != MTLCommandBufferStatus::Error {
        return None;
    }
    Some(match commands.error().map(|error| description(&error)) {
        Some(Ok(text)) => {
            plain_error!(INTERNAL_ERROR, "Metal: a kernel or copy failed: {}", text.as_bytes())
        }
        Some(Err(error)) => error,
        None => plain_error!(INTERNAL_ERROR, "Metal: a kernel or copy failed"),
    })
}

/// Returns the MemoryError for an object that the framework did not create: it returns nil when it
/// is out of memory.
#[cold]
pub(super) fn missing(what: &str) -> Error {
    plain_error!(MEMORY_ERROR, "Metal has no memory for a {}", what)
}
