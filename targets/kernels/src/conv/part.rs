//! Parts of the output of a convolution, one for each task.

use core::ops::Range;

use super::Geometry;
use crate::matmul::{COLUMNS, ROWS};
use crate::threads::share;

/// Part of the output of a task.
pub struct Part {
    /// Images and groups, image by image.
    pub planes: Range<usize>,
    /// Output channels of each group.
    pub rows: Range<usize>,
    /// Pixels of each image.
    pub pixels: Range<usize>,
}

impl Part {
    /// Splits images and groups if there are enough, else pixels, else channels.
    pub fn of_task(geometry: &Geometry, task: usize, tasks: usize) -> Self {
        let (planes, pixels) = (geometry.batch * geometry.groups, geometry.pixels());
        let (rows, all) = (0..geometry.outputs, 0..planes);
        if planes.is_multiple_of(tasks) || planes >= 8 * tasks {
            Self { planes: share(planes, 1, task, tasks), rows, pixels: 0..pixels }
        } else if pixels >= 4 * COLUMNS * tasks {
            Self { planes: all, rows, pixels: share(pixels, COLUMNS, task, tasks) }
        } else {
            let rows = share(geometry.outputs, ROWS, task, tasks);
            Self { planes: all, rows, pixels: 0..pixels }
        }
    }
}
