//! Work sizes of a launch.
#![forbid(unsafe_code)]

/// Extents along x, y and z.
pub type Dimensions = [u32; 3];

/// Work sizes of a launch: 1 along every axis that the kernel does not name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkSizes {
    /// Grid, block, cluster and preferred cluster.
    groups: [Dimensions; 4],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared_bytes: u32,
}

impl WorkSizes {
    /// Work sizes of a single thread.
    pub const ONE: WorkSizes = WorkSizes { groups: [[1; 3]; 4], dynamic_shared_bytes: 0 };

    /// Sets the extent along an axis, see [`Tag::Axis`](super::Tag::Axis). An empty tensor gives 0, which counts as 1, since
    /// the block masks itself.
    pub(super) fn set(&mut self, axis: u8, extent: u32) {
        self.groups[usize::from(axis) / 3][usize::from(axis) % 3] = extent.max(1);
    }

    /// Returns the number of blocks.
    pub fn grid(&self) -> Dimensions {
        self.groups[0]
    }

    /// Returns the number of threads in a block.
    pub fn block(&self) -> Dimensions {
        self.groups[1]
    }

    /// Returns the number of blocks in a cluster.
    pub fn cluster(&self) -> Dimensions {
        self.groups[2]
    }

    /// Returns the number of blocks in a cluster on devices that support larger ones.
    pub fn preferred_cluster(&self) -> Dimensions {
        self.groups[3]
    }
}
