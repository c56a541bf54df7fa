//! Convolutions of images in NCHW: of matrices over gathered pixels, or directly where each output
//! channel has one input channel.

pub mod calls;
mod depthwise;
mod gather;
mod geometry;
mod padded;
mod part;
mod product;

pub use depthwise::{Depthwise, Ends};
pub use gather::{Planes, Run};
pub use geometry::{Geometry, Parameters};
pub use padded::{Padded, Taps};
pub use part::Part;
