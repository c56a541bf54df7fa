//! Kernel launches: conversion of packed arguments to parameter values and work sizes.

mod arguments;
mod packing;
mod parameter;
mod plan;
mod sizes;
mod tag;
mod values;
pub mod webgpu_grid;

pub use arguments::Launch;
pub use packing::{pack_aligned, pack_slots_of_4, pack_slots_of_8};
pub use parameter::Parameter;
pub use plan::LaunchPlan;
pub use sizes::{Dimensions, WorkSizes};
pub use tag::{Tag, write_access};
pub use values::{MAX_PARAMETERS, Values};
