//! Blocks of queries.

use core::ops::Range;

use super::Attention;
use super::softmax::{RowMask, exponentials};
use crate::arguments::Result;
use crate::element::Element;
use crate::epilogue::Epilogue;
use crate::matmul::{COLUMNS, Left, Product, Right, pack_columns, pack_transposed, to_f32};
use crate::scratch::Scratch;
use crate::simd::{self, Level, Simd, Work};
use crate::threads::{self, share};

/// Queries of a block.
const BLOCK: usize = 24;

impl<T: Element> Attention<T> {
    /// Computes the result.
    ///
    /// # Errors
    /// Those of workspaces and of the pool.
    pub fn run(&self) -> Result<()> {
        let level = Level::current();
        let heads = self.batch * self.heads;
        threads::launch(4 * heads * self.queries * self.keys * self.size, |task, tasks| {
            let (heads, queries) = if heads % tasks == 0 || heads >= 8 * tasks {
                (share(heads, 1, task, tasks), 0..self.queries)
            } else {
                (0..heads, share(self.queries, 1, task, tasks))
            };
            let (keys, size) = (self.keys, self.size);
            let k = Scratch::new(keys.next_multiple_of(COLUMNS) * size)?;
            let v = Scratch::new(size.next_multiple_of(COLUMNS) * keys)?;
            let q = Scratch::new(BLOCK * size)?;
            let scores = Scratch::new(BLOCK * keys)?;
            let (k, v, q, scores) = (k.data(), v.data(), q.data(), scores.data());
            simd::run(level, Part { attention: self, heads, queries, k, v, q, scores });
            Ok(())
        })
    }
}

struct Part<'a, T> {
    attention: &'a Attention<T>,
    heads: Range<usize>,
    queries: Range<usize>,
    k: *mut f32,
    v: *mut f32,
    q: *mut f32,
    scores: *mut f32,
}

impl<T: Element> Work for Part<'_, T> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Attention { heads, key_heads, .. } = *self.attention;
        let mut packed = None;
        for head in self.heads.clone() {
            let key_head = head / heads * key_heads + head % heads / (heads / key_heads);
            // SAFETY: the extents were checked, and the scratch has the space.
            unsafe {
                if packed.replace(key_head) != Some(key_head) {
                    self.pack(key_head);
                }
                for first in self.queries.clone().step_by(BLOCK) {
                    self.block(simd, head, first..self.queries.end.min(first + BLOCK));
                }
            }
        }
    }
}

impl<T: Element> Part<'_, T> {
    /// Packs the keys and the values of a head.
    #[inline(always)]
    unsafe fn pack(&self, key_head: usize) {
        let Attention { keys, size, .. } = *self.attention;
        let offset = key_head * keys * size;
        let (k, v) = (self.attention.k.wrapping_add(offset), self.attention.v.wrapping_add(offset));
        // SAFETY: the caller guarantees the head and the space.
        unsafe {
            pack_transposed((k, size), (size, keys), self.k, 0.0, T::to_f32);
            pack_columns((v, size), (keys, size), self.v, 0.0, T::to_f32);
        }
    }

    #[inline(always)]
    unsafe fn block<S: Simd>(&self, simd: S, head: usize, queries: Range<usize>) {
        let Attention { keys, size, .. } = *self.attention;
        let attended = self.attention.attended(queries.end - 1);
        let start = (head * self.attention.queries + queries.start) * size;
        // SAFETY: the caller guarantees the head, the queries and the space.
        unsafe {
            to_f32(simd, self.attention.q.add(start), self.q, queries.len() * size);
            let scores = Product {
                inner: size,
                left: Left::Rows(self.q, size),
                right: Right::panels(self.k.cast_const(), size),
                out: self.scores,
                out_row: keys,
                epilogue: Epilogue::scale(1.0),
            };
            scores.block(simd, 0..queries.len(), 0..attended);
            for query in queries.clone() {
                self.normalise(simd, head, query, query - queries.start, attended);
            }
            let sums = Product {
                inner: attended,
                left: Left::Rows(self.scores, keys),
                right: Right { panel: COLUMNS * keys, ..Right::panels(self.v.cast_const(), keys) },
                out: self.attention.out.add(start),
                out_row: size,
                epilogue: Epilogue::scale(1.0),
            };
            sums.block(simd, 0..queries.len(), 0..size);
        }
    }

    /// Replaces a row of scores by their softmax; it is zero where the query does not attend.
    #[inline(always)]
    unsafe fn normalise<S: Simd>(
        &self,
        simd: S,
        head: usize,
        query: usize,
        row: usize,
        width: usize,
    ) {
        let attention = self.attention;
        let row = self.scores.wrapping_add(row * attention.keys);
        let count = attention.attended(query).min(width);
        let [batch, heads, queries, step] = attention.mask_strides;
        let mut mask = RowMask { data: attention.mask, step };
        if !mask.data.is_null() {
            let (image, head) = (head / attention.heads, head % attention.heads);
            mask.data = mask.data.wrapping_add(image * batch + head * heads + query * queries);
        }
        // SAFETY: the caller guarantees the row.
        unsafe {
            let sum = exponentials(simd, row, count, attention.scale, mask);
            let factor = simd.splat(1.0 / sum);
            let mut at = 0;
            while at < count {
                let value = f32::load_head(simd, row.add(at), count - at);
                f32::store_head(simd, row.add(at), simd.mul(value, factor), count - at);
                at += S::LANES;
            }
            for at in count..width {
                *row.add(at) = 0.0;
            }
        }
    }
}
