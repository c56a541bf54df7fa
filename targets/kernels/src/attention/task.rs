//! Blocks of queries.

use core::ops::Range;

use super::Attention;
use super::softmax::{RowMask, exponentials};
use crate::arguments::Result;
use crate::element::Element;
use crate::epilogue::Epilogue;
use crate::matmul::{
    COLUMNS, DOT_ROWS, Dots, Left, Lines, Product, Right, is_f32, pack_columns, pack_transposed,
    to_f32,
};
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
            let (heads, queries) = if heads.is_multiple_of(tasks) || heads >= 8 * tasks {
                (share(heads, 1, task, tasks), 0..self.queries)
            } else {
                (0..heads, share(self.queries, 1, task, tasks))
            };
            let (keys, size) = (self.keys, self.size);
            let k = if self.is_dots() { 0 } else { keys.next_multiple_of(COLUMNS) * size };
            let v = if self.streams() { 0 } else { size.next_multiple_of(COLUMNS) * keys };
            let (k, v) = (Scratch::new(k)?, Scratch::new(v)?);
            let q = Scratch::new(BLOCK * size)?;
            let scores = Scratch::new(BLOCK * self.score_row())?;
            let (k, v, q, scores) = (k.data(), v.data(), q.data(), scores.data());
            simd::run(level, Part { attention: self, heads, queries, k, v, q, scores });
            Ok(())
        })
    }
}

impl<T: Element> Attention<T> {
    /// Returns `true` if there are so few queries that keys are not packed.
    fn is_dots(&self) -> bool {
        self.queries <= DOT_ROWS
    }

    /// Returns `true` if values are read where they lie: whole panels for few queries.
    fn streams(&self) -> bool {
        is_f32::<T>() && self.size.is_multiple_of(COLUMNS) && self.queries <= BLOCK
    }

    /// Returns the distance of rows of scores, which keeps the rows of a tile in different sets of
    /// the cache.
    fn score_row(&self) -> usize {
        self.keys.next_multiple_of(COLUMNS) + COLUMNS
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
                    self.pack(simd, key_head);
                }
                for first in self.queries.clone().step_by(BLOCK) {
                    self.block(simd, (head, key_head), first..self.queries.end.min(first + BLOCK));
                }
            }
        }
    }
}

impl<T: Element> Part<'_, T> {
    /// Packs the keys and the values of a head.
    #[inline(always)]
    unsafe fn pack<S: Simd>(&self, simd: S, key_head: usize) {
        let Attention { keys, size, .. } = *self.attention;
        let offset = key_head * keys * size;
        let (k, v) = (self.attention.k.wrapping_add(offset), self.attention.v.wrapping_add(offset));
        // SAFETY: the caller guarantees the head and the space.
        unsafe {
            if !self.attention.is_dots() {
                pack_transposed((k, size), (size, keys), self.k);
            }
            if !self.attention.streams() {
                pack_columns(simd, (v, size), (keys, size), self.v);
            }
        }
    }

    /// Returns the values of a head.
    #[inline(always)]
    fn values(&self, key_head: usize) -> Right<f32> {
        let Attention { keys, size, v, .. } = *self.attention;
        if self.attention.streams() {
            let data = v.wrapping_add(key_head * keys * size).cast();
            Right::rows(data, size)
        } else {
            Right::panels(self.v.cast_const(), keys)
        }
    }

    /// Computes the scores of the copied queries.
    #[inline(always)]
    unsafe fn scores<S: Simd>(&self, simd: S, key_head: usize, queries: usize, attended: usize) {
        let Attention { keys, size, k, .. } = *self.attention;
        let out_row = self.attention.score_row();
        if self.attention.is_dots() {
            let k = k.wrapping_add(key_head * keys * size);
            return simd.call(Dots {
                inner: size,
                left: (self.q.cast_const(), size),
                right: (k, size),
                extents: [queries, attended],
                scale: 1.0,
                out: (self.scores, out_row),
            });
        }
        let scores = Product {
            inner: size,
            left: Left::Rows(self.q, size),
            right: Right::panels(self.k.cast_const(), size),
            out: self.scores,
            out_row,
            lines: Lines::ONE,
            epilogue: Epilogue::scale(1.0),
        };
        // SAFETY: the caller guarantees the queries and the space.
        unsafe { scores.block(simd, 0..queries, 0..attended) };
    }

    #[inline(always)]
    unsafe fn block<S: Simd>(
        &self,
        simd: S,
        (head, key_head): (usize, usize),
        queries: Range<usize>,
    ) {
        let size = self.attention.size;
        let attended = self.attention.attended(queries.end - 1);
        let start = (head * self.attention.queries + queries.start) * size;
        // SAFETY: the caller guarantees the head, the queries and the space.
        unsafe {
            to_f32(simd, self.attention.q.add(start), self.q, queries.len() * size);
            self.scores(simd, key_head, queries.len(), attended);
            for query in queries.clone() {
                self.normalise(simd, head, query, query - queries.start, attended);
            }
            let sums = Product {
                inner: attended,
                left: Left::Rows(self.scores, self.attention.score_row()),
                right: self.values(key_head),
                out: self.attention.out.add(start),
                out_row: size,
                lines: Lines::ONE,
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
        let row = self.scores.wrapping_add(row * attention.score_row());
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
