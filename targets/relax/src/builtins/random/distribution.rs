//! Distributions, with the numbers that libstdc++ draws from the same engine.

use super::engine::Engine;

/// Number of values of the engine.
const VALUES: f64 = 4_294_967_296.0;

/// Returns a number from 0 up to 1, which is excluded.
fn unit_f32(engine: &mut Engine) -> f32 {
    (engine.next() as f32 / VALUES as f32).min(1.0f32.next_down())
}

/// Returns a number from 0 up to 1, which is excluded, from two numbers of the engine.
fn unit_f64(engine: &mut Engine) -> f64 {
    let sum = f64::from(engine.next()) + f64::from(engine.next()) * VALUES;
    (sum / (VALUES * VALUES)).min(1.0f64.next_down())
}

/// Returns a number from `low` up to `high`.
pub(super) fn uniform(engine: &mut Engine, low: f32, high: f32) -> f32 {
    unit_f32(engine) * (high - low) + low
}

/// Returns two numbers of the normal distribution with mean 0 and deviation 1, by the polar method.
pub(super) fn normal(engine: &mut Engine) -> [f32; 2] {
    loop {
        let x = 2.0 * unit_f32(engine) - 1.0;
        let y = 2.0 * unit_f32(engine) - 1.0;
        let square = x * x + y * y;
        if square <= 1.0 && square != 0.0 {
            let factor = libm::sqrtf(-2.0 * libm::logf(square) / square);
            return [y * factor, x * factor];
        }
    }
}

/// Representation of the elements that `random_fill` writes.
#[derive(Clone, Copy)]
pub(super) enum Fill {
    Bytes,
    Halves,
    Singles,
    Doubles,
}

impl Fill {
    /// Returns the representation of elements with `bits` bits; `None` if there is none.
    pub(super) fn of_bits(bits: u8) -> Option<Fill> {
        Some(match bits {
            8 => Fill::Bytes,
            16 => Fill::Halves,
            32 => Fill::Singles,
            64 => Fill::Doubles,
            _ => return None,
        })
    }

    /// Fills memory with numbers from 1 up to 10.
    pub(super) fn draw(self, engine: &mut Engine, bytes: &mut [u8]) {
        let mut number = || unit_f64(engine) * 9.0 + 1.0;
        match self {
            Fill::Bytes => bytes.iter_mut().for_each(|byte| *byte = number() as u8),
            Fill::Halves => bytes
                .as_chunks_mut()
                .0
                .iter_mut()
                .for_each(|half| *half = half_of(number() as f32).to_ne_bytes()),
            Fill::Singles => bytes
                .as_chunks_mut()
                .0
                .iter_mut()
                .for_each(|single| *single = (number() as f32).to_ne_bytes()),
            Fill::Doubles => bytes
                .as_chunks_mut()
                .0
                .iter_mut()
                .for_each(|double| *double = number().to_ne_bytes()),
        }
    }
}

/// Returns the float16 next to a number from 1 to 10, ties to even.
fn half_of(number: f32) -> u16 {
    // Bits of the fraction that float16 lacks, and the difference of the biases, shifted to the
    // exponent of a float32.
    const LOST: u32 = 13;
    const BIAS: u32 = (127 - 15) << 23;
    let bits = number.to_bits() - BIAS;
    let even = bits >> LOST & 1;
    ((bits + (1 << (LOST - 1)) - 1 + even) >> LOST) as u16
}

#[cfg(test)]
mod tests {
    use super::half_of;

    #[test]
    fn halves_are_rounded_to_the_nearest_even_one() {
        let cases = [
            (1.0, 0x3c00),
            (10.0, 0x4900),
            (1.0 + 1.0 / 2048.0, 0x3c00), // halfway: to the even one below
            (1.0 + 3.0 / 2048.0, 0x3c02), // halfway: to the even one above
            (1.0 + 1.001 / 2048.0, 0x3c01), // beyond halfway
            (f32::from_bits(0x3fff_ffff), 0x4000), // to the next power of two
        ];
        for (number, half) in cases {
            assert_eq!(half_of(number), half, "{number}");
        }
    }
}
