//! Kernel launches: conversion of packed arguments to parameter values and work sizes.

mod packing;
mod parameter;
mod plan;
mod sizes;
mod tag;
pub mod webgpu_grid;

pub use packing::{pack_aligned, pack_slots_of_4, pack_slots_of_8};
pub use parameter::Parameter;
pub use plan::{Launch, LaunchPlan, MAX_PARAMETERS, Values};
pub use sizes::{Dimensions, WorkSizes};
pub use tag::{Tag, write_access};
