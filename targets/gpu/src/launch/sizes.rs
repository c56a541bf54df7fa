//! Work sizes of a launch.
#![forbid(unsafe_code)]

/// Extents along x, y and z.
pub type Dimensions = [u32; 3];

/// Work sizes of a launch. Axes without a launch tag have extent 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkSizes {
    /// Grid, block, cluster and preferred cluster.
    groups: [Dimensions; 4],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared_bytes: u32,
}

impl WorkSizes {
    /// Work sizes of a single thread without dynamic shared memory.
    pub const ONE: WorkSizes = WorkSizes { groups: [[1; 3]; 4], dynamic_shared_bytes: 0 };

    /// Sets the extent along an axis; see [`Tag::Axis`](super::Tag::Axis). An extent of 0, which
    /// comes from an empty tensor, becomes 1: the kernel's bounds check masks the block.
    pub(super) fn set(&mut self, axis: u8, extent: u32) {
        self.groups[usize::from(axis) / 3][usize::from(axis) % 3] = extent.max(1);
    }

    /// Returns the number of blocks along x, y and z.
    pub fn grid(&self) -> Dimensions {
        self.groups[0]
    }

    /// Returns the number of threads in a block along x, y and z.
    pub fn block(&self) -> Dimensions {
        self.groups[1]
    }

    /// Returns the number of blocks in a cluster along x, y and z.
    pub fn cluster(&self) -> Dimensions {
        self.groups[2]
    }

    /// Returns the preferred number of blocks in a cluster along x, y and z, for devices that
    /// support larger clusters.
    pub fn preferred_cluster(&self) -> Dimensions {
        self.groups[3]
    }
}
