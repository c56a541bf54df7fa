/*
 * attention.c: attention of one new token of each sequence to the tokens of its paged cache.
 *
 * The cached tokens go by in chunks. After each, the result is what attention to the chunks so far
 * gives: when a chunk has a higher score than all before, the sums so far shrink by exp(old - new).
 * No memory grows with the context.
 *
 * Copyright the Ferrite developers. SPDX-License-Identifier: Apache-2.0
 */
#include "rows.h"

enum { CHUNK = 64 };

/* The cached tokens of one sequence and one head, and the factor of all scores. */
typedef struct {
  const float* keys;
  const float* values;
  const int32_t* blocks;
  int64_t block_size;
  /* From one token to the next, in elements. */
  int64_t step;
  int64_t head_size;
  float scale;
} Cached;

/* Attention to the tokens so far: sums of exp(score - highest), alone and times the values, which
 * are in the output. */
typedef struct {
  float highest, sum;
} Softmax;

static inline int64_t place(const Cached* c, int64_t token) {
  return (c->blocks[token / c->block_size] * c->block_size + token % c->block_size) * c->step;
}

static inline float dot(const float* x, const float* y, int64_t count) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < count; ++i) sum += x[i] * y[i];
  return sum;
}

static inline void scale_row(float* out, int64_t count, float scale) {
  for (int64_t i = 0; i < count; ++i) out[i] *= scale;
}

static inline void add_scaled(float* restrict out, const float* restrict x, int64_t count, float scale) {
  for (int64_t i = 0; i < count; ++i) out[i] += scale * x[i];
}

/* Adds attention to `count` tokens from `first` on. */
VECTOR static void attend_chunk(float* out, Softmax* softmax, const Cached* c, const float* query, int64_t first, int64_t count) {
  float scores[CHUNK];
  for (int64_t i = 0; i < count; ++i) scores[i] = c->scale * dot(query, c->keys + place(c, first + i), c->head_size);
  const float highest = vector_max(softmax->highest, max_row(scores, count));
  const float shrink = vector_exp(softmax->highest - highest);
  scale_row(out, c->head_size, shrink);
  softmax->sum *= shrink;
  softmax->highest = highest;
  for (int64_t i = 0; i < count; ++i) {
    const float weight = vector_exp(scores[i] - highest);
    softmax->sum += weight;
    add_scaled(out, c->values + place(c, first + i), c->head_size, weight);
  }
}

/* Attends to `length` tokens; zeros if there are none. */
static void attend(float* out, const Cached* c, const float* query, int64_t length) {
  Softmax softmax = {-INFINITY, 0};
  memset(out, 0, (size_t)c->head_size * sizeof(*out));
  for (int64_t first = 0; first < length; first += CHUNK) {
    attend_chunk(out, &softmax, c, query, first, length - first < CHUNK ? length - first : CHUNK);
  }
  if (length > 0) scale_row(out, c->head_size, 1 / softmax.sum);
}

/* Checks the number of tokens of each sequence, and the blocks in which they are; the rest of a row
 * of the tables may be anything. */
static int check_context(const FerriteTensorArg* tables, const FerriteTensorArg* lengths, int64_t blocks, int64_t block_size) {
  const int64_t max_blocks = tables->dl->shape[1];
  if (ferrite_check_elements(lengths, 0, max_blocks * block_size)) return -1;
  for (int64_t seq = 0; seq < lengths->dl->shape[0]; ++seq) {
    for (int64_t i = 0; i * block_size < i32(lengths)[seq]; ++i) {
      if (ferrite_check_element(tables, seq * max_blocks + i, 0, blocks - 1)) return -1;
    }
  }
  return 0;
}

FERRITE_EXPORT(paged_attention_decode,
               FERRITE_PARAMS_7(FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_FLOAT,
                                FERRITE_OUT),
               FERRITE_RETURNS_OUT,
               "query: Tensor([seqs, heads, head_size], float32), "
               "key_cache: Tensor([blocks, block_size, kv_heads, head_size], float32), "
               "value_cache: Tensor([blocks, block_size, kv_heads, head_size], float32), "
               "block_tables: Tensor([seqs, max_blocks], int32), context_lens: Tensor([seqs], int32), scale: float, "
               "out: Tensor([seqs, heads, head_size], float32) = None",
               "Returns the attention of one token of each sequence to its cached tokens: context_lens of them, in the blocks that its row of "
               "block_tables names. Groups of heads share a head of the cache. Zeros for a sequence without tokens.") {
  FerriteExtent seqs = FERRITE_ANY_EXTENT, heads = FERRITE_ANY_EXTENT, head_size = FERRITE_ANY_EXTENT, blocks = FERRITE_ANY_EXTENT;
  FerriteExtent block_size = FERRITE_ANY_EXTENT, kv_heads = FERRITE_ANY_EXTENT, max_blocks = FERRITE_ANY_EXTENT;
  FerriteTensorArg query, key_cache, value_cache, tables, lengths;
  FerriteOut out;
  double scale;
  if (ferrite_take_3(args, 0, "query", FERRITE_F32, &seqs, &heads, &head_size, &query)) return -1;
  if (ferrite_take_4(args, 1, "key_cache", FERRITE_F32, &blocks, &block_size, &kv_heads, &head_size, &key_cache)) return -1;
  if (ferrite_take_4(args, 2, "value_cache", FERRITE_F32, &blocks, &block_size, &kv_heads, &head_size, &value_cache)) return -1;
  if (ferrite_take_2(args, 3, "block_tables", FERRITE_I32, &seqs, &max_blocks, &tables)) return -1;
  if (ferrite_take_1(args, 4, "context_lens", FERRITE_I32, &seqs, &lengths) || ferrite_arg_float(args, 5, &scale)) return -1;
  if (ferrite_check_at_least(&key_cache, 1, 1) || ferrite_check_at_least(&key_cache, 2, 1)) return -1;
  if (ferrite_check_divisible(&query, 1, kv_heads.value)) return -1;
  if (check_context(&tables, &lengths, blocks.value, block_size.value)) return -1;
  if (ferrite_out_3(args, 6, "out", FERRITE_F32, &seqs, &heads, &head_size, &out)) return -1;
  const int64_t group = heads.value / kv_heads.value, size = head_size.value, work = max_blocks.value * block_size.value * size;
  PARALLEL_FOR(i, seqs.value * heads.value, seqs.value * heads.value * work, {
    const int64_t seq = i / heads.value, offset = i % heads.value / group * size;
    const int32_t* blocks_of = i32(&tables) + seq * max_blocks.value;
    const Cached cached = {f32(&key_cache) + offset, f32(&value_cache) + offset, blocks_of,    block_size.value,
                           kv_heads.value * size,    size,                       (float)scale};
    attend(f32(&out.tensor) + i * size, &cached, f32(&query) + i * size, i32(&lengths)[seq]);
  });
  return ferrite_return_out(result, &out);
}
