/*
 * gemm.c: the product of two matrices.
 *
 * The product is made of tiles of TILE_ROWS x TILE_COLS numbers, which stay in registers while a
 * strip of `a` and a panel of `b` go by. Both are packed in the order in which a tile reads them,
 * with zeros behind the last row and column.
 *
 * Copyright the Ferrite developers. SPDX-License-Identifier: Apache-2.0
 */
#include "kernels.h"

enum {
  TILE_ROWS = 6,
  TILE_COLS = 16,
  /* Rows of `b` in a panel: its 16 KiB stay in the first cache. */
  DEPTH = 256,
  /* Rows of `a` that meet a panel: their 240 KiB stay in the second. */
  BLOCK_ROWS = 40 * TILE_ROWS,
  /* Fewer rows than this are not worth packing. */
  FEW_ROWS = 12,
};

/* Several floats, which compilers keep in one register, or in a few where registers are shorter. */
typedef float Lane __attribute__((vector_size(32), aligned(4)));
enum { LANE = 8, LANES = TILE_COLS / LANE };

static inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t parts(int64_t a, int64_t size) { return (a + size - 1) / size; }

/* ---- packing ------------------------------------------------------------------------------ */

/* Packs up to TILE_ROWS rows of `a` column by column. */
static void pack_strip(float* out, const float* a, int64_t step, int64_t rows, int64_t depth) {
  for (int64_t p = 0; p < depth; ++p) {
    for (int64_t row = 0; row < TILE_ROWS; ++row) *out++ = row < rows ? a[row * step + p] : 0;
  }
}

/* Packs up to TILE_COLS columns of `b` row by row. Copies of a constant size are a few
 * instructions. */
static void pack_panel(float* out, const float* b, int64_t step, int64_t cols, int64_t depth) {
  if (cols == TILE_COLS) {
    for (int64_t p = 0; p < depth; ++p) memcpy(out + p * TILE_COLS, b + p * step, TILE_COLS * sizeof(*out));
    return;
  }
  memset(out, 0, (size_t)(depth * TILE_COLS) * sizeof(*out));
  for (int64_t p = 0; p < depth; ++p) memcpy(out + p * TILE_COLS, b + p * step, (size_t)cols * sizeof(*out));
}

/* ---- tiles -------------------------------------------------------------------------------- */

/* Multiplies a packed strip by a packed panel into a tile. */
VECTOR static void multiply_tile(float* restrict tile, const float* restrict a, const float* restrict b, int64_t depth) {
  Lane sums[TILE_ROWS][LANES] = {0};
  for (int64_t p = 0; p < depth; ++p, a += TILE_ROWS, b += TILE_COLS) {
    for (int row = 0; row < TILE_ROWS; ++row) {
      for (int lane = 0; lane < LANES; ++lane) sums[row][lane] += a[row] * ((const Lane*)b)[lane];
    }
  }
  memcpy(tile, sums, sizeof(sums));
}

/* Adds the part of a tile that is inside the product. */
VECTOR static void add_tile(float* restrict out, int64_t step, const float* restrict tile, int64_t rows, int64_t cols) {
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t col = 0; col < cols; ++col) out[row * step + col] += tile[row * TILE_COLS + col];
  }
}

/* ---- the whole product -------------------------------------------------------------------- */

typedef struct {
  float* out;
  const float* a;
  const float* b;
  int64_t m, k, n;
} Product;

/* Adds a[first.., at..] * b[at.., col..] to a block of the product; `strips` are those rows of `a`,
 * packed. */
static void multiply_block(const Product* g, const float* strips, int64_t first, int64_t col, int64_t at, int64_t depth) {
  const int64_t rows = smaller(BLOCK_ROWS, g->m - first), cols = smaller(TILE_COLS, g->n - col);
  float panel[DEPTH * TILE_COLS], tile[TILE_ROWS * TILE_COLS];
  pack_panel(panel, g->b + at * g->n + col, g->n, cols, depth);
  for (int64_t row = 0; row < rows; row += TILE_ROWS) {
    multiply_tile(tile, strips + row * depth, panel, depth);
    add_tile(g->out + (first + row) * g->n + col, g->n, tile, smaller(TILE_ROWS, rows - row), cols);
  }
}

