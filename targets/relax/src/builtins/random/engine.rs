//! The Mersenne Twister (mt19937), and seeds for it.

use ferrite_core::platform::sync::atomic::{AtomicUsize, Ordering};

/// Number of words of the state.
const WORDS: usize = 624;
/// Distance of the words that a step combines.
const DISTANCE: usize = 397;

/// A generator of 32-bit numbers.
///
/// # Upstream
/// `std::mt19937`, with the same numbers for a seed.
pub(super) struct Engine {
    words: [u32; WORDS],
    /// Index of the next word; `WORDS` when all were used.
    at: usize,
}

impl Engine {
    /// Creates a generator for a seed.
    pub(super) fn new(seed: u32) -> Engine {
        let mut words = [seed; WORDS];
        for at in 1..WORDS {
            let last = words[at - 1];
            words[at] = (last ^ last >> 30).wrapping_mul(1_812_433_253).wrapping_add(at as u32);
        }
        Engine { words, at: WORDS }
    }

    /// Creates a generator with a seed that no other call gets.
    pub(super) fn fresh() -> Engine {
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        let call = CALLS.fetch_add(1, Ordering::Relaxed) as u64;
        Engine::new(combine_seeds(start_of_process(), call.cast_signed()))
    }

    /// Returns the next number.
    pub(super) fn next(&mut self) -> u32 {
        if self.at == WORDS {
            self.refill();
        }
        let mut word = self.words[self.at];
        self.at += 1;
        word ^= word >> 11;
        word ^= word << 7 & 0x9d2c_5680;
        word ^= word << 15 & 0xefc6_0000;
        word ^ word >> 18
    }

    fn refill(&mut self) {
        for at in 0..WORDS {
            let joined = self.words[at] & 0x8000_0000 | self.words[(at + 1) % WORDS] & 0x7fff_ffff;
            let twist = if joined & 1 == 1 { 0x9908_b0df } else { 0 };
            self.words[at] = self.words[(at + DISTANCE) % WORDS] ^ joined >> 1 ^ twist;
        }
        self.at = 0;
    }
}

/// Returns a number that differs between processes, on hosts.
fn start_of_process() -> i64 {
    #[cfg(feature = "std")]
    {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let nanoseconds = now.map(|since| since.as_nanos() as u64).unwrap_or_default();
        (nanoseconds ^ u64::from(std::process::id()) << 32).cast_signed()
    }
    #[cfg(not(feature = "std"))]
    0
}

/// Returns the seed of an operator with two seeds, as TVM's runtime combines them.
pub(super) fn combine_seeds(first: i64, second: i64) -> u32 {
    /// Increment of the generator splitmix64.
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |value: u64| {
        let value = value.wrapping_add(STEP);
        let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ value >> 31
    };
    let first = first.cast_unsigned();
    let spread = mix(second.cast_unsigned())
        .wrapping_add(STEP)
        .wrapping_add(first << 6)
        .wrapping_add(first >> 2);
    let combined = mix(first) ^ spread;
    (combined >> 32 ^ combined) as u32
}
