//! Bookkeeping of mixtures of experts: which tokens go to which expert, in which order, and back.
//!
//! A slot is a token's choice of an expert: slot `t * k + i` is the i-th choice of token `t`.

use ferrite::env;
use ferrite::tensor::{Input, Output};
use ferrite::{Result, Tensor, ensure};

use crate::arithmetic::add_scaled;
use crate::parallel;
use crate::simd::vectorized;

/// The most experts, which bounds the memory for their counts.
const MOST_EXPERTS: usize = 1 << 16;

/// The most rows of a block.
const MOST_ROWS: usize = 1 << 16;

/// Returns the experts of the slots, each of which is less than `experts`.
fn checked_ids<'a>(topk_ids: Input<'a>, experts: usize) -> Result<&'a [i32]> {
    ensure!(experts <= MOST_EXPERTS, ValueError, "Invalid experts, expected at most {MOST_EXPERTS}");
    let ids = topk_ids.check().ndim(2)?.indices::<i32>(experts)?;
    // Slots are numbered in int32.
    topk_ids.check().ensure(
        i32::try_from(ids.len()).is_ok(),
        "shape",
        format_args!("less than 2^31 elements"),
    )?;
    Ok(ids)
}

/// Returns the number of slots of each expert.
fn histogram(ids: &[i32], experts: usize) -> Vec<usize> {
    let mut counts = vec![0; experts];
    ids.iter().for_each(|id| counts[*id as usize] += 1);
    counts
}

/// Returns where each expert's part begins, for parts of these sizes.
fn starts(sizes: impl Iterator<Item = usize>) -> Vec<usize> {
    let sums = sizes.scan(0, |sum, size| {
        *sum += size;
        Some(*sum - size)
    });
    sums.collect()
}

/// The number of slots of each expert.
///
/// topk_ids: [tokens, k] int32; out: [experts] int32.
#[ferrite::export]
fn expert_histogram(topk_ids: Input<'_>, experts: usize, out: Option<Output<'_>>) -> Result<Option<Tensor>> {
    let counts = histogram(checked_ids(topk_ids, experts)?, experts);
    env::tensor::output(out, topk_ids.tensor(), &[experts], |out: &mut [i32]| {
        out.iter_mut().zip(counts).for_each(|(out, count)| *out = count as i32);
    })
}

/// Slots by expert, where the slots of each expert fill whole blocks, so that a block of rows has one expert. Room that is left in an
/// expert's last block has the number of slots in place of a slot, and so has what follows the last block; unused blocks have
/// expert -1.
///
/// topk_ids: [tokens, k] int32; sorted_slots: [at least slots + experts * (block_size - 1)] int32; block_experts: [at least
/// sorted_slots / block_size, rounded up] int32; padded: [1] int32, the number of entries in use.
#[ferrite::export]
fn moe_align_block_size(
    topk_ids: Input<'_>,
    experts: usize,
    block_size: usize,
    mut sorted_slots: Output<'_>,
    mut block_experts: Output<'_>,
    mut padded: Output<'_>,
) -> Result<()> {
    ensure!(
        (1..=MOST_ROWS).contains(&block_size),
        ValueError,
        "Invalid block_size, expected 1 to {MOST_ROWS}"
    );
    let ids = checked_ids(topk_ids, experts)?;
    let counts = histogram(ids, experts);
    let blocks = counts.iter().map(|count| count.div_ceil(block_size));
    let (mut places, used) =
        (starts(blocks.clone().map(|blocks| blocks * block_size)), blocks.clone().sum::<usize>());
    let ([room], sorted) = sorted_slots.array_mut::<i32, 1>()?;
    ensure!(
        room >= used * block_size,
        ValueError,
        "Invalid sorted_slots.shape[0], expected at least {}, got {room}",
        used * block_size
    );
    let ([room], of_blocks) = block_experts.array_mut::<i32, 1>()?;
    ensure!(room >= used, ValueError, "Invalid block_experts.shape[0], expected at least {used}, got {room}");
    let padded = padded.elements_mut::<i32>(&[1])?;

    sorted.fill(ids.len() as i32);
    for (slot, id) in ids.iter().enumerate() {
        let place = &mut places[*id as usize];
        sorted[*place] = slot as i32;
        *place += 1;
    }
    of_blocks.fill(-1);
    let experts = blocks.enumerate().flat_map(|(expert, blocks)| std::iter::repeat_n(expert as i32, blocks));
    of_blocks.iter_mut().zip(experts).for_each(|(of_block, expert)| *of_block = expert);
    padded[0] = (used * block_size) as i32;
    Ok(())
}

