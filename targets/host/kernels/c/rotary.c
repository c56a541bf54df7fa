/*
 * rotary.c: rotary position embeddings.
 *
 * Pairs of numbers in each head are turned by an angle that grows with the position: x and y become
 * x cos - y sin and y cos + x sin. NeoX pairs the first half of the numbers with the second half,
 * GPT-J neighbours.
 *
 * Copyright the Ferrite developers. SPDX-License-Identifier: Apache-2.0
 */
#include "kernels.h"

/* Turns one head, of which `half` pairs are turned. */
typedef void Turn(float* head, const float* cos, const float* sin, int64_t half);

VECTOR static void turn_halves(float* restrict head, const float* restrict cos, const float* restrict sin, int64_t half) {
  float* restrict other = head + half;
  for (int64_t i = 0; i < half; ++i) {
    const float x = head[i], y = other[i];
    head[i] = x * cos[i] - y * sin[i];
    other[i] = y * cos[i] + x * sin[i];
  }
}

VECTOR static void turn_neighbours(float* restrict head, const float* restrict cos, const float* restrict sin, int64_t half) {
  for (int64_t i = 0; i < half; ++i) {
    const float x = head[2 * i], y = head[2 * i + 1];
    head[2 * i] = x * cos[i] - y * sin[i];
    head[2 * i + 1] = y * cos[i] + x * sin[i];
  }
}

/* Turns all heads of one token of a tensor of shape [tokens, heads, head_size]. */
static void turn_token(Turn* turn, const FerriteTensorArg* x, int64_t token, const float* angles, int64_t half) {
  const int64_t heads = x->dl->shape[1], head_size = x->dl->shape[2];
  float* at = f32(x) + token * heads * head_size;
  for (int64_t head = 0; head < heads; ++head) turn(at + head * head_size, angles, angles + half, half);
}

static int run(const FerriteArgs* args, TVMFFIAny* result, Turn* turn) {
  FerriteExtent tokens = FERRITE_ANY_EXTENT, heads = FERRITE_ANY_EXTENT, kv_heads = FERRITE_ANY_EXTENT;
  FerriteExtent head_size = FERRITE_ANY_EXTENT, max_position = FERRITE_ANY_EXTENT, rotary_dim = FERRITE_ANY_EXTENT;
  FerriteTensorArg positions, query, key, cache;
  if (ferrite_take_1(args, 0, "positions", FERRITE_I64, &tokens, &positions)) return -1;
  if (ferrite_take_3(args, 1, "query", FERRITE_F32, &tokens, &heads, &head_size, &query)) return -1;
  if (ferrite_take_3(args, 2, "key", FERRITE_F32, &tokens, &kv_heads, &head_size, &key)) return -1;
  if (ferrite_take_2(args, 3, "cos_sin_cache", FERRITE_F32, &max_position, &rotary_dim, &cache)) return -1;
  if (ferrite_check_divisible(&cache, 1, 2) || ferrite_check_at_most(&cache, 1, head_size.value)) return -1;
  if (ferrite_check_elements(&positions, 0, max_position.value - 1)) return -1;
  if (ferrite_check_output(&query, NULL) || ferrite_check_output(&key, NULL)) return -1;
  PARALLEL_FOR(token, tokens.value, ferrite_numel(&query) + ferrite_numel(&key), {
    const float* angles = f32(&cache) + i64(&positions)[token] * rotary_dim.value;
    turn_token(turn, &query, token, angles, rotary_dim.value / 2);
    turn_token(turn, &key, token, angles, rotary_dim.value / 2);
  });
  return ferrite_return_none(result);
}

/* Exports an embedding. */
#define ROTARY(name, turn, doc)                                                                                 \
  FERRITE_EXPORT(name, FERRITE_PARAMS_4(FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR), FERRITE_NONE,             \
                 "positions: Tensor([tokens], int64), query: Tensor([tokens, heads, head_size], float32), "     \
                 "key: Tensor([tokens, kv_heads, head_size], float32), "                                        \
                 "cos_sin_cache: Tensor([max_position, rotary_dim], float32)",                                  \
                 doc) {                                                                                         \
    return run(args, result, turn);                                                                             \
  }

ROTARY(rotary_embedding, turn_halves,
       "Turns the first rotary_dim numbers of each head of query and key, in place, by the angles of their positions. A row of "
       "cos_sin_cache has the cosines in its first half, and the sines. Pairs the halves, as NeoX.")
ROTARY(rotary_embedding_interleaved, turn_neighbours,
       "Turns the first rotary_dim numbers of each head of query and key, in place, by the angles of their positions. A row of "
       "cos_sin_cache has the cosines in its first half, and the sines. Pairs neighbours, as GPT-J.")

/* ---- the table of cosines and sines ------------------------------------------------------- */

/* The angle of pair i at a position is position / base^(i / half). */
static void fill_row(float* row, int64_t position, int64_t half, double base) {
  for (int64_t i = 0; i < half; ++i) {
    const double angle = (double)position * pow(base, -(double)i / (double)half);
    row[i] = (float)cos(angle);
    row[half + i] = (float)sin(angle);
  }
}

FERRITE_EXPORT(rotary_cache, FERRITE_PARAMS_2(FERRITE_FLOAT, FERRITE_TENSOR), FERRITE_NONE,
               "base: float, cos_sin_cache: Tensor([max_position, rotary_dim], float32)",
               "Fills the table of rotary_embedding. The angles of pair i grow by base ** (-2 * i / rotary_dim) for each position.") {
  FerriteExtent max_position = FERRITE_ANY_EXTENT, rotary_dim = FERRITE_ANY_EXTENT;
  FerriteTensorArg cache;
  double base;
  if (ferrite_arg_float(args, 0, &base)) return -1;
  if (ferrite_take_2(args, 1, "cos_sin_cache", FERRITE_F32, &max_position, &rotary_dim, &cache)) return -1;
  if (ferrite_check_divisible(&cache, 1, 2) || ferrite_check_output(&cache, NULL)) return -1;
  PARALLEL_FOR(position, max_position.value, ferrite_numel(&cache), {
    fill_row(f32(&cache) + position * rotary_dim.value, position, rotary_dim.value / 2, base);
  });
  return ferrite_return_none(result);
}
