//! Operands of products, and their panels.

/// Columns of a panel of the right operand.
pub const COLUMNS: usize = 16;
/// Rows of a panel of the left operand.
pub const ROWS: usize = 12;

/// Left operand, in f32.
#[derive(Clone, Copy)]
pub enum Left {
    /// Rows in memory: the first element, and the distance of rows.
    Rows(*const f32, usize),
    /// Panels of [`ROWS`] rows: for each inner index, the elements of the rows.
    Panels(*const f32),
}

/// Right operand: the element of column `c` at the inner index `k` is
/// `data[c / 16 * panel + k * step + c % 16]`.
#[derive(Clone, Copy)]
pub struct Right<T> {
    /// First element.
    pub data: *const T,
    /// Distance of inner indices.
    pub step: usize,
    /// Distance of panels.
    pub panel: usize,
}

impl<T> Right<T> {
    /// Returns packed panels over the inner extent.
    pub fn panels(data: *const T, inner: usize) -> Self {
        Self { data, step: COLUMNS, panel: COLUMNS * inner }
    }
}
