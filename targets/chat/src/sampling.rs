//! Choice of the next token from logits.
#![forbid(unsafe_code)]

use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use ferrite::{Result, ensure};

/// How tokens are chosen.
///
/// Penalties change the logits of tokens that the reply already has; then the logits are divided by
/// the temperature; then the token is drawn among the likeliest that `top_k` and `top_p` leave.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampling {
    /// Divisor of the logits; 0 chooses the likeliest token.
    pub temperature: f32,
    /// Sum of the probabilities among which a token is drawn, likeliest first; 1 for all tokens.
    pub top_p: f32,
    /// Number of tokens among which one is drawn.
    pub top_k: Option<usize>,
    /// Divisor of positive logits, and factor of negative ones, of tokens that the reply has.
    pub repetition_penalty: f32,
    /// Subtracted from the logits of tokens that the reply has.
    pub presence_penalty: f32,
    /// Subtracted from a logit for each occurrence of the token in the reply.
    pub frequency_penalty: f32,
    /// Seed of random numbers; without one, each conversation differs.
    pub seed: Option<u64>,
}

impl Default for Sampling {
    fn default() -> Sampling {
        Sampling {
            temperature: 1.0,
            top_p: 1.0,
            top_k: None,
            repetition_penalty: 1.0,
            presence_penalty: 0.0,
            frequency_penalty: 0.0,
            seed: None,
        }
    }
}

impl Sampling {
    /// Returns the sampling that always chooses the likeliest token.
    pub fn greedy() -> Sampling {
        Sampling { temperature: 0.0, ..Sampling::default() }
    }

    /// Checks the ranges of the numbers.
    ///
    /// # Errors
    /// ValueError that names the field.
    pub fn check(&self) -> Result<()> {
        let Sampling { temperature, top_p, repetition_penalty, .. } = *self;
        ensure!(
            temperature >= 0.0 && temperature.is_finite(),
            ValueError,
            "the temperature is {temperature}, which must be 0 or more"
        );
        ensure!(
            (0.0..=1.0).contains(&top_p),
            ValueError,
            "top_p is {top_p}, which must be between 0 and 1"
        );
        ensure!(self.top_k != Some(0), ValueError, "top_k must be 1 or more");
        ensure!(
            repetition_penalty > 0.0 && repetition_penalty.is_finite(),
            ValueError,
            "the repetition penalty is {repetition_penalty}, which must be above 0"
        );
        for penalty in [self.presence_penalty, self.frequency_penalty] {
            ensure!(
                penalty.is_finite(),
                ValueError,
                "a penalty is {penalty}, which must be a finite number"
            );
        }
        Ok(())
    }

    fn has_penalties(&self) -> bool {
        self.repetition_penalty != 1.0
            || self.presence_penalty != 0.0
            || self.frequency_penalty != 0.0
    }
}

/// Chooses the tokens of a conversation.
#[derive(Clone, Debug)]
pub struct Sampler {
    sampling: Sampling,
    /// State of the random numbers.
    state: u64,
    /// Occurrences of each token in the reply.
    counts: HashMap<u32, u32>,
    /// Tokens with their probabilities; kept for its memory.
    candidates: Vec<(f32, u32)>,
}

/// Number of candidates that are sorted first.
const SORTED: usize = 64;

impl Sampler {
    /// Creates a sampler.
    pub fn new(sampling: Sampling) -> Sampler {
        let state = sampling.seed.unwrap_or_else(|| RandomState::new().hash_one(0));
        Sampler { sampling, state, counts: HashMap::new(), candidates: Vec::new() }
    }

    /// Begins a reply: penalties no longer apply to earlier tokens.
    pub fn begin_reply(&mut self) {
        self.counts.clear();
    }

    /// Chooses a token. Changes the logits.
    ///
    /// # Errors
    /// ValueError if there are no logits, or none is a number: a model with broken weights.
    pub fn choose(&mut self, logits: &mut [f32]) -> Result<u32> {
        self.apply_penalties(logits);
        let (best, largest) = likeliest(logits);
        ensure!(largest.is_finite(), ValueError, "the model returned no finite logits");
        let token =
            if self.sampling.temperature == 0.0 { best } else { self.draw(logits, largest) };
        if self.sampling.has_penalties() {
            *self.counts.entry(token).or_default() += 1;
        }
        Ok(token)
    }

    fn apply_penalties(&self, logits: &mut [f32]) {
        let Sampling { repetition_penalty, presence_penalty, frequency_penalty, .. } =
            self.sampling;
        for (token, count) in &self.counts {
            let Some(logit) = logits.get_mut(*token as usize) else { continue };
            *logit = if *logit > 0.0 {
                *logit / repetition_penalty
            } else {
                *logit * repetition_penalty
            };
            *logit -= presence_penalty + frequency_penalty * *count as f32;
        }
    }

    fn draw(&mut self, logits: &[f32], largest: f32) -> u32 {
        let uniform = self.uniform();
        let scale = self.sampling.temperature;
        let weight =
            |logit: &f32| if logit.is_nan() { 0.0 } else { ((logit - largest) / scale).exp() };
        self.candidates.clear();
        self.candidates.extend(logits.iter().map(weight).zip(0..));
        let kept = self.keep_likeliest();
        let kept = &self.candidates[..kept];
        let total: f64 = kept.iter().map(|(weight, _)| f64::from(*weight)).sum();
        let mut left = uniform * total;
        let passes = |(weight, _): &&(f32, u32)| {
            left -= f64::from(*weight);
            left < 0.0
        };
        // Rounding may leave a remainder behind the last one.
        kept.iter().find(passes).or(kept.first()).map_or(0, |(_, token)| *token)
    }

