//! Attributes of Metal devices.

use ferrite_alloc_ext::device::Attribute;
use ferrite_core::Any;
use ferrite_core::error::Result;
use objc2_metal::MTLDevice;

use super::super::code::Code;
use super::device::Device;
use super::failure;
use crate::attribute_text;

/// An empty kernel, compiled to find the warp size.
const NOTHING: (&[u8], Code<'_>) = (b"nothing", Code::Source("kernel void nothing() {}"));

impl Device {
    /// Returns the value of an attribute; `None` if Metal has no such attribute.
    ///
    /// # Errors
    /// MemoryError; InternalError if the compiler is not available.
    pub(in super::super) fn attribute(&'static self, attribute: Attribute) -> Result<Any> {
        let number = |number: usize| Any::from(number as i64);
        let block = self.metal().maxThreadsPerThreadgroup();
        let total = self.metal().recommendedMaxWorkingSetSize() as usize;
        Ok(match attribute {
            Attribute::Exists => 1i64.into(),
            Attribute::MaxThreadsPerBlock => number(block.width),
            Attribute::WarpSize => number(self.load(NOTHING.0, NOTHING.1)?.warp_size()),
            Attribute::SharedMemoryPerBlock => number(self.metal().maxThreadgroupMemoryLength()),
            Attribute::DeviceName => failure::text(&self.metal().name())?.into(),
            Attribute::MaxThreadDimensions => attribute_text::extents(
                block.width as i64,
                block.height as i64,
                block.depth as i64,
            )?
            .into(),
            Attribute::TotalGlobalMemory => number(total),
            Attribute::AvailableGlobalMemory => {
                number(total.saturating_sub(self.metal().currentAllocatedSize()))
            }
            _ => Any::NONE,
        })
    }
}
