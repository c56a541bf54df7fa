/*
 * sampling.c: the next token of each row of logits.
 *
 * Random numbers are arguments, one from 0 to 1 for each row: the same numbers give the same tokens
 * with every framework.
 *
 * Copyright the Ferrite developers. SPDX-License-Identifier: Apache-2.0
 */
#include "rows.h"

/* ---- functions of one row of probabilities ------------------------------------------------ */

/* Returns the sum, or the number, of the probabilities from a limit on. */
typedef float Measure(const float* p, int64_t cols, float limit);

VECTOR static float mass_from(const float* p, int64_t cols, float limit) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < cols; ++i) sum += p[i] >= limit ? p[i] : 0;
  return sum;
}

VECTOR static float count_from(const float* p, int64_t cols, float limit) {
  int32_t count = 0;
#pragma omp simd reduction(+ : count)
  for (int64_t i = 0; i < cols; ++i) count += p[i] >= limit;
  return (float)count;
}

/*
 * Returns the highest limit from which on the measure is at least `least`, or 0 if there is none.
 * Bisects the bits: those of floats from 0 up have their order, so that 31 steps find the very
 * float, without sorting.
 */
static float highest_limit(Measure* measure, const float* p, int64_t cols, float least) {
  FloatBits low = {.value = 0}, high = {.value = INFINITY};
  while (high.bits - low.bits > 1) {
    const FloatBits middle = {.bits = low.bits + (high.bits - low.bits) / 2};
    *(measure(p, cols, middle.value) >= least ? &low : &high) = middle;
  }
  return low.value;
}

/* Divides the probabilities from a limit on by their sum, and makes the others 0; `out` may be
 * `p`. */
VECTOR static void keep_from(float* out, const float* p, int64_t cols, float limit) {
  const float scale = 1 / mass_from(p, cols, limit);
  for (int64_t i = 0; i < cols; ++i) out[i] = p[i] >= limit ? p[i] * scale : 0;
}

static void keep_top_k(float* out, const float* p, int64_t cols, int32_t k) {
  keep_from(out, p, cols, highest_limit(count_from, p, cols, (float)k));
}

static void keep_top_p(float* out, const float* p, int64_t cols, float share) {
  keep_from(out, p, cols, highest_limit(mass_from, p, cols, share * mass_from(p, cols, 0)));
}

static void keep_min_p(float* out, const float* p, int64_t cols, float share) { keep_from(out, p, cols, share * max_row(p, cols)); }

/* Returns the column at which the running sum passes `uniform` of the whole; the last possible one
 * if rounding hides that place. */
static int32_t draw(const float* p, int64_t cols, float uniform) {
  const double place = uniform * (double)mass_from(p, cols, 0);
  double sum = 0;
  int32_t last = 0;
  for (int64_t i = 0; i < cols; ++i) {
    if (p[i] > 0) last = (int32_t)i;
    sum += p[i];
    if (sum > place) break;
  }
  return last;
}

/* ---- probabilities ------------------------------------------------------------------------ */

static void at_temperature(float* out, const float* logits, int64_t cols, float temperature) {
  softmax_row(out, logits, cols, 1 / temperature);
}

/* Takes a matrix, and one number for each of its rows. */
typedef void RowWithNumber(float* out, const float* x, int64_t cols, float number);

static int run(const FerriteArgs* args, TVMFFIAny* result, const char* x_name, const char* name, RowWithNumber* function) {
  FerriteExtent rows = FERRITE_ANY_EXTENT, cols = FERRITE_ANY_EXTENT;
  FerriteTensorArg x, numbers;
  FerriteOut out;
  if (ferrite_take_2(args, 0, x_name, FERRITE_F32, &rows, &cols, &x) || check_columns(&x, 1)) return -1;
  if (ferrite_take_1(args, 1, name, FERRITE_F32, &rows, &numbers) || ferrite_out_like(args, 2, "out", &x, &out)) return -1;
  const int64_t n = cols.value;
  PARALLEL_FOR(row, rows.value, rows.value * n, {
    function(f32(&out.tensor) + row * n, f32(&x) + row * n, n, f32(&numbers)[row]);
  });
  return ferrite_return_out(result, &out);
}

