/*
 * rows.h: functions of one row that several families need. Each file that includes it has its own
 * copy.
 *
 * Copyright the Ferrite developers. SPDX-License-Identifier: Apache-2.0
 */
#ifndef FERRITE_KERNELS_ROWS_H_
#define FERRITE_KERNELS_ROWS_H_

#include "kernels.h"
#include "vector_math.h"

/* A function of rows in vector code, in files of which some do not use it. */
#define ROW_FUNCTION __attribute__((unused)) VECTOR static

/* Checks that a matrix has at least some columns, and that int32 can count them. */
static inline int check_columns(const FerriteTensorArg* x, int64_t least) {
  return ferrite_check_at_least(x, 1, least) || ferrite_check_at_most(x, 1, INT32_MAX);
}

/* Returns the maximum; minus infinity without elements. Skips what is not a number. */
ROW_FUNCTION float max_row(const float* x, int64_t cols) {
  float highest = -INFINITY;
#pragma omp simd reduction(max : highest)
  for (int64_t i = 0; i < cols; ++i) highest = vector_max(highest, x[i]);
  return highest;
}

/* Returns the minimum; infinity without elements. Skips what is not a number. */
ROW_FUNCTION float min_row(const float* x, int64_t cols) {
  float lowest = INFINITY;
#pragma omp simd reduction(min : lowest)
  for (int64_t i = 0; i < cols; ++i) lowest = vector_min(lowest, x[i]);
  return lowest;
}

/* Returns the first column that has a value; 0 if there is none, as in rows without numbers.
 * Compares 64 columns at a time. */
ROW_FUNCTION int32_t column_of(const float* x, int64_t cols, float value) {
  int64_t at = 0;
  for (int found = 0; at + 64 <= cols; at += 64) {
#pragma omp simd reduction(| : found)
    for (int i = 0; i < 64; ++i) found |= x[at + i] == value;
    if (found) break;
  }
  for (; at < cols; ++at) {
    if (x[at] == value) return (int32_t)at;
  }
  return 0;
}

/* Returns the sum of exp(x - shift). */
ROW_FUNCTION float exp_sum_row(const float* x, int64_t cols, float shift) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < cols; ++i) sum += vector_exp(x[i] - shift);
  return sum;
}

/* Writes softmax(scale * x); `out` may be `x`. */
ROW_FUNCTION void softmax_row(float* out, const float* x, int64_t cols, float scale) {
  const float highest = scale < 0 ? min_row(x, cols) : max_row(x, cols);
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < cols; ++i) {
    out[i] = vector_exp((x[i] - highest) * scale);
    sum += out[i];
  }
  const float inverse = 1 / sum;
  for (int64_t i = 0; i < cols; ++i) out[i] *= inverse;
}

#endif /* FERRITE_KERNELS_ROWS_H_ */