    /// Puts the candidates among which one is drawn at the beginning, and returns their number.
    fn keep_likeliest(&mut self) -> usize {
        let Sampling { top_p, top_k, .. } = self.sampling;
        let all = self.candidates.len();
        let most = top_k.unwrap_or(all).min(all);
        if top_p >= 1.0 && most == all {
            return all;
        }
        let total: f64 = self.candidates.iter().map(|(weight, _)| f64::from(*weight)).sum();
        let mut sorted = SORTED;
        loop {
            sorted = sorted.min(all);
            if sorted < all {
                self.candidates.select_nth_unstable_by(sorted, likelier);
            }
            self.candidates[..sorted].sort_unstable_by(likelier);
            let mut sum = 0.0;
            let reaches = |(weight, _): &(f32, u32)| {
                sum += f64::from(*weight);
                sum >= f64::from(top_p) * total
            };
            match self.candidates[..sorted].iter().position(reaches) {
                Some(last) => return most.min(last + 1),
                None if most <= sorted || sorted == all => return most,
                None => sorted *= 8,
            }
        }
    }

    /// Returns a number from 0 to below 1 (the generator SplitMix64).
    fn uniform(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Orders candidates by falling weight, then by token.
fn likelier(a: &(f32, u32), b: &(f32, u32)) -> Ordering {
    b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))
}

/// Returns the token with the largest logit, the first of several, and that logit.
fn likeliest(logits: &[f32]) -> (u32, f32) {
    let mut best = (0, f32::NEG_INFINITY);
    for (logit, token) in logits.iter().zip(0..) {
        if *logit > best.1 {
            best = (token, *logit);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(sampling: Sampling, logits: &[f32], count: usize) -> Vec<u32> {
        let mut sampler = Sampler::new(sampling);
        (0..count).map(|_| sampler.choose(&mut logits.to_vec()).unwrap()).collect()
    }

    fn seeded(seed: u64) -> Sampling {
        Sampling { seed: Some(seed), ..Sampling::default() }
    }

    #[test]
    fn temperature_zero_chooses_the_first_of_the_likeliest() {
        assert_eq!(draws(Sampling::greedy(), &[1.0, 3.0, f32::NAN, 3.0], 3), [1, 1, 1]);
    }

    #[test]
    fn the_same_seed_draws_the_same_tokens() {
        let logits: Vec<f32> = (0..1000).map(|at| (at as f32).sin()).collect();
        assert_eq!(draws(seeded(7), &logits, 50), draws(seeded(7), &logits, 50));
        assert_ne!(draws(seeded(7), &logits, 50), draws(seeded(8), &logits, 50));
    }

    #[test]
    fn tokens_are_drawn_as_often_as_their_probability() {
        let logits = [0.5f32.ln(), 0.25f32.ln(), 0.25f32.ln()];
        let drawn = draws(seeded(1), &logits, 20_000);
        let share = |token| drawn.iter().filter(|one| **one == token).count() as f64 / 20_000.0;
        assert!((share(0) - 0.5).abs() < 0.02 && (share(1) - 0.25).abs() < 0.02);
        // Weights 0.5², 0.25² and 0.25².
        let cold = draws(Sampling { temperature: 0.5, ..seeded(1) }, &logits, 20_000);
        let first = cold.iter().filter(|one| **one == 0).count() as f64 / 20_000.0;
        assert!((first - 2.0 / 3.0).abs() < 0.02);
    }

    #[test]
    fn top_p_and_top_k_leave_the_likeliest() {
        let logits: Vec<f32> = (0..500).map(|at| -(at as f32) * 0.001).collect();
        let largest = |sampling| draws(sampling, &logits, 2000).into_iter().max().unwrap();
        assert!(largest(Sampling { top_k: Some(3), ..seeded(1) }) <= 2);
        assert_eq!(largest(Sampling { top_p: 0.0, ..seeded(1) }), 0);
        let half = largest(Sampling { top_p: 0.5, ..seeded(1) });
        assert!((150..250).contains(&half), "{half}");
        assert!(largest(Sampling { top_p: 0.5, top_k: Some(100), ..seeded(1) }) <= 99);
        assert!(largest(seeded(1)) > 450);
    }

    #[test]
    fn penalties_lower_tokens_of_the_reply() {
        let logits = [2.0, 1.5, -1.0];
        let greedy = Sampling::greedy();
        let repetition = Sampling { repetition_penalty: 2.0, ..greedy.clone() };
        assert_eq!(draws(repetition, &logits, 3), [0, 1, 0]);
        let presence = Sampling { presence_penalty: 10.0, ..greedy.clone() };
        assert_eq!(draws(presence, &logits, 4), [0, 1, 2, 0]);
        let frequency = Sampling { frequency_penalty: 0.3, ..greedy };
        assert_eq!(draws(frequency.clone(), &logits, 4), [0, 0, 1, 0]);
        let mut sampler = Sampler::new(frequency);
        sampler.choose(&mut logits.clone()).unwrap();
        sampler.choose(&mut logits.clone()).unwrap();
        sampler.begin_reply();
        assert_eq!(sampler.choose(&mut logits.clone()).unwrap(), 0);
    }

    #[test]
    fn numbers_out_of_range_are_errors() {
        for wrong in [
            Sampling { temperature: -1.0, ..Sampling::default() },
            Sampling { temperature: f32::NAN, ..Sampling::default() },
            Sampling { top_p: 1.5, ..Sampling::default() },
            Sampling { top_k: Some(0), ..Sampling::default() },
            Sampling { repetition_penalty: 0.0, ..Sampling::default() },
        ] {
            assert!(wrong.check().is_err(), "{wrong:?}");
        }
        assert!(Sampler::new(Sampling::greedy()).choose(&mut [f32::NAN]).is_err());
        assert!(Sampler::new(Sampling::greedy()).choose(&mut []).is_err());
    }
}
