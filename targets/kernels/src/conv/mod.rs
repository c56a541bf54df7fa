//! Convolutions of images in NCHW: of matrices over gathered pixels, or directly where each output
//! channel has one input channel.

pub mod calls;
mod depthwise;
mod gather;
mod geometry;
mod padded;
mod product;

pub use geometry::Geometry;
