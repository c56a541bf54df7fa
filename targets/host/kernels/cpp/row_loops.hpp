// Loops over rows of float32 that several families need, compiled for several processors.
#ifndef FERRITE_ROW_LOOPS_HPP_
#define FERRITE_ROW_LOOPS_HPP_

#include "kernels.hpp"

namespace kernels {

// Converts a row to float32.
template <class T> KERNELS_CLONES void widen_row(const T* x, int64_t count, float* out) {
  for (int64_t i = 0; i < count; ++i) out[i] = float(x[i]);
}
template <> inline void widen_row<float>(const float* x, int64_t count, float* out) {
  memcpy(out, x, static_cast<size_t>(count) * sizeof(float));
}

// Rows of float32, `stride` apart: those of a matrix, or a converted copy.
struct Rows {
  const float* data;
  int64_t stride;
  const float* row(int64_t i) const { return data + i * stride; }
};

inline Rows widen_rows(const float* x, int64_t stride, int64_t, int64_t, float*) { return Rows{x, stride}; }

// Converts rows, of `size` elements, into `space`.
template <class T> Rows widen_rows(const T* x, int64_t stride, int64_t rows, int64_t size, float* space) {
  for (int64_t row = 0; row < rows; ++row) widen_row(x + row * stride, size, space + row * size);
  return Rows{space, size};
}

// Rounds a row of float32.
template <class T> KERNELS_CLONES void narrow_row(const float* x, int64_t count, T* out) {
  for (int64_t i = 0; i < count; ++i) out[i] = narrow<T>(x[i]);
}

// Returns the sum of products of two rows.
KERNELS_CLONES [[maybe_unused]] static float dot(const float* x, const float* y, int64_t count) {
  float even = 0, odd = 0;
#pragma omp simd reduction(+ : even, odd)
  for (int64_t i = 0; i < count / 2; ++i) {
    even += x[i] * y[i];
    odd += x[count / 2 + i] * y[count / 2 + i];
  }
  return even + odd + (count % 2 != 0 ? x[count - 1] * y[count - 1] : 0.0f);
}

// Writes the products of a row with four others, `stride` apart, times a scale.
KERNELS_CLONES [[maybe_unused]] static void dot_4(const float* x, const float* y, int64_t stride, int64_t count, float scale,
                                                  float* out) {
  const float *y1 = y + stride, *y2 = y1 + stride, *y3 = y2 + stride;
  float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
  for (int64_t i = 0; i < count; ++i) {
    s0 += x[i] * y[i];
    s1 += x[i] * y1[i];
    s2 += x[i] * y2[i];
    s3 += x[i] * y3[i];
  }
  out[0] = s0 * scale;
  out[1] = s1 * scale;
  out[2] = s2 * scale;
  out[3] = s3 * scale;
}

// Adds rows, `stride` apart, times their weights.
KERNELS_CLONES [[maybe_unused]] static void add_rows(const float* weights, const float* rows, int64_t stride, int64_t row_count,
                                                     int64_t count, float* out) {
  int64_t row = 0;
  for (; row + 4 <= row_count; row += 4) {
    const float *r0 = rows + row * stride, *r1 = r0 + stride, *r2 = r1 + stride, *r3 = r2 + stride, *w = weights + row;
    for (int64_t i = 0; i < count; ++i) out[i] += w[0] * r0[i] + w[1] * r1[i] + w[2] * r2[i] + w[3] * r3[i];
  }
  for (; row < row_count; ++row) {
    for (int64_t i = 0; i < count; ++i) out[i] += weights[row] * rows[row * stride + i];
  }
}

}  // namespace kernels

#endif  // FERRITE_ROW_LOOPS_HPP_
