//! Rotary position embedding.

use ferrite::Result;
use ferrite::tensor::{Input, Output};

use crate::parallel;
use crate::simd::vectorized;

/// Rotates the first `rotary_dim` elements of each head by the angles of its token's position: element i with i + rotary_dim / 2
/// (NeoX). In place.
///
/// positions: [tokens] int64; query: [tokens, heads, head_size]; key: [tokens, kv_heads, head_size]; cos_sin_cache: [max_position,
/// rotary_dim], whose rows are the cosines and then the sines.
#[ferrite::export]
fn rotary_embedding(
    positions: Input<'_>,
    query: Output<'_>,
    key: Output<'_>,
    cos_sin_cache: Input<'_>,
) -> Result<()> {
    let [tokens] = positions.check().extents()?;
    let [_, _, head_size] = query.check().extents()?;
    key.check().ndim(3)?.same_extent(2, query.check(), 2)?;
    let ([max_position, rotary_dim], angles) = cos_sin_cache.array::<f32, 2>()?;
    cos_sin_cache.check().ensure(
        rotary_dim % 2 == 0 && rotary_dim <= head_size,
        "shape[1]",
        format_args!("an even number of at most {head_size}, got {rotary_dim}"),
    )?;
    let places = positions.check().indices::<i64>(max_position)?;
    for mut tensor in [query, key] {
        let [_, heads, _] = tensor.check().extents()?;
        let elements = tensor.elements_mut::<f32>(&[tokens, heads, head_size])?;
        let width = heads * head_size;
        parallel::rows(elements, width, 4 * width, |token, rows| {
            for (row, place) in rows.chunks_exact_mut(width).zip(&places[token..]) {
                let angles = &angles[*place as usize * rotary_dim..][..rotary_dim];
                rotate(row, head_size, angles);
            }
        });
    }
    Ok(())
}

vectorized! {
    /// Rotates the heads of a token.
    fn rotate(heads: &mut [f32], head_size: usize, angles: &[f32]) {
        let (cos, sin) = angles.split_at(angles.len() / 2);
        for head in heads.chunks_exact_mut(head_size) {
            let (low, high) = head[..angles.len()].split_at_mut(cos.len());
            for (((low, high), cos), sin) in low.iter_mut().zip(high).zip(cos).zip(sin) {
                (*low, *high) = (*low * cos - *high * sin, *high * cos + *low * sin);
            }
        }
    }
}