/// The rows of the tokens by expert: those of expert 0 first, each expert's in the order of the slots.
///
/// x: [tokens, cols]; topk_ids: [tokens, k] int32; out: [tokens * k, cols]; slots: [tokens * k] int32, the slot of each row of out.
#[ferrite::export]
fn moe_permute(
    x: Input<'_>,
    topk_ids: Input<'_>,
    experts: usize,
    mut out: Output<'_>,
    mut slots: Output<'_>,
) -> Result<()> {
    let ([_, cols], rows) = x.array::<f32, 2>()?;
    let [_, k] = topk_ids.check().extents()?;
    topk_ids.check().same_extent(0, x.check(), 0)?;
    let ids = checked_ids(topk_ids, experts)?;
    let out = out.elements_mut::<f32>(&[ids.len(), cols])?;
    let slots = slots.elements_mut::<i32>(&[ids.len()])?;
    let mut places = starts(histogram(ids, experts).into_iter());
    for (slot, id) in ids.iter().enumerate() {
        let place = &mut places[*id as usize];
        slots[*place] = slot as i32;
        *place += 1;
    }
    parallel::rows(out, cols, cols, |row, out| {
        for (out, slot) in out.chunks_exact_mut(cols).zip(&slots[row..]) {
            out.copy_from_slice(&rows[*slot as usize / k * cols..][..cols]);
        }
    });
    Ok(())
}

/// The sum of each token's rows, times its weights: back from the order of `moe_permute`.
///
/// x: [tokens * k, cols]; slots: [tokens * k] int32, as `moe_permute` writes them; weights: [tokens, k]; out: [tokens, cols].
#[ferrite::export]
fn moe_unpermute(
    x: Input<'_>,
    slots: Input<'_>,
    weights: Input<'_>,
    out: Option<Output<'_>>,
) -> Result<Option<Tensor>> {
    let (([_, cols], rows), ([tokens, k], factors)) = (x.array::<f32, 2>()?, weights.array::<f32, 2>()?);
    x.check().dim(0, (tokens * k) as i64)?;
    let numbers = slots.elements::<i32>(&[tokens * k])?;
    // The row of each slot.
    let mut row_of = vec![usize::MAX; numbers.len()];
    for (row, slot) in numbers.iter().enumerate() {
        if let Some(place) = usize::try_from(*slot).ok().and_then(|slot| row_of.get_mut(slot)) {
            *place = row;
        }
    }
    slots.check().ensure(
        row_of.iter().all(|row| *row != usize::MAX),
        "values",
        format_args!("each number from 0 to less than {} once", numbers.len()),
    )?;
    env::tensor::output(out, x.tensor(), &[tokens, cols], |out| {
        parallel::rows(out, cols, k * cols, |token, out| {
            for (token, out) in (token..).zip(out.chunks_exact_mut(cols)) {
                let slots = token * k..(token + 1) * k;
                weighted_sum(rows, &row_of[slots.clone()], &factors[slots], out);
            }
        });
    })
}

vectorized! {
    /// Writes the sum of rows of `x`, each times its factor.
    fn weighted_sum(x: &[f32], rows: &[usize], factors: &[f32], out: &mut [f32]) {
        out.fill(0.0);
        for (row, factor) in rows.iter().zip(factors) {
            add_scaled::<WIDTH>(out, *factor, &x[row * out.len()..][..out.len()]);
        }
    }
}
