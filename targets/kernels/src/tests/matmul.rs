//! Products of matrices.

use super::arrays::{Array, Number};
use super::{CASES, Call, Random};
use crate::element::{Bf16, F16};
use crate::matmul::batch::batch_matmul;
use crate::matmul::calls::{dense, pack_dense};
use crate::simd::Level;

const EXTENTS: [usize; 14] = [0, 1, 2, 3, 5, 7, 12, 13, 16, 17, 31, 32, 37, 67];

/// Exact element of a product, and the sum of the magnitudes of its terms.
fn exact(inner: usize, a: impl Fn(usize) -> f64, b: impl Fn(usize) -> f64) -> (f64, f64) {
    (0..inner)
        .map(|k| a(k) * b(k))
        .fold((0.0, 0.0), |(sum, all), term| (sum + term, all + term.abs()))
}

fn dense_case<T: Number>(random: &mut Random, [m, k, n]: [usize; 3], transposed: bool) {
    let x = Array::<T>::random(random, &[m, k]);
    let w = Array::<T>::random(random, &if transposed { [n, k] } else { [k, n] });
    let (bias, residual) = (random.optional(&[n]), random.optional(&[m, n]));
    let bias = Array::<T>::random(random, &bias);
    let residual = Array::<T>::random(random, &residual);
    let packed = Array::<T>::unwritten(&[n.div_ceil(16), k, 16]);
    Call::default().tensor(&w).int(transposed.into()).tensor(&packed).run(pack_dense::<T>).unwrap();
    let out = Array::<T>::unwritten(&[m, n]);
    let call = Call::default().tensor(&x).tensor(&packed).tensor(&bias).tensor(&residual);
    call.activation(1).tensor(&out).run(dense::<T>).unwrap();
    let expected = |index| {
        let (row, column) = (index / n, index % n);
        let weight = |k_| w.at(if transposed { column * k + k_ } else { k_ * n + column });
        let (mut sum, all) = exact(k, |k_| x.at(row * k + k_), weight);
        sum += if bias.data.is_empty() { 0.0 } else { bias.at(column) };
        sum += if residual.data.is_empty() { 0.0 } else { residual.at(index) };
        (sum.max(0.0), all + 2.0)
    };
    out.assert_near(expected, &format!("dense {m}x{k}x{n}"));
}

#[test]
fn dense_equals_a_loop_for_random_extents() {
    Level::each(|level| {
        let mut random = Random(level as u64);
        for case in 0..CASES {
            let extents = [(); 3].map(|()| random.one_of(&EXTENTS));
            match case % 4 {
                0 => dense_case::<F16>(&mut random, extents, case % 8 == 0),
                1 => dense_case::<Bf16>(&mut random, extents, case % 8 == 1),
                _ => dense_case::<f32>(&mut random, extents, case % 2 == 0),
            }
        }
    });
}

#[test]
#[cfg_attr(miri, ignore = "large; the small cases have each path")]
fn dense_splits_large_products_among_tasks() {
    Level::each(|_| {
        let mut random = Random(1);
        for extents in [[200, 64, 33], [3, 300, 400], [61, 1030, 100]] {
            dense_case::<f32>(&mut random, extents, false);
            dense_case::<F16>(&mut random, extents, true);
        }
    });
}

fn batch_case<T: Number>(random: &mut Random, batches: [usize; 2], [m, k, n]: [usize; 3]) {
    let transposed = random.below(2) == 1;
    let batch = if batches[0] == 1 { batches[1] } else { batches[0] };
    let a = Array::<T>::random(random, &[batches[0], m, k]);
    let [rows, columns] = if transposed { [n, k] } else { [k, n] };
    let b = Array::<T>::random(random, &[batches[1], rows, columns]);
    let out = Array::<T>::unwritten(&[batch, m, n]);
    let call = Call::default().tensor(&a).tensor(&b).int(transposed.into()).float(0.5);
    call.tensor(&out).run(batch_matmul::<T>).unwrap();
    let expected = |index| {
        let (matrix, row, column) = (index / n / m, index / n % m, index % n);
        let a_row = (matrix % batches[0] * m + row) * k;
        let b_first = matrix % batches[1] * k * n;
        let right = |k_| b.at(b_first + if transposed { column * k + k_ } else { k_ * n + column });
        let (sum, all) = exact(k, |k_| a.at(a_row + k_), right);
        (sum / 2.0, all)
    };
    out.assert_near(expected, &format!("batch_matmul {batches:?} {m}x{k}x{n} {transposed}"));
}

#[test]
fn batches_equal_a_loop_for_random_extents() {
    Level::each(|level| {
        let mut random = Random(7 + level as u64);
        for case in 0..CASES {
            let extents = [(); 3].map(|()| random.one_of(&EXTENTS));
            let batches = [[1, 1], [3, 3], [1, 4], [4, 1]][random.below(4)];
            match case % 4 {
                0 => batch_case::<F16>(&mut random, batches, extents),
                1 => batch_case::<Bf16>(&mut random, batches, extents),
                _ => batch_case::<f32>(&mut random, batches, extents),
            }
        }
    });
}
