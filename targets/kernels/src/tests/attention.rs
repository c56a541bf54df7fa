//! Attention.

use super::arrays::{Array, Number};
use super::{CASES, Call, Random};
use crate::attention::calls::attention;
use crate::element::{Bf16, F16};
use crate::simd::Level;

fn check<T: Number>(random: &mut Random, [s, t, d]: [usize; 3], causal: bool) {
    let (b, kv, group) = (random.one_of(&[1, 2]), random.one_of(&[1, 3]), random.one_of(&[1, 2]));
    let h = kv * group;
    let q = Array::<T>::random(random, &[b, h, s, d]);
    let [k, v] = [(); 2].map(|()| Array::<T>::random(random, &[b, kv, t, d]));
    let broadcast = [b, h, s, t].map(|extent| random.one_of(&[1, extent]));
    let mask = random.optional(&broadcast);
    let mask = Array::<T>::random(random, &mask);
    let out = Array::<T>::unwritten(&[b, h, s, d]);
    let call = Call::default().tensor(&q).tensor(&k).tensor(&v).tensor(&mask);
    call.float(0.5).int(causal.into()).tensor(&out).run(attention::<T>).unwrap();
    let expected = |index: usize| {
        let (column, query, head, image) =
            (index % d, index / d % s, index / d / s % h, index / d / s / h);
        let first = (image * kv + head / group) * t;
        let attended = if causal { (query + 1 + t).saturating_sub(s) } else { t };
        let scores: Vec<f64> = (0..attended)
            .map(|key| {
                let dot = |i| q.at(index / d * d + i) * k.at((first + key) * d + i);
                let place = [image, head, query, key].into_iter().zip(&broadcast);
                let at = place.fold(0, |at, (index, extent)| at * extent + index % extent);
                (0..d).map(dot).sum::<f64>() / 2.0
                    + if mask.data.is_empty() { 0.0 } else { mask.at(at) }
            })
            .collect();
        let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = scores.iter().map(|score| (score - largest).exp()).collect();
        let total: f64 = weights.iter().sum();
        let term = |(key, weight): (usize, &f64)| weight * v.at((first + key) * d + column);
        (weights.iter().enumerate().map(term).sum::<f64>() / total.max(1e-30), 4.0)
    };
    out.assert_near(expected, &format!("attention of {:?}, {t} keys", q.shape));
}

#[test]
fn attention_equals_a_loop_for_random_extents() {
    Level::each(|level| {
        let mut random = Random(200 + level as u64);
        for case in 0..CASES {
            let s = random.one_of(&[0, 1, 2, 13, 24, 25, 49]);
            let t = random.one_of(&[1, 3, 16, 17, 40]);
            let d = random.one_of(&[1, 8, 16, 20, 64]);
            match case % 4 {
                0 => check::<F16>(&mut random, [s, t, d], false),
                1 => check::<Bf16>(&mut random, [s, t, d], true),
                2 => check::<f32>(&mut random, [s, t, d], true),
                _ => check::<f32>(&mut random, [s, t, d], false),
            }
        }
    });
}
