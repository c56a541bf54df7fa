//! Distances computed each time, where size counts.
#![forbid(unsafe_code)]

pub(super) use super::computed as distance;