/* Exports a function of rows that has one number for each. */
#define PROBABILITIES(name, x, number, function, doc)                                                           \
  FERRITE_EXPORT(name, FERRITE_PARAMS_3(FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_OUT), FERRITE_RETURNS_OUT,      \
                 #x ": Tensor([rows, vocab], float32), " #number ": Tensor([rows], float32), "                  \
                 "out: Tensor([rows, vocab], float32) = None",                                                  \
                 doc) {                                                                                         \
    return run(args, result, #x, #number, function);                                                            \
  }

PROBABILITIES(temperature_softmax, logits, temperature, at_temperature, "Returns softmax(logits / temperature).")
PROBABILITIES(top_p_probabilities, probs, p, keep_top_p,
              "Keeps the fewest largest probabilities of each row whose sum is at least p of all, divided by their sum; the others become "
              "0. Equal ones are kept together.")
PROBABILITIES(min_p_probabilities, probs, p, keep_min_p,
              "Keeps the probabilities of each row that are at least p of the largest, divided by their sum; the others become 0.")

FERRITE_EXPORT(top_k_probabilities, FERRITE_PARAMS_3(FERRITE_TENSOR, FERRITE_INT, FERRITE_OUT), FERRITE_RETURNS_OUT,
               "probs: Tensor([rows, vocab], float32), k: int, out: Tensor([rows, vocab], float32) = None",
               "Keeps the k largest probabilities of each row, divided by their sum; the others become 0. Equal ones are kept together.") {
  FerriteExtent rows = FERRITE_ANY_EXTENT, cols = FERRITE_ANY_EXTENT;
  FerriteTensorArg probs;
  FerriteOut out;
  int64_t k;
  if (ferrite_take_2(args, 0, "probs", FERRITE_F32, &rows, &cols, &probs) || check_columns(&probs, 1)) return -1;
  if (ferrite_arg_int_in(args, 1, "k", 1, cols.value, &k) || ferrite_out_like(args, 2, "out", &probs, &out)) return -1;
  const int64_t n = cols.value;
  PARALLEL_FOR(row, rows.value, rows.value * n, { keep_top_k(f32(&out.tensor) + row * n, f32(&probs) + row * n, n, (int32_t)k); });
  return ferrite_return_out(result, &out);
}

/* ---- tokens ------------------------------------------------------------------------------- */

FERRITE_EXPORT(sample_probabilities, FERRITE_PARAMS_3(FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_OUT), FERRITE_RETURNS_OUT,
               "probs: Tensor([rows, vocab], float32), uniform: Tensor([rows], float32), out: Tensor([rows], int32) = None",
               "Returns the column of each row at which the running sum of the probabilities passes uniform, a number from 0 to 1.") {
  FerriteExtent rows = FERRITE_ANY_EXTENT, cols = FERRITE_ANY_EXTENT;
  FerriteTensorArg probs, uniform;
  FerriteOut out;
  if (ferrite_take_2(args, 0, "probs", FERRITE_F32, &rows, &cols, &probs) || check_columns(&probs, 1)) return -1;
  if (ferrite_take_1(args, 1, "uniform", FERRITE_F32, &rows, &uniform)) return -1;
  if (ferrite_out_1(args, 2, "out", FERRITE_I32, &rows, &out)) return -1;
  const int64_t n = cols.value;
  PARALLEL_FOR(row, rows.value, rows.value * n, { i32(&out.tensor)[row] = draw(f32(&probs) + row * n, n, f32(&uniform)[row]); });
  return ferrite_return_out(result, &out);
}

FERRITE_EXPORT(sample_greedy, FERRITE_PARAMS_2(FERRITE_TENSOR, FERRITE_OUT), FERRITE_RETURNS_OUT,
               "logits: Tensor([rows, vocab], float32), out: Tensor([rows], int32) = None",
               "Returns the column of the largest logit of each row, the first of several.") {
  FerriteExtent rows = FERRITE_ANY_EXTENT, cols = FERRITE_ANY_EXTENT;
  FerriteTensorArg logits;
  FerriteOut out;
  if (ferrite_take_2(args, 0, "logits", FERRITE_F32, &rows, &cols, &logits) || check_columns(&logits, 1)) return -1;
  if (ferrite_out_1(args, 1, "out", FERRITE_I32, &rows, &out)) return -1;
  const int64_t n = cols.value;
  PARALLEL_FOR(row, rows.value, rows.value * n, {
    const float* at = f32(&logits) + row * n;
    i32(&out.tensor)[row] = column_of(at, n, max_row(at, n));
  });
  return ferrite_return_out(result, &out);
}

/* The probabilities of logits, reduced as the numbers of their row say. */
static void reduce_row(float* probs, const float* logits, int64_t cols, float temperature, int32_t k, float p) {
  at_temperature(probs, logits, cols, temperature);
  if (k > 0) keep_top_k(probs, probs, cols, k);
  if (p < 1) keep_top_p(probs, probs, cols, p);
}

FERRITE_EXPORT(sample_top_k_top_p,
               FERRITE_PARAMS_7(FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR,
                                FERRITE_OUT),
               FERRITE_RETURNS_OUT,
               "logits: Tensor([rows, vocab], float32), temperature: Tensor([rows], float32), k: Tensor([rows], int32), "
               "p: Tensor([rows], float32), uniform: Tensor([rows], float32), probs: Tensor([rows, vocab], float32), "
               "out: Tensor([rows], int32) = None",
               "Draws a token for each row: softmax(logits / temperature), of it the k largest, of them the largest that make up p. A k of 0 "
               "and a p of 1 keep all. Writes the probabilities into probs, which may be logits.") {
  FerriteExtent rows = FERRITE_ANY_EXTENT, cols = FERRITE_ANY_EXTENT;
  FerriteTensorArg logits, temperature, k, p, uniform, probs;
  FerriteOut out;
  if (ferrite_take_2(args, 0, "logits", FERRITE_F32, &rows, &cols, &logits) || check_columns(&logits, 1)) return -1;
  if (ferrite_take_1(args, 1, "temperature", FERRITE_F32, &rows, &temperature)) return -1;
  if (ferrite_take_1(args, 2, "k", FERRITE_I32, &rows, &k) || ferrite_take_1(args, 3, "p", FERRITE_F32, &rows, &p)) return -1;
  if (ferrite_take_1(args, 4, "uniform", FERRITE_F32, &rows, &uniform)) return -1;
  if (ferrite_take_2(args, 5, "probs", FERRITE_F32, &rows, &cols, &probs) || ferrite_check_output(&probs, &logits)) return -1;
  if (ferrite_out_1(args, 6, "out", FERRITE_I32, &rows, &out)) return -1;
  const int64_t n = cols.value;
  PARALLEL_FOR(row, rows.value, rows.value * n, {
    float* at = f32(&probs) + row * n;
    reduce_row(at, f32(&logits) + row * n, n, f32(&temperature)[row], i32(&k)[row], f32(&p)[row]);
    i32(&out.tensor)[row] = draw(at, n, f32(&uniform)[row]);
  });
  return ferrite_return_out(result, &out);
}
