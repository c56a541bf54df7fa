//! Attention over a cache in pages.

use ferrite::env;
use ferrite::tensor::{Input, Output};
use ferrite::{Result, Tensor};

use crate::arithmetic::{add_scaled, dot, exponentials};
use crate::parallel;
use crate::simd::vectorized;

/// Attention of one query per sequence to the sequence's tokens in a paged cache. Query heads share the heads of the cache in equal
/// groups. A sequence without tokens gives zeros.
///
/// query: [seqs, heads, head_size]; key_cache, value_cache: [blocks, block_size, kv_heads, head_size]; block_tables: [seqs,
/// max_blocks] int32; context_lens: [seqs] int32; scale multiplies the products of queries and keys; out: [seqs, heads, head_size].
#[ferrite::export]
fn paged_attention_decode(
    query: Input<'_>,
    key_cache: Input<'_>,
    value_cache: Input<'_>,
    block_tables: Input<'_>,
    context_lens: Input<'_>,
    scale: f32,
    out: Option<Output<'_>>,
) -> Result<Option<Tensor>> {
    let ([seqs, heads, head_size], queries) = query.array::<f32, 3>()?;
    let ([blocks, block_size, kv_heads, _], keys) = key_cache.array::<f32, 4>()?;
    key_cache.check().same_extent(3, query.check(), 2)?.ensure(
        kv_heads > 0 && heads % kv_heads == 0 || heads == 0,
        "shape[2]",
        format_args!("a divisor of {heads}, got {kv_heads}"),
    )?;
    let values = value_cache.elements::<f32>(&[blocks, block_size, kv_heads, head_size])?;
    let ([_, max_blocks], tables) = block_tables.array::<i32, 2>()?;
    block_tables.check().same_extent(0, query.check(), 0)?;
    let most = max_blocks.saturating_mul(block_size);
    let lens = context_lens.check().shape(&[seqs as i64])?.indices::<i32>(most.saturating_add(1))?;
    let is_block = |block: &i32| usize::try_from(*block).is_ok_and(|block| block < blocks);
    block_tables.check().ensure(
        lens.iter().enumerate().all(|(seq, len)| {
            let used = (*len as usize).div_ceil(block_size.max(1));
            tables[seq * max_blocks..][..used].iter().all(is_block)
        }),
        "values",
        format_args!("0 to less than {blocks}"),
    )?;
    let cache = Cache { keys, values, block_size, kv_heads, head_size, scale };
    let tokens = lens.iter().map(|len| *len as usize).sum::<usize>() / seqs.max(1);
    env::tensor::output(out, query.tensor(), &[seqs, heads, head_size], |out| {
        parallel::rows(out, head_size, 4 * tokens * head_size, |row, out| {
            let mut scores = Vec::new();
            for (row, out) in (row..).zip(out.chunks_exact_mut(head_size)) {
                let (seq, head) = (row / heads, row % heads);
                scores.clear();
                scores.resize(lens[seq] as usize, 0.0);
                let (table, kv_head) = (&tables[seq * max_blocks..], head / (heads / kv_heads));
                attend(&cache, table, kv_head, &queries[row * head_size..][..head_size], &mut scores, out);
            }
        });
    })
}

/// The cached keys and values.
struct Cache<'a> {
    keys: &'a [f32],
    values: &'a [f32],
    block_size: usize,
    kv_heads: usize,
    head_size: usize,
    scale: f32,
}

impl Cache<'_> {
    /// Returns the place of a token's head in the caches.
    #[inline(always)]
    fn place(&self, table: &[i32], token: usize, head: usize) -> usize {
        let block = table[token / self.block_size] as usize;
        ((block * self.block_size + token % self.block_size) * self.kv_heads + head) * self.head_size
    }
}

vectorized! {
    /// Writes the attention of a head of the query; `scores` is scratch of one number for each token.
    fn attend(cache: &Cache<'_>, table: &[i32], head: usize, query: &[f32], scores: &mut [f32], out: &mut [f32]) {
        for (token, score) in scores.iter_mut().enumerate() {
            let key = &cache.keys[cache.place(table, token, head)..][..query.len()];
            *score = dot::<WIDTH>(query, key) * cache.scale;
        }
        let sum = exponentials(scores);
        out.fill(0.0);
        for (token, score) in scores.iter().enumerate() {
            let value = &cache.values[cache.place(table, token, head)..][..query.len()];
            add_scaled::<WIDTH>(out, *score / sum, value);
        }
    }
}
