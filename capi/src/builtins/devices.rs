//! Device back ends of the build.

pub(super) use ferrite_gpu::functions::GROUPS;
pub(super) use ferrite_gpu::install;
