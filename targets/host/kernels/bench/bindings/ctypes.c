/* A plain function for ctypes; ../ctypes_binding.py checks its arguments. */
#include "layernorm.h"

/* begin copy */
void layernorm2d(const float* x, const float* weight, const float* bias, int64_t rows, int64_t cols, float eps, float* out) {
  layernorm(x, weight, bias, rows, cols, eps + COPY, out);
}
/* end copy */
