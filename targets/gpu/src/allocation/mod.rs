//! Reuse of device memory without a wait.
//!
//! | file | content |
//! |---|---|
//! | `streams` | streams whose commands may use memory that is freed |

mod streams;

pub(crate) use streams::{StreamDriver, UsedStreams};
