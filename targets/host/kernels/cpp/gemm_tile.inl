// One tile of a product, for one kind of vector unit. Included by gemm.cc once for each, with
//   TILE_NAME    the function's name
//   TILE_TARGET  attributes that choose instructions
//   TILE_LANES   floats in a vector
//   TILE_ROWS    rows of the tile; it has 2 * TILE_LANES columns, and all of it stays in registers

// Writes a * b to `c`, whose rows are `stride` floats apart, or adds it. `a` has TILE_ROWS values for each of the `depth` steps, `b`
// 2 * TILE_LANES.
TILE_TARGET void TILE_NAME(int64_t depth, const float* a, const float* b, bool add, float* c, int64_t stride) {
  typedef float Vector __attribute__((vector_size(4 * TILE_LANES), aligned(4), may_alias));
  Vector sums[TILE_ROWS][2];
  KERNELS_UNROLL for (int row = 0; row < TILE_ROWS; ++row) sums[row][0] = sums[row][1] = Vector{};
  for (; depth > 0; --depth, a += TILE_ROWS, b += 2 * TILE_LANES) {
    const Vector left = *reinterpret_cast<const Vector*>(b), right = *reinterpret_cast<const Vector*>(b + TILE_LANES);
    KERNELS_UNROLL for (int row = 0; row < TILE_ROWS; ++row) {
      sums[row][0] += a[row] * left;
      sums[row][1] += a[row] * right;
    }
  }
  KERNELS_UNROLL for (int row = 0; row < TILE_ROWS; ++row, c += stride) {
    Vector* left = reinterpret_cast<Vector*>(c);
    Vector* right = reinterpret_cast<Vector*>(c + TILE_LANES);
    *left = add ? *left + sums[row][0] : sums[row][0];
    *right = add ? *right + sums[row][1] : sums[row][1];
  }
}

#undef TILE_NAME
#undef TILE_TARGET
#undef TILE_LANES
#undef TILE_ROWS
