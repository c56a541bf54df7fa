//! Splitting of grids for WebGPU, whose dispatches are limited to 65535 workgroups along each axis.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::plain_ensure;

use super::Dimensions;

/// Maximum number of workgroups of a dispatch along an axis.
const LARGEST: u32 = 65535;

/// Splits a grid that is too wide: halves x, rounding up, and doubles z until x fits. The shader
/// recovers the original index along x with the uniform `gridDim.x`, which holds the original
/// extent, and masks the blocks added by rounding.
///
/// # Errors
/// ValueError if a grid to split has a z other than 1, or if the split grid still does not fit.
pub fn split(grid: Dimensions) -> Result<Dimensions> {
    let [mut x, y, mut z] = grid;
    plain_ensure!(
        x <= LARGEST || z == 1,
        VALUE_ERROR,
        "A grid of WebGPU with {} blocks along x must have 1 along z, not {}",
        x,
        z
    );
    while x > LARGEST {
        x = x.div_ceil(2);
        z *= 2;
    }
    plain_ensure!(
        y <= LARGEST && z <= LARGEST,
        VALUE_ERROR,
        "A grid of WebGPU cannot have {} blocks along y and {} along z",
        y,
        z
    );
    Ok([x, y, z])
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn wide_grids_become_deep() {
        let cases = [
            ([1, 1, 1], [1, 1, 1]),
            ([65535, 65535, 65535], [65535, 65535, 65535]),
            ([65536, 2, 1], [32768, 2, 2]),
            ([131_071, 1, 1], [32768, 1, 4]),
            ([u32::MAX, 1, 1], [32768, 1, 131_072]),
        ];
        for (grid, expected) in &cases[..4] {
            assert_eq!(split(*grid).unwrap(), *expected);
        }
        assert_eq!(split(cases[4].0).unwrap_err().kind_bytes(), b"ValueError");
    }

    #[test]
    fn every_block_is_covered() {
        for x in [65536, 65537, 99_999, 131_070, 131_071, 1 << 20, (1 << 30) + 1] {
            let [split_x, _, z] = split([x, 1, 1]).unwrap();
            assert!(u64::from(split_x) * u64::from(z) >= u64::from(x), "{x}");
        }
    }

    #[test]
    fn grids_that_cannot_be_split_are_refused() {
        for grid in [[65536, 1, 2], [1, 65536, 1], [1, 1, 65536]] {
            assert_eq!(split(grid).unwrap_err().kind_bytes(), b"ValueError", "{grid:?}");
        }
    }
}
