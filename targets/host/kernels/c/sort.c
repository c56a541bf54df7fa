/*
 * sort.c: sorted rows by a bitonic network, and the largest elements.
 *
 * The network sorts keys: the element as an integer that has its order, with its column in the low
 * bits, so that equal elements keep their order. Each stage compares all pairs of one distance,
 * which is vector code without branches.
 *
 * Copyright the Ferrite developers. SPDX-License-Identifier: Apache-2.0
 */
#include "rows.h"
#include "top.h"

/* Returns an integer that orders as the element does; what is not a number comes last. */
static inline int32_t order_of(float x, int descending) {
  const FloatBits element = {.value = x + 0.0f}; /* one zero */
  const int32_t ascending = element.bits ^ ((element.bits >> 31) & INT32_MAX);
  if (x != x) return INT32_MAX;
  return descending ? ~ascending : ascending;
}

/* Writes the keys of a row, and the largest key behind it up to a power of two. */
VECTOR static void make_keys(int64_t* keys, int64_t padded, const float* x, int64_t cols, int descending) {
  for (int64_t i = 0; i < cols; ++i) keys[i] = (int64_t)((uint64_t)(uint32_t)order_of(x[i], descending) << 32) | i;
  for (int64_t i = cols; i < padded; ++i) keys[i] = INT64_MAX;
}

/* Orders each pair of a run of 2 * distance keys: upward or downward. */
static inline void order_pairs(int64_t* restrict low, int64_t* restrict high, int64_t distance, int up) {
  for (int64_t i = 0; i < distance; ++i) {
    const int64_t a = low[i], b = high[i];
    const int swap = (a > b) == up;
    low[i] = swap ? b : a;
    high[i] = swap ? a : b;
  }
}

/* Orders all pairs of one distance. */
static inline __attribute__((always_inline)) void order_stage(int64_t* keys, int64_t count, int64_t size, int64_t distance) {
  for (int64_t at = 0; at < count; at += 2 * distance) order_pairs(keys + at, keys + at + distance, distance, (at & size) == 0);
}

/*
 * Sorts a power of two of keys. Runs of `size` keys become sorted, every other one downward, until
 * one run is left. Loops of constant length are there for the distances that are shorter than a
 * register.
 */
VECTOR static void bitonic_network(int64_t* keys, int64_t count) {
  for (int64_t size = 2; size <= count; size *= 2) {
    for (int64_t distance = size / 2; distance > 4; distance /= 2) order_stage(keys, count, size, distance);
    if (size > 4) order_stage(keys, count, size, 4);
    if (size > 2) order_stage(keys, count, size, 2);
    order_stage(keys, count, size, 1);
  }
}

static int64_t power_of_two_from(int64_t least) {
  int64_t power = 1;
  while (power < least) power *= 2;
  return power;
}

/* ---- exports ------------------------------------------------------------------------------ */

/* What to write of a sorted row. */
typedef void Emit(void* out, const int64_t* keys, const float* x, int64_t cols);

static void emit_elements(void* out, const int64_t* keys, const float* x, int64_t cols) {
  for (int64_t i = 0; i < cols; ++i) ((float*)out)[i] = x[(uint32_t)keys[i]];
}

static void emit_columns(void* out, const int64_t* keys, const float* x, int64_t cols) {
  (void)x;
  for (int64_t i = 0; i < cols; ++i) ((int32_t*)out)[i] = (int32_t)keys[i];
}

/* Sorts a row into `out`; -1 if there is no memory for the keys. */
static int sort_row(Emit* emit, void* out, const float* x, int64_t cols, int descending) {
  const int64_t padded = power_of_two_from(cols);
  int64_t* keys = malloc((size_t)padded * sizeof(*keys));
  if (keys == NULL) return -1;
  make_keys(keys, padded, x, cols, descending);
  bitonic_network(keys, padded);
  emit(out, keys, x, cols);
  free(keys);
  return 0;
}

static int run(const FerriteArgs* args, TVMFFIAny* result, int dtype, Emit* emit) {
  FerriteExtent rows = FERRITE_ANY_EXTENT, cols = FERRITE_ANY_EXTENT;
  FerriteTensorArg x;
  FerriteOut out;
  int descending;
  if (ferrite_take_2(args, 0, "x", FERRITE_F32, &rows, &cols, &x) || check_columns(&x, 0)) return -1;
  if (ferrite_arg_bool(args, 1, &descending) || ferrite_out_2(args, 2, "out", dtype, &rows, &cols, &out)) return -1;
  const int64_t n = cols.value;
  int failed = 0;
  /* Sorting is some eight times the work of other kernels. */
  PARALLEL_FOR(row, rows.value, 8 * rows.value * n, {
    char* row_of_out = (char*)ferrite_data(&out.tensor) + row * n * (dtype % 256 / 8);
    if (sort_row(emit, row_of_out, f32(&x) + row * n, n, descending)) __atomic_store_n(&failed, 1, __ATOMIC_RELAXED);
  });
  if (!failed) return ferrite_return_out(result, &out);
  ferrite_drop_out(&out);
  return ferrite_fail("MemoryError", "out of memory for the keys of a sort");
}

FERRITE_EXPORT(sort_rows, FERRITE_PARAMS_3(FERRITE_TENSOR, FERRITE_BOOL, FERRITE_OUT), FERRITE_RETURNS_OUT,
               "x: Tensor([rows, cols], float32), descending: bool, out: Tensor([rows, cols], float32) = None",
               "Returns the elements of each row in order. What is not a number comes last.") {
  return run(args, result, FERRITE_F32, emit_elements);
}

FERRITE_EXPORT(argsort_rows, FERRITE_PARAMS_3(FERRITE_TENSOR, FERRITE_BOOL, FERRITE_OUT), FERRITE_RETURNS_OUT,
               "x: Tensor([rows, cols], float32), descending: bool, out: Tensor([rows, cols], int32) = None",
               "Returns the columns of the elements of each row in order; equal elements keep theirs. What is not a number comes last.") {
  return run(args, result, FERRITE_I32, emit_columns);
}

FERRITE_EXPORT(topk, FERRITE_PARAMS_3(FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR), FERRITE_NONE,
               "x: Tensor([rows, cols], float32), values: Tensor([rows, k], float32), indices: Tensor([rows, k], int32)",
               "Writes the k largest elements of each row and their columns, the largest first, of equal ones the earliest.") {
  FerriteExtent rows = FERRITE_ANY_EXTENT, cols = FERRITE_ANY_EXTENT, k = FERRITE_ANY_EXTENT;
  FerriteTensorArg x, values, indices;
  if (ferrite_take_2(args, 0, "x", FERRITE_F32, &rows, &cols, &x) || check_columns(&x, 0)) return -1;
  if (ferrite_take_2(args, 1, "values", FERRITE_F32, &rows, &k, &values)) return -1;
  if (ferrite_take_2(args, 2, "indices", FERRITE_I32, &rows, &k, &indices)) return -1;
  if (ferrite_check_at_most(&values, 1, cols.value)) return -1;
  if (ferrite_check_output(&values, NULL) || ferrite_check_output(&indices, NULL)) return -1;
  const int64_t n = cols.value;
  PARALLEL_FOR(row, rows.value, rows.value * n, {
    select_top(f32(&values) + row * k.value, i32(&indices) + row * k.value, (int32_t)k.value, f32(&x) + row * n, (int32_t)n);
  });
  return ferrite_return_none(result);
}
