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

/// Right operand. The inner extent is in equal parts: the element of column `c` at index `k` of
/// part `p` is `data[starts[p] + c / 16 * panel + k * step + c % 16]`.
#[derive(Clone, Copy)]
pub struct Right<T> {
    /// First element.
    pub data: *const T,
    /// Distance of inner indices.
    pub step: usize,
    /// Distance of panels.
    pub panel: usize,
    /// Starts of the parts, and their number. They must live as long as the product.
    starts: (*const usize, usize),
}

impl<T> Right<T> {
    /// Returns packed panels over the inner extent.
    pub fn panels(data: *const T, inner: usize) -> Self {
        Self::one_part(data, COLUMNS, COLUMNS * inner)
    }

    /// Returns rows in memory, at a distance.
    pub fn rows(data: *const T, distance: usize) -> Self {
        Self::one_part(data, distance, COLUMNS)
    }

    fn one_part(data: *const T, step: usize, panel: usize) -> Self {
        Self { data, step, panel, starts: (&raw const ZERO, 1) }
    }

    /// Returns rows in memory, whose inner extent is in parts.
    pub fn parts(data: *const T, distance: usize, starts: &[usize]) -> Self {
        Self { starts: (starts.as_ptr(), starts.len()), ..Self::rows(data, distance) }
    }

    /// Returns the operand from a column on.
    #[inline(always)]
    pub fn at_column(self, column: usize) -> Self {
        let within = column / COLUMNS * self.panel + column % COLUMNS;
        Self { data: self.data.wrapping_add(within), ..self }
    }

    /// Returns the starts of the parts.
    #[inline(always)]
    pub fn starts(&self) -> &[usize] {
        // SAFETY: the starts are those of a slice that lives as long as the product.
        unsafe { core::slice::from_raw_parts(self.starts.0, self.starts.1) }
    }
}

/// Start of the only part.
static ZERO: usize = 0;

/// Lines of columns, of which each has more than the result keeps.
#[derive(Clone, Copy)]
pub struct Lines {
    /// Columns of a line.
    pub columns: usize,
    /// Columns of a line in the result.
    pub kept: usize,
}

impl Lines {
    /// One line, which the result keeps.
    pub const ONE: Self = Self { columns: usize::MAX, kept: usize::MAX };

    /// Returns the place of a column in the result, how many of `count` columns from it on are
    /// neighbours there, and the distance to the next column that the result keeps.
    #[inline(always)]
    pub fn neighbours(&self, column: usize, count: usize) -> (usize, usize, usize) {
        if self.columns == usize::MAX {
            return (column, count, count);
        }
        let (line, at) = (column / self.columns, column % self.columns);
        let found = count.min(self.kept.saturating_sub(at));
        let next = if at + found < self.kept { found } else { self.columns - at };
        (line * self.kept + at, found, next)
    }
}
