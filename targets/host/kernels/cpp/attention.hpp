// Attention from one new token of each sequence to the tokens in a paged cache, in splits of the tokens.
//
// All heads that share a key head are one task, which goes through the tokens in chunks. It keeps for each head the largest
// score so far, the sum of exp(score - largest), and the sum of the values with those weights; a larger score rescales both
// sums.
#ifndef FERRITE_ATTENTION_HPP_
#define FERRITE_ATTENTION_HPP_

#include <atomic>

#include "row_loops.hpp"
#include "vector_math.hpp"

namespace kernels {

// Tokens in a chunk.
constexpr int64_t kChunk = 16;

// A paged cache: token t of a sequence is in block tables[t / block_size], row t % block_size.
struct Cache {
  const void *keys, *values;
  const int32_t *tables, *lengths;
  int64_t max_blocks, block_size, kv_heads;
  // Elements of a key and a value, and the distance from one head of a token to the next, in elements.
  int64_t key_size, value_size, key_stride, value_stride;
};

// The state of a task's heads, in scratch memory.
struct Heads {
  int64_t count;
  float *query, *scores, *sums, *largest, *totals;
  // Space for the chunk's keys and values as float32.
  float *keys, *values;
};

// Writes a head's scores of a chunk.
inline void score(const float* query, const Rows& keys, int64_t tokens, int64_t size, float scale, float* scores) {
  int64_t token = 0;
  for (; token + 4 <= tokens; token += 4) dot_4(query, keys.row(token), keys.stride, size, scale, scores + token);
  for (; token < tokens; ++token) scores[token] = dot(query, keys.row(token), size) * scale;
}

// Turns scores into weights, and multiplies the sums so far by the returned factor, if there is a new largest score.
KERNELS_CLONES static float weigh(float* scores, int64_t tokens, float* largest, float* total) {
  float most = *largest, sum = 0;
#pragma omp simd reduction(max : most)
  for (int64_t token = 0; token < tokens; ++token) most = scores[token] > most ? scores[token] : most;
#pragma omp simd reduction(+ : sum)
  for (int64_t token = 0; token < tokens; ++token) sum += scores[token] = exp_approx(scores[token] - most);
  float factor = exp_approx(*largest - most);
  *largest = most;
  *total = *total * factor + sum;
  return factor;
}

// Attends to the chunk of `tokens` tokens that begins at `token`, all in one block.
template <class T>
void attend_chunk(const Cache& cache, int64_t seq, int64_t kv_head, int64_t token, int64_t tokens, float scale, Heads* heads) {
  int64_t block = cache.tables[seq * cache.max_blocks + token / cache.block_size];
  int64_t row = (block * cache.block_size + token % cache.block_size) * cache.kv_heads + kv_head;
  Rows keys = widen_rows(static_cast<const T*>(cache.keys) + row * cache.key_stride, cache.kv_heads * cache.key_stride, tokens,
                         cache.key_size, heads->keys);
  Rows values = widen_rows(static_cast<const T*>(cache.values) + row * cache.value_stride, cache.kv_heads * cache.value_stride,
                           tokens, cache.value_size, heads->values);
  for (int64_t head = 0; head < heads->count; ++head) {
    score(heads->query + head * cache.key_size, keys, tokens, cache.key_size, scale, heads->scores);
    float factor = weigh(heads->scores, tokens, &heads->largest[head], &heads->totals[head]);
    float* sums = heads->sums + head * cache.value_size;
    for (int64_t i = 0; factor != 1.0f && i < cache.value_size; ++i) sums[i] *= factor;
    add_rows(heads->scores, values.data, values.stride, tokens, cache.value_size, sums);
  }
}

// Attends to the tokens from `begin` to before `end`.
template <class T>
void attend(const Cache& cache, int64_t seq, int64_t kv_head, int64_t begin, int64_t end, float scale, Heads* heads) {
  for (int64_t token = begin; token < end;) {
    int64_t tokens = minimum(minimum(end - token, kChunk), cache.block_size - token % cache.block_size);
    attend_chunk<T>(cache, seq, kv_head, token, tokens, scale, heads);
    token += tokens;
  }
}

inline size_t scratch_bytes(const Cache& cache, int64_t count) {
  int64_t sizes = cache.key_size + cache.value_size;
  return static_cast<size_t>(count * (sizes + 2) + kChunk * (sizes + 1)) * sizeof(float);
}

// Lays out scratch memory, and fills it for no tokens.
template <class T> Heads begin_heads(const Cache& cache, int64_t count, const T* query, float* memory) {
  Heads heads;
  heads.count = count;
  heads.query = memory;
  heads.sums = heads.query + count * cache.key_size;
  heads.largest = heads.sums + count * cache.value_size;
  heads.totals = heads.largest + count;
  heads.scores = heads.totals + count;
  heads.keys = heads.scores + kChunk;
  heads.values = heads.keys + kChunk * cache.key_size;
  widen_row(query, count * cache.key_size, heads.query);
  for (int64_t i = 0; i < count * cache.value_size; ++i) heads.sums[i] = 0;
  for (int64_t i = 0; i < count; ++i) {
    heads.largest[i] = -3.0e38f;
    heads.totals[i] = 0;
  }
  return heads;
}

// Attends from `heads` heads of each sequence, in `splits` parts, and calls `finish(result, head state, head, task)`, where
// `result` is the number (seq * heads + head) * splits + split. False if there is no memory.
template <class T, class Finish>
bool attention(const Cache& cache, const T* query, int64_t seqs, int64_t heads, int64_t splits, float scale, Finish&& finish) {
  if (heads == 0 || splits == 0) return true;
  const int64_t group = heads / cache.kv_heads,
                work = cache.max_blocks * cache.block_size * group * (cache.key_size + cache.value_size);
  std::atomic<bool> failed{false};
  parallel_for(seqs * cache.kv_heads * splits, work / splits, [&](int64_t task) {
    int64_t split = task % splits, kv_head = task / splits % cache.kv_heads, seq = task / splits / cache.kv_heads;
    int64_t first = seq * heads + kv_head * group, length = cache.lengths[seq], part = ceil_div(length, splits);
    Scratch scratch(scratch_bytes(cache, group));
    if (scratch.failed()) {
      failed = true;
      return;
    }
    Heads state = begin_heads(cache, group, query + first * cache.key_size, scratch.data<float>());
    attend<T>(cache, seq, kv_head, minimum(split * part, length), minimum((split + 1) * part, length), scale, &state);
    for (int64_t head = 0; head < group; ++head) finish((first + head) * splits + split, state, head);
  });
  return !failed;
}

// Writes the mean of the values of a head: 0 if there were no tokens.
template <class T> void write_mean(const Cache& cache, const Heads& heads, int64_t head, T* out) {
  float scale = heads.totals[head] > 0 ? 1.0f / heads.totals[head] : 0.0f;
  for (int64_t i = 0; i < cache.value_size; ++i) out[i] = narrow<T>(heads.sums[head * cache.value_size + i] * scale);
}

// Attends to all tokens at once, and writes the result in the type of the query.
template <class T> bool attention_whole(const Cache& cache, const T* query, int64_t seqs, int64_t heads, float scale, T* out) {
  return attention(cache, query, seqs, heads, 1, scale, [&](int64_t result, const Heads& state, int64_t head) {
    write_mean(cache, state, head, out + result * cache.value_size);
  });
}

// Writes for each split its result and the logarithm of the sum of exp(scores), which `attention_combine` needs.
template <class T> bool attention_split(const Cache& cache, const T* query, int64_t seqs, int64_t heads, int64_t splits,
                                        float scale, float* partial, float* log_sums) {
  return attention(cache, query, seqs, heads, splits, scale, [&](int64_t result, const Heads& state, int64_t head) {
    write_mean(cache, state, head, partial + result * cache.value_size);
    log_sums[result] = state.totals[head] > 0 ? state.largest[head] + __builtin_logf(state.totals[head]) : -__builtin_inff();
  });
}

}  // namespace kernels

#endif  // FERRITE_ATTENTION_HPP_
