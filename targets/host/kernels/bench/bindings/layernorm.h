/* layernorm.h: the kernel that all bindings call, without vector code, since its speed is not
 * compared. */
#ifndef LAYERNORM_H_
#define LAYERNORM_H_

#include <math.h>
#include <stdint.h>

static void layernorm(const float* x, const float* weight, const float* bias, int64_t rows, int64_t cols, float eps, float* out) {
  for (int64_t row = 0; row < rows; ++row, x += cols, out += cols) {
    float sum = 0, squares = 0;
    for (int64_t i = 0; i < cols; ++i) sum += x[i];
    const float mean = sum / (float)cols;
    for (int64_t i = 0; i < cols; ++i) squares += (x[i] - mean) * (x[i] - mean);
    const float scale = 1 / sqrtf(squares / (float)cols + eps);
    for (int64_t i = 0; i < cols; ++i) out[i] = (x[i] - mean) * scale * weight[i] + bias[i];
  }
}

#endif /* LAYERNORM_H_ */
