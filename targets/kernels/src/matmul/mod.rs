//! Matrix products: `out = epilogue(left right)`.
//!
//! The right operand is in panels of 16 columns, or lies row by row in memory; the left one lies
//! row by row, or is in panels of 12 rows. A tile of the result stays in registers over the whole
//! inner extent, so that the epilogue is fused into its only store.

pub mod batch;
pub mod calls;
mod dots;
mod operands;
mod pack;
mod product;
mod rows;
mod tile;

pub use calls::weights;
pub use dots::{DOT_ROWS, Dots};
pub use operands::{COLUMNS, Left, Lines, ROWS, Right};
pub use pack::{pack_columns, pack_transposed};
pub use product::Product;
pub use rows::{RowCopy, is_f32, to_f32};
