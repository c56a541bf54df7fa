//! Products and convolutions of 8-bit integers, with exact sums.
//!
//! Operands are in groups of four bytes along the inner extent, since instructions multiply four
//! pairs and add them to an integer of 32 bits. One operand is unsigned and the other signed: a
//! signed input becomes unsigned by 128, as does its zero point. A product begins with what its
//! channel needs for the zero point and the bias, so that sums end as those of the differences.
//! They wrap: results are exact if they fit, as those of up to 65,793 products do
//! (2^31 / 255 / 128).

mod channels;
pub mod convolution;
pub mod dense;
mod depthwise;
mod gather;
mod narrow;
mod output;
mod product;
mod tile;

use crate::matmul::COLUMNS;

/// Bytes of a group.
const GROUP: usize = 4;

/// Bytes of a group of each column of a panel.
const PANEL_GROUP: usize = COLUMNS * GROUP;

/// Sign bit of bytes: signed integers plus 128 are unsigned.
const SIGN: u8 = 0x80;
