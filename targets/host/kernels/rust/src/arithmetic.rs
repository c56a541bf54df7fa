//! Arithmetic on slices in a form that compilers turn into vector code: sums are of independent lanes, whose order is fixed.

/// Number of independent sums.
const LANES: usize = 32;

/// Returns `a * b + c`, with one rounding where that is one instruction.
#[inline(always)]
pub fn multiply_add<const WIDTH: usize>(a: f32, b: f32, c: f32) -> f32 {
    if WIDTH > 4 { a.mul_add(b, c) } else { a * b + c }
}

/// Returns the sum of `map` of each element.
#[inline(always)]
pub fn sum_of(x: &[f32], map: impl Fn(f32) -> f32) -> f32 {
    let mut lanes = [0.0; LANES];
    let (chunks, rest) = x.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, x) in lanes.iter_mut().zip(chunk) {
            *lane += map(*x);
        }
    }
    lanes.iter().sum::<f32>() + rest.iter().map(|x| map(*x)).sum::<f32>()
}

/// Returns the sum of the products of the elements.
#[inline(always)]
pub fn dot<const WIDTH: usize>(x: &[f32], y: &[f32]) -> f32 {
    let mut lanes = [0.0; LANES];
    let ((chunks, rest), (y_chunks, y_rest)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
    for (x, y) in chunks.iter().zip(y_chunks) {
        for ((lane, x), y) in lanes.iter_mut().zip(x).zip(y) {
            *lane = multiply_add::<WIDTH>(*x, *y, *lane);
        }
    }
    lanes.iter().sum::<f32>() + rest.iter().zip(y_rest).map(|(x, y)| x * y).sum::<f32>()
}

/// Adds `factor * x` to `sum`, element by element.
#[inline(always)]
pub fn add_scaled<const WIDTH: usize>(sum: &mut [f32], factor: f32, x: &[f32]) {
    for (sum, x) in sum.iter_mut().zip(x) {
        *sum = multiply_add::<WIDTH>(factor, *x, *sum);
    }
}

/// Returns the greatest element; minus infinity if there is none. NaN counts as smallest.
#[inline(always)]
pub fn max(x: &[f32]) -> f32 {
    let mut lanes = [f32::NEG_INFINITY; LANES];
    let (chunks, rest) = x.as_chunks::<LANES>();
    let greater = |a: f32, b: f32| if b > a { b } else { a };
    for chunk in chunks {
        for (lane, x) in lanes.iter_mut().zip(chunk) {
            *lane = greater(*lane, *x);
        }
    }
    lanes.iter().chain(rest).fold(f32::NEG_INFINITY, |a, b| greater(a, *b))
}

/// Returns e to the power of `x`, with an error of at most 2 units in the last place; 0 below -87, and infinity above 88.7.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    /// Adding it rounds to an integer, which then is in the low bits.
    const ROUND: f32 = 12_582_912.0;
    // The natural logarithm of 2, in two parts: products of the first one with small integers are exact.
    const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let power = shifted - ROUND;
    let r = x - power * LN_2[0] - power * LN_2[1];
    // The Taylor polynomial of exp(r) on half of ln 2, with coefficients for the least error (Cephes).
    let series = [1.987_569_1e-4, 1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5];
    let mut sum = 0.0;
    for coefficient in series {
        sum = sum * r + coefficient;
    }
    let mantissa = sum * r * r + r + 1.0;
    // In two factors, since their product may be beyond the powers of 2 that are normal numbers.
    let exponent = shifted.to_bits().wrapping_sub(ROUND.to_bits()) as i32;
    let half = exponent >> 1;
    let two_to = |exponent: i32| f32::from_bits((exponent.wrapping_add(127) as u32) << 23);
    let value = mantissa * two_to(half) * two_to(exponent.wrapping_sub(half));
    if x < -87.0 {
        0.0
    } else if x > 88.722_84 {
        f32::INFINITY
    } else {
        value
    }
}

/// Replaces each element by e to the power of its difference to the greatest one, and returns their sum.
#[inline(always)]
pub fn exponentials(x: &mut [f32]) -> f32 {
    let most = max(x);
    for x in x.iter_mut() {
        *x = exp(*x - most);
    }
    sum_of(x, |x| x)
}
