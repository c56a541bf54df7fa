/*
 * reduce.c: reductions of rows to one number each, and running sums.
 *
 * Copyright the Ferrite developers. SPDX-License-Identifier: Apache-2.0
 */
#include "rows.h"

VECTOR static float sum_row(const float* x, int64_t cols) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < cols; ++i) sum += x[i];
  return sum;
}

static float mean_row(const float* x, int64_t cols) { return sum_row(x, cols) / (float)cols; }

VECTOR static float squares_row(const float* x, int64_t cols, float mean) {
  float squares = 0;
#pragma omp simd reduction(+ : squares)
  for (int64_t i = 0; i < cols; ++i) squares += (x[i] - mean) * (x[i] - mean);
  return squares;
}

static float var_row(const float* x, int64_t cols) { return squares_row(x, cols, mean_row(x, cols)) / (float)cols; }
static float norm_row(const float* x, int64_t cols) { return sqrtf(squares_row(x, cols, 0)); }

VECTOR static float prod_row(const float* x, int64_t cols) {
  float product = 1;
#pragma omp simd reduction(* : product)
  for (int64_t i = 0; i < cols; ++i) product *= x[i];
  return product;
}

static float logsumexp_row(const float* x, int64_t cols) {
  const float highest = max_row(x, cols);
  if (isinf(highest)) return highest;
  return highest + logf(exp_sum_row(x, cols, highest));
}

/* ---- one number for a row ----------------------------------------------------------------- */

typedef float Reduction(const float* x, int64_t cols);

static int run(const FerriteArgs* args, TVMFFIAny* result, Reduction* reduction) {
  FerriteExtent rows = FERRITE_ANY_EXTENT, cols = FERRITE_ANY_EXTENT;
  FerriteTensorArg x;
  FerriteOut out;
  if (ferrite_take_2(args, 0, "x", FERRITE_F32, &rows, &cols, &x)) return -1;
  if (ferrite_out_1(args, 1, "out", FERRITE_F32, &rows, &out)) return -1;
  const int64_t n = cols.value;
  PARALLEL_FOR(row, rows.value, rows.value * n, { f32(&out.tensor)[row] = reduction(f32(&x) + row * n, n); });
  return ferrite_return_out(result, &out);
}

/* Exports a reduction of rows. */
#define REDUCTION(name, function, doc)                                                                          \
  FERRITE_EXPORT(name, FERRITE_PARAMS_2(FERRITE_TENSOR, FERRITE_OUT), FERRITE_RETURNS_OUT,                      \
                 "x: Tensor([rows, cols], float32), out: Tensor([rows], float32) = None", doc) {                \
    return run(args, result, function);                                                                         \
  }

REDUCTION(sum_rows, sum_row, "Returns the sum of each row.")
REDUCTION(mean_rows, mean_row, "Returns the mean of each row; not a number for rows without elements.")
REDUCTION(var_rows, var_row, "Returns the variance of each row, divided by the number of elements.")
REDUCTION(norm_rows, norm_row, "Returns the Euclidean norm of each row.")
REDUCTION(prod_rows, prod_row, "Returns the product of each row.")
REDUCTION(max_rows, max_row, "Returns the maximum of each row; minus infinity for rows without elements. Skips what is not a number.")
REDUCTION(min_rows, min_row, "Returns the minimum of each row; infinity for rows without elements. Skips what is not a number.")
REDUCTION(logsumexp_rows, logsumexp_row, "Returns the logarithm of the sum of exp(x) over each row.")

/* ---- where the extreme is ----------------------------------------------------------------- */

static int run_place(const FerriteArgs* args, TVMFFIAny* result, Reduction* extreme) {
  FerriteExtent rows = FERRITE_ANY_EXTENT, cols = FERRITE_ANY_EXTENT;
  FerriteTensorArg x;
  FerriteOut out;
  if (ferrite_take_2(args, 0, "x", FERRITE_F32, &rows, &cols, &x) || check_columns(&x, 1)) return -1;
  if (ferrite_out_1(args, 1, "out", FERRITE_I32, &rows, &out)) return -1;
  const int64_t n = cols.value;
  PARALLEL_FOR(row, rows.value, rows.value * n, {
    const float* at = f32(&x) + row * n;
    i32(&out.tensor)[row] = column_of(at, n, extreme(at, n));
  });
  return ferrite_return_out(result, &out);
}

/* Exports a search for the extreme element of each row. */
#define PLACE(name, extreme, doc)                                                                               \
  FERRITE_EXPORT(name, FERRITE_PARAMS_2(FERRITE_TENSOR, FERRITE_OUT), FERRITE_RETURNS_OUT,                      \
                 "x: Tensor([rows, cols], float32), out: Tensor([rows], int32) = None", doc) {                  \
    return run_place(args, result, extreme);                                                                    \
  }

PLACE(argmax_rows, max_row, "Returns the column of the maximum of each row, the first of several.")
PLACE(argmin_rows, min_row, "Returns the column of the minimum of each row, the first of several.")

/* ---- running sums ------------------------------------------------------------------------- */

static void cumsum_row(float* out, const float* x, int64_t cols) {
  double sum = 0;
  for (int64_t i = 0; i < cols; ++i) out[i] = (float)(sum += x[i]);
}

FERRITE_EXPORT(cumsum_rows, FERRITE_PARAMS_2(FERRITE_TENSOR, FERRITE_OUT), FERRITE_RETURNS_OUT,
               "x: Tensor([rows, cols], float32), out: Tensor([rows, cols], float32) = None",
               "Returns the sums of the elements of each row up to each column, added in float64.") {
  FerriteExtent rows = FERRITE_ANY_EXTENT, cols = FERRITE_ANY_EXTENT;
  FerriteTensorArg x;
  FerriteOut out;
  if (ferrite_take_2(args, 0, "x", FERRITE_F32, &rows, &cols, &x) || ferrite_out_like(args, 1, "out", &x, &out)) return -1;
  const int64_t n = cols.value;
  PARALLEL_FOR(row, rows.value, rows.value * n, { cumsum_row(f32(&out.tensor) + row * n, f32(&x) + row * n, n); });
  return ferrite_return_out(result, &out);
}
