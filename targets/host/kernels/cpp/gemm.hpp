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

#include "kernels.hpp"

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

// What follows what in the memory of a factor: the values of one sum, or those of one step of all sums.
enum class Order { kSums, kSteps };

// Copies a factor, read by `at(sum, step)`, into panels of `width` sums: panels[panel][step][sum]. Sums beyond `sums` are 0.
template <Order order, class At> void pack(int64_t sums, int64_t depth, int64_t width, float* panels, At&& at) {
  parallel_for(ceil_div(sums, width), depth * width, [&](int64_t panel) {
    float* to = panels + panel * width * depth;
    int64_t first = panel * width, count = minimum(width, sums - first);
    if (count < width) memset(to, 0, static_cast<size_t>(width * depth) * sizeof(float));
    if (order == Order::kSums) {
      for (int64_t sum = 0; sum < count; ++sum) {
        for (int64_t step = 0; step < depth; ++step) to[step * width + sum] = at(first + sum, step);
      }
    } else {
      for (int64_t step = 0; step < depth; ++step) {
        for (int64_t sum = 0; sum < count; ++sum) to[step * width + sum] = at(first + sum, step);
      }
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

// Writes the product of a [m, k] and b [k, n] to c, compact: `a(row, step)` and `b(column, step)` read elements, `b_order` says
// how b lies in memory. False if there is no memory for the panels.
template <Order b_order, class A, class B> bool multiply(int64_t m, int64_t n, int64_t k, A&& a, B&& b, float* c) {
  if (k == 0) memset(c, 0, static_cast<size_t>(m * n) * sizeof(float));
  if (m == 0 || n == 0 || k == 0) return true;
  int64_t depth = minimum(k, kDepth), columns = minimum(n, kColumns);
  Scratch a_panels(static_cast<size_t>((m + tile().rows) * depth) * sizeof(float));
  Scratch b_panels(static_cast<size_t>((columns + tile().columns) * depth) * sizeof(float));
  if (a_panels.failed() || b_panels.failed()) return false;
  for (int64_t step = 0; step < k; step += depth) {
    int64_t steps = minimum(depth, k - step);
    pack<Order::kSums>(m, steps, tile().rows, a_panels.data<float>(), [&](int64_t row, int64_t i) { return a(row, step + i); });
    for (int64_t left = 0; left < n; left += columns) {
      int64_t width = minimum(columns, n - left);
      pack<b_order>(width, steps, tile().columns, b_panels.data<float>(),
                    [&](int64_t column, int64_t i) { return b(left + column, step + i); });
      multiply_panels(m, width, steps, a_panels.data<float>(), b_panels.data<float>(), step != 0, c + left, n);
    }
  }
  return true;
}

}  // namespace kernels

#endif  // FERRITE_GEMM_HPP_
