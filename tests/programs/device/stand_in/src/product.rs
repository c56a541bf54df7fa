//! Products of matrices in column-major order, executed on the CPU.

use std::ffi::c_int;

use crate::faults::{Fault, Outcome, complain};
use crate::memory::View;

/// Bytes of the workspace that every product needs.
pub const WORKSPACE_BYTES: u64 = 4096;

pub const DEFAULT: u64 = 1;
pub const RELU: u64 = 2;
pub const BIAS: u64 = 4;
pub const GELU: u64 = 32;

/// A product, without its matrices.
#[derive(Clone, Copy)]
pub struct Description {
    pub is_tf32: bool,
    pub transposes_a: bool,
    pub transposes_b: bool,
    pub epilogue: u64,
    pub bias: u64,
}

/// The matrices of an operand.
#[derive(Clone, Copy)]
pub struct Layout {
    pub element: c_int,
    pub rows: u64,
    pub columns: u64,
    pub stride: i64,
    pub batch: i32,
    pub batch_stride: i64,
}

/// A queued product.
#[derive(Clone, Copy)]
pub struct Product {
    pub description: Description,
    pub alpha: f32,
    pub beta: f32,
    pub matrices: [(u64, Layout); 4],
    pub workspace: u64,
}

impl Product {
    /// Calculates the product. `memory` returns the memory at an address of the device.
    pub fn run(&self, memory: impl Fn(u64) -> Option<View>) -> Outcome<()> {
        let view = |address| {
            memory(address).ok_or_else(|| {
                let text =
                    format!("a product uses {address:#x}, which is not memory of its device");
                complain(Fault::IllegalAddress, text)
            })
        };
        // The workspace is used.
        view(self.workspace)?.store(WORKSPACE_BYTES as i64 / 8 - 1, 0u64)?;
        let of = &self.description;
        let [(a, a_layout), (b, b_layout), (c, c_layout), (d, d_layout)] = self.matrices;
        let inner = if of.transposes_a { a_layout.rows } else { a_layout.columns };
        let (a, b, d) = (view(a)?, view(b)?, view(d)?);
        let bias = if of.epilogue & BIAS == 0 { None } else { Some(view(of.bias)?) };
        for batch in 0..i64::from(d_layout.batch) {
            for column in 0..d_layout.columns {
                for row in 0..d_layout.rows {
                    let mut sum = 0f32;
                    for k in 0..inner {
                        let left = a_layout.load(a, batch, (row, k), of.transposes_a)?;
                        let right = b_layout.load(b, batch, (k, column), of.transposes_b)?;
                        sum += of.rounded(left) * of.rounded(right);
                    }
                    let mut result = self.alpha * sum;
                    if self.beta != 0.0 {
                        result +=
                            self.beta * c_layout.load(view(c)?, batch, (row, column), false)?;
                    }
                    if let Some(bias) = bias {
                        result += load(bias, row as i64, d_layout.element)?;
                    }
                    let at = d_layout.index(batch, row, column);
                    store(d, at, d_layout.element, activated(result, of.epilogue))?;
                }
            }
        }
        Ok(())
    }
}

impl Description {
    /// Checks that the layouts fit together.
    pub fn check(&self, [a, b, c, d]: &[Layout; 4]) -> Outcome<()> {
        let size = |layout: &Layout, is_transposed| {
            if is_transposed {
                (layout.columns, layout.rows)
            } else {
                (layout.rows, layout.columns)
            }
        };
        let ((m, k), (inner, n)) = (size(a, self.transposes_a), size(b, self.transposes_b));
        let fits = |layout: &Layout| {
            (layout.rows, layout.columns) == (m, n) && layout.element == a.element
        };
        if k != inner || b.element != a.element || !fits(c) || !fits(d) {
            return Err(invalid("matrices that do not fit together"));
        }
        if [a, b, c].iter().any(|one| one.batch != d.batch) || (d.batch > 1 && d.batch_stride == 0)
        {
            return Err(invalid("batches that do not fit together"));
        }
        if self.epilogue & !(DEFAULT | RELU | BIAS | GELU) != 0
            || self.epilogue & BIAS != 0 && self.bias == 0
        {
            return Err(invalid("an unknown epilogue, or a bias without an address"));
        }
        Ok(())
    }

    /// Returns a factor of the product, with 10 bits after the point for TF32.
    fn rounded(&self, factor: f32) -> f32 {
        let bits = factor.to_bits();
        if self.is_tf32 { f32::from_bits((bits + 0x1000) & !0x1fff) } else { factor }
    }
}

impl Layout {
    fn index(&self, batch: i64, row: u64, column: u64) -> i64 {
        batch * self.batch_stride + column as i64 * self.stride + row as i64
    }

    fn load(&self, memory: View, batch: i64, at: (u64, u64), is_transposed: bool) -> Outcome<f32> {
        let (row, column) = if is_transposed { (at.1, at.0) } else { at };
        load(memory, self.index(batch, row, column), self.element)
    }
}

/// Returns the fault of a call that only a faulty library makes.
pub fn invalid(text: &str) -> Fault {
    complain(Fault::InvalidValue, format!("cuBLASLt: {text}"))
}

fn activated(x: f32, epilogue: u64) -> f32 {
    if epilogue & RELU != 0 {
        x.max(0.0)
    } else if epilogue & GELU != 0 {
        let inner = std::f32::consts::FRAC_2_PI.sqrt() * (x + 0.044_715 * x * x * x);
        x * (1.0 + inner.tanh()) / 2.0
    } else {
        x
    }
}

fn load(memory: View, index: i64, element: c_int) -> Outcome<f32> {
    Ok(match element {
        0 => memory.load(index)?,
        2 => half::f16::from_bits(memory.load(index)?).to_f32(),
        _ => half::bf16::from_bits(memory.load(index)?).to_f32(),
    })
}

fn store(memory: View, index: i64, element: c_int, value: f32) -> Outcome<()> {
    match element {
        0 => memory.store(index, value),
        2 => memory.store(index, half::f16::from_f32(value).to_bits()),
        _ => memory.store(index, half::bf16::from_f32(value).to_bits()),
    }
}
