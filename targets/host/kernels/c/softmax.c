/*
 * softmax.c: probabilities of rows.
 *
 * Copyright the Ferrite developers. SPDX-License-Identifier: Apache-2.0
 */
#include "rows.h"
#include "top.h"

/* ---- whole rows --------------------------------------------------------------------------- */

VECTOR static void log_softmax_row(float* out, const float* x, int64_t cols) {
  const float highest = max_row(x, cols);
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < cols; ++i) sum += vector_exp(x[i] - highest);
  const float shift = highest + logf(sum);
  for (int64_t i = 0; i < cols; ++i) out[i] = x[i] - shift;
}

static void plain_softmax_row(float* out, const float* x, int64_t cols) { softmax_row(out, x, cols, 1); }

typedef void Row(float* out, const float* x, int64_t cols);

static int run(const FerriteArgs* args, TVMFFIAny* result, Row* function) {
  FerriteExtent rows = FERRITE_ANY_EXTENT, cols = FERRITE_ANY_EXTENT;
  FerriteTensorArg x;
  FerriteOut out;
  if (ferrite_take_2(args, 0, "x", FERRITE_F32, &rows, &cols, &x) || ferrite_out_like(args, 1, "out", &x, &out)) return -1;
  const int64_t n = cols.value;
  PARALLEL_FOR(row, rows.value, rows.value * n, { function(f32(&out.tensor) + row * n, f32(&x) + row * n, n); });
  return ferrite_return_out(result, &out);
}

FERRITE_EXPORT(softmax, FERRITE_PARAMS_2(FERRITE_TENSOR, FERRITE_OUT), FERRITE_RETURNS_OUT,
               "x: Tensor([rows, cols], float32), out: Tensor([rows, cols], float32) = None",
               "Returns exp(x), divided by its sum over each row. Minus infinity has probability 0.") {
  return run(args, result, plain_softmax_row);
}

FERRITE_EXPORT(log_softmax, FERRITE_PARAMS_2(FERRITE_TENSOR, FERRITE_OUT), FERRITE_RETURNS_OUT,
               "x: Tensor([rows, cols], float32), out: Tensor([rows, cols], float32) = None", "Returns the logarithm of softmax(x).") {
  return run(args, result, log_softmax_row);
}

/* ---- with a causal mask ------------------------------------------------------------------- */

FERRITE_EXPORT(causal_softmax, FERRITE_PARAMS_3(FERRITE_TENSOR, FERRITE_FLOAT, FERRITE_OUT), FERRITE_RETURNS_OUT,
               "scores: Tensor([heads, queries, keys], float32), scale: float, out: Tensor([heads, queries, keys], float32) = None",
               "Returns softmax(scale * scores), where the last query sees all keys, and each earlier query one key less; at least as many "
               "keys as queries.") {
  FerriteExtent heads = FERRITE_ANY_EXTENT, queries = FERRITE_ANY_EXTENT, keys = FERRITE_ANY_EXTENT;
  FerriteTensorArg scores;
  FerriteOut out;
  double scale;
  if (ferrite_take_3(args, 0, "scores", FERRITE_F32, &heads, &queries, &keys, &scores)) return -1;
  if (ferrite_check_at_least(&scores, 2, queries.value)) return -1;
  if (ferrite_arg_float(args, 1, &scale) || ferrite_out_like(args, 2, "out", &scores, &out)) return -1;
  const int64_t n = keys.value;
  PARALLEL_FOR(row, heads.value * queries.value, ferrite_numel(&scores), {
    const int64_t seen = n - queries.value + row % queries.value + 1;
    float* at = f32(&out.tensor) + row * n;
    softmax_row(at, f32(&scores) + row * n, seen, (float)scale);
    memset(at + seen, 0, sizeof(float) * (size_t)(n - seen));
  });
  return ferrite_return_out(result, &out);
}

/* ---- the largest probabilities ------------------------------------------------------------ */

/* Turns the largest scores of a row into their probabilities: among all scores of the row, or among
 * themselves. */
static void topk_softmax_row(float* weights, int64_t k, const float* x, int64_t cols, int renormalize) {
  const float highest = max_row(x, cols);
  const float sum = renormalize ? exp_sum_row(weights, k, highest) : exp_sum_row(x, cols, highest);
  for (int64_t i = 0; i < k; ++i) weights[i] = vector_exp(weights[i] - highest) / sum;
}

FERRITE_EXPORT(topk_softmax, FERRITE_PARAMS_4(FERRITE_TENSOR, FERRITE_BOOL, FERRITE_TENSOR, FERRITE_TENSOR), FERRITE_NONE,
               "gating: Tensor([tokens, experts], float32), renormalize: bool, weights: Tensor([tokens, k], float32), "
               "indices: Tensor([tokens, k], int32)",
               "Writes the k largest probabilities of softmax(gating) and their columns, the largest first. With renormalize, they are "
               "divided by their sum.") {
  FerriteExtent tokens = FERRITE_ANY_EXTENT, experts = FERRITE_ANY_EXTENT, k = FERRITE_ANY_EXTENT;
  FerriteTensorArg gating, weights, indices;
  int renormalize;
  if (ferrite_take_2(args, 0, "gating", FERRITE_F32, &tokens, &experts, &gating) || check_columns(&gating, 0)) return -1;
  if (ferrite_arg_bool(args, 1, &renormalize)) return -1;
  if (ferrite_take_2(args, 2, "weights", FERRITE_F32, &tokens, &k, &weights)) return -1;
  if (ferrite_take_2(args, 3, "indices", FERRITE_I32, &tokens, &k, &indices)) return -1;
  if (ferrite_check_at_most(&weights, 1, experts.value)) return -1;
  if (ferrite_check_output(&weights, NULL) || ferrite_check_output(&indices, NULL)) return -1;
  const int64_t n = experts.value;
  PARALLEL_FOR(token, tokens.value, tokens.value * n, {
    const float* scores = f32(&gating) + token * n;
    float* chosen = f32(&weights) + token * k.value;
    select_top(chosen, i32(&indices) + token * k.value, (int32_t)k.value, scores, (int32_t)n);
    topk_softmax_row(chosen, k.value, scores, n, renormalize);
  });
  return ferrite_return_none(result);
}
