// The product of two matrices in blocks, of any type of elements that converts to float32.
//
//   Goto's scheme: a block of b (kDepth x kColumns) and a of a (all rows x kDepth) are copied into panels, in the order in
//   which the tile function reads them; conversion and dequantisation happen in that copy. The tile function multiplies a panel
//   of a by one of b, and keeps the tile of the product in registers.
//
//          columns ->                           panel of b: tile.columns values a step
//        +---+---+---+---+
//   rows | t | t |   |   |                      t: a tile, tile.rows x tile.columns
//        +---+---+---+---+
#ifndef FERRITE_GEMM_HPP_
#define FERRITE_GEMM_HPP_

#include "row_loops.hpp"

namespace kernels {

// The tile function of this processor.
struct Tile {
  int64_t rows, columns;
  void (*multiply)(int64_t depth, const float* a, const float* b, bool add, float* c, int64_t stride);
};
const Tile& tile();

// Blocks: a panel of b in the first-level cache (256 x 16 or 32 floats), a task's panels of a in the second.
constexpr int64_t kDepth = 256;
constexpr int64_t kColumns = 2048;
constexpr int64_t kTaskRows = 96;
constexpr int64_t kTaskColumns = 256;
// The largest tile, for edges.
constexpr int64_t kTileSize = 12 * 32;

// What a row of a factor in memory is: the values of one row of the product (or column, for b), or those of one step of all of
// them.
enum class Order { kSums, kSteps };

// A factor of `T` in memory. A factor of another kind has this function, too.
template <class T> struct Dense {
  const T* data;
  int64_t stride;
  // Returns elements of some rows; `space` has space for them.
  Rows rows(int64_t row, int64_t rows, int64_t first, int64_t count, float* space) const {
    return widen_rows(data + row * stride + first, stride, rows, count, space);
  }
  // Writes `count` elements of a row, from element `first` on, as float32.
  void read(int64_t row, int64_t first, int64_t count, float* to) const { widen_row(data + row * stride + first, count, to); }
};

// Copies `steps` steps from `step` of up to `width` sums from `first` into a panel: to[step][sum], 0 beyond `count` sums.
template <class Factor>
void pack_sums(const Factor& factor, int64_t first, int64_t count, int64_t width, int64_t step, int64_t steps, float* to) {
  float row[kDepth];
  for (int64_t sum = 0; sum < count; ++sum) {
    factor.read(first + sum, step, steps, row);
    for (int64_t i = 0; i < steps; ++i) to[i * width + sum] = row[i];
  }
}
template <class Factor>
void pack_steps(const Factor& factor, int64_t first, int64_t count, int64_t width, int64_t step, int64_t steps, float* to) {
  for (int64_t i = 0; i < steps; ++i) factor.read(step + i, first, count, to + i * width);
}

// Copies a part of a factor into panels of `width` sums.
template <Order order, class Factor>
void pack(const Factor& factor, int64_t first, int64_t sums, int64_t width, int64_t step, int64_t steps, float* panels) {
  parallel_for(ceil_div(sums, width), steps * width, [&](int64_t panel) {
    float* to = panels + panel * width * steps;
    int64_t begin = panel * width, count = minimum(width, sums - begin);
    if (count < width) memset(to, 0, static_cast<size_t>(width * steps) * sizeof(float));
    if (order == Order::kSums) {
      pack_sums(factor, first + begin, count, width, step, steps, to);
    } else {
      pack_steps(factor, first + begin, count, width, step, steps, to);
    }
  });
}

// Multiplies the panels of a tile, whose upper left `rows` x `columns` are inside c.
inline void multiply_tile(int64_t depth, const float* a, const float* b, bool add, float* c, int64_t stride, int64_t rows,
                          int64_t columns) {
  if (rows >= tile().rows && columns >= tile().columns) return tile().multiply(depth, a, b, add, c, stride);
  float edge[kTileSize];
  tile().multiply(depth, a, b, false, edge, tile().columns);
  for (int64_t row = 0; row < minimum(rows, tile().rows); ++row) {
    for (int64_t column = 0; column < minimum(columns, tile().columns); ++column) {
      float value = edge[row * tile().columns + column];
      c[row * stride + column] = add ? c[row * stride + column] + value : value;
    }
  }
}

// Multiplies all panels of a by those of a block of b.
inline void multiply_panels(int64_t m, int64_t n, int64_t depth, const float* a, const float* b, bool add, float* c,
                            int64_t stride) {
  int64_t down = ceil_div(m, kTaskRows), across = ceil_div(n, kTaskColumns);
  parallel_for(down * across, kTaskRows * kTaskColumns * depth, [&](int64_t task) {
    int64_t top = task / across * kTaskRows, left = task % across * kTaskColumns;
    int64_t bottom = minimum(top + kTaskRows, m), right = minimum(left + kTaskColumns, n);
    for (int64_t column = left; column < right; column += tile().columns) {
      for (int64_t row = top; row < bottom; row += tile().rows) {
        multiply_tile(depth, a + row * depth, b + column * depth, add, c + row * stride + column, stride, m - row, n - column);
      }
    }
  });
}

// ---- few rows ------------------------------------------------------------------------------

// Up to this number of rows, copies into panels cost more than they save.
constexpr int64_t kFewRows = 8;

// Columns of a task, and steps that are read at once: in the first-level cache they stay for all rows of a.
constexpr int64_t kFewColumns = 1024;
constexpr int64_t kFewSteps = 4;

// Multiplies by rows of b that are steps: adds each, times the elements of a, to the rows of c.
template <class B> void add_steps(int64_t m, int64_t n, int64_t k, const float* a, const B& b, int64_t left, float* c) {
  float space[kFewSteps * kFewColumns];
  int64_t width = minimum(kFewColumns, n - left);
  for (int64_t row = 0; row < m; ++row) memset(c + row * n + left, 0, static_cast<size_t>(width) * sizeof(float));
  for (int64_t step = 0; step < k; step += kFewSteps) {
    int64_t steps = minimum(kFewSteps, k - step);
    Rows rows = b.rows(step, steps, left, width, space);
    for (int64_t row = 0; row < m; ++row)
      add_rows(a + row * k + step, rows.data, rows.stride, steps, width, c + row * n + left);
  }
}

// Multiplies by rows of b that are columns: sums up the products with each row of a.
template <class B> void dot_columns(int64_t m, int64_t n, int64_t k, const float* a, const B& b, int64_t column, float* c) {
  float part[4 * kDepth];
  for (int64_t row = 0; row < m; ++row) c[row * n + column] = 0;
  for (int64_t step = 0; step < k; step += 4 * kDepth) {
    int64_t steps = minimum(4 * kDepth, k - step);
    b.read(column, step, steps, part);
    for (int64_t row = 0; row < m; ++row) c[row * n + column] += dot(a + row * k + step, part, steps);
  }
}

template <Order b_order, class A, class B>
bool multiply_few(int64_t m, int64_t n, int64_t k, const A& a, const B& b, float* c) {
  Scratch rows(static_cast<size_t>(m * k) * sizeof(float));
  if (rows.failed()) return false;
  for (int64_t row = 0; row < m; ++row) a.read(row, 0, k, rows.data<float>() + row * k);
  if constexpr (b_order == Order::kSteps) {
    parallel_for(ceil_div(n, kFewColumns), m * k * kFewColumns,
                 [&](int64_t task) { add_steps(m, n, k, rows.data<float>(), b, task * kFewColumns, c); });
  } else {
    parallel_for(n, m * k, [&](int64_t column) { dot_columns(m, n, k, rows.data<float>(), b, column, c); });
  }
  return true;
}

// ---- all sizes -----------------------------------------------------------------------------

// Writes the product of a [m, k], whose rows are rows in memory, and b [k, n] to c, compact. False if there is no memory.
template <Order b_order, class A, class B> bool multiply(int64_t m, int64_t n, int64_t k, const A& a, const B& b, float* c) {
  if (k == 0) memset(c, 0, static_cast<size_t>(m * n) * sizeof(float));
  if (m == 0 || n == 0 || k == 0) return true;
  if (m <= kFewRows) return multiply_few<b_order>(m, n, k, a, b, c);
  int64_t depth = minimum(k, kDepth), columns = minimum(n, kColumns);
  Scratch a_panels(static_cast<size_t>((m + tile().rows) * depth) * sizeof(float));
  Scratch b_panels(static_cast<size_t>((columns + tile().columns) * depth) * sizeof(float));
  if (a_panels.failed() || b_panels.failed()) return false;
  for (int64_t step = 0; step < k; step += depth) {
    int64_t steps = minimum(depth, k - step);
    pack<Order::kSums>(a, 0, m, tile().rows, step, steps, a_panels.data<float>());
    for (int64_t left = 0; left < n; left += columns) {
      int64_t width = minimum(columns, n - left);
      pack<b_order>(b, left, width, tile().columns, step, steps, b_panels.data<float>());
      multiply_panels(m, width, steps, a_panels.data<float>(), b_panels.data<float>(), step != 0, c + left, n);
    }
  }
  return true;
}

}  // namespace kernels

#endif  // FERRITE_GEMM_HPP_