static int multiply_packed(const Product* g) {
  const int64_t strip_count = parts(g->m, TILE_ROWS), block_count = parts(g->m, BLOCK_ROWS), panel_count = parts(g->n, TILE_COLS);
  float* strips = malloc((size_t)(strip_count * TILE_ROWS * DEPTH) * sizeof(float));
  if (strips == NULL) return ferrite_fail("MemoryError", "out of memory for the packed rows of a product");
  for (int64_t at = 0; at < g->k; at += DEPTH) {
    const int64_t depth = smaller(DEPTH, g->k - at);
    PARALLEL_FOR(strip, strip_count, g->m * depth, {
      const int64_t row = strip * TILE_ROWS;
      pack_strip(strips + row * depth, g->a + row * g->k + at, g->k, smaller(TILE_ROWS, g->m - row), depth);
    });
    PARALLEL_FOR(i, block_count * panel_count, g->m * g->n * depth, {
      const int64_t row = i / panel_count * BLOCK_ROWS, col = i % panel_count * TILE_COLS;
      multiply_block(g, strips + row * depth, row, col, at, depth);
    });
  }
  free(strips);
  return 0;
}

/* ---- products of few rows ----------------------------------------------------------------- */

/* Columns that a thread makes at a time: four rows of `b`, 16 KiB, stay in the first cache for all
 * rows of `a`. */
enum { FEW_COLS = 1024 };

/* Adds four rows of `b`, each times its number, to a part of the product. */
VECTOR static void add_four(float* restrict out, const float* a, const float* b, int64_t step, int64_t cols) {
  for (int64_t i = 0; i < cols; ++i) {
    out[i] += a[0] * b[i] + a[1] * b[step + i] + a[2] * b[2 * step + i] + a[3] * b[3 * step + i];
  }
}

VECTOR static void add_one(float* restrict out, float a, const float* b, int64_t cols) {
  for (int64_t i = 0; i < cols; ++i) out[i] += a * b[i];
}

static void multiply_few_columns(const Product* g, int64_t first, int64_t cols) {
  float* out = g->out + first;
  const float* b = g->b + first;
  int64_t p = 0;
  for (; p + 4 <= g->k; p += 4) {
    for (int64_t row = 0; row < g->m; ++row) add_four(out + row * g->n, g->a + row * g->k + p, b + p * g->n, g->n, cols);
  }
  for (; p < g->k; ++p) {
    for (int64_t row = 0; row < g->m; ++row) add_one(out + row * g->n, g->a[row * g->k + p], b + p * g->n, cols);
  }
}

static int multiply_few(const Product* g) {
  PARALLEL_FOR(part, parts(g->n, FEW_COLS), g->m * g->n * g->k, {
    multiply_few_columns(g, part * FEW_COLS, smaller(FEW_COLS, g->n - part * FEW_COLS));
  });
  return 0;
}

FERRITE_EXPORT(gemm, FERRITE_PARAMS_3(FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_OUT), FERRITE_RETURNS_OUT,
               "a: Tensor([m, k], float32), b: Tensor([k, n], float32), out: Tensor([m, n], float32) = None",
               "Returns the matrix product of a and b.") {
  FerriteExtent m = FERRITE_ANY_EXTENT, k = FERRITE_ANY_EXTENT, n = FERRITE_ANY_EXTENT;
  FerriteTensorArg a, b;
  FerriteOut out;
  if (ferrite_take_2(args, 0, "a", FERRITE_F32, &m, &k, &a) || ferrite_take_2(args, 1, "b", FERRITE_F32, &k, &n, &b)) return -1;
  if (ferrite_out_2(args, 2, "out", FERRITE_F32, &m, &n, &out)) return -1;
  const Product product = {f32(&out.tensor), f32(&a), f32(&b), m.value, k.value, n.value};
  memset(product.out, 0, (size_t)ferrite_numel(&out.tensor) * sizeof(float));
  if (m.value < FEW_ROWS ? multiply_few(&product) : multiply_packed(&product)) {
    ferrite_drop_out(&out);
    return -1;
  }
  return ferrite_return_out(result, &out);
}
