//! Registration of this layer's fork handlers.
#![forbid(unsafe_code)]

use ferrite_core::platform::sync::fork::{AtFork, Ring, enlist};

use super::globals::data_types;

static PARTS: &[&dyn AtFork] = &[data_types::CODES.lock()];

/// Registers fork handlers that hold the locks of this layer during a fork. Called when the library
/// is loaded.
pub fn install() {
    enlist(Ring::Legacy, PARTS);
}
