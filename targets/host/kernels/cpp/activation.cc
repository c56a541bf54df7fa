// Activations.
#include "kernels.hpp"
#include "vector_math.hpp"
#include "../device/device.hpp"

namespace kernels {
namespace {

template <class T> KERNELS_CLONES void silu_and_mul_row(const T* x, int64_t cols, T* out) {
  for (int64_t i = 0; i < cols; ++i) {
    float gate = x[i];
    out[i] = narrow<T>(gate / (1.0f + exp_approx(-gate)) * float(x[cols + i]));
  }
}

}  // namespace

FERRITE_EXPORT(silu_and_mul, FERRITE_PARAMS_2(FERRITE_TENSOR, FERRITE_OUT), FERRITE_RETURNS_OUT,
               "x: Tensor([rows, 2 * cols], T), out: Tensor([rows, cols], T) = None",
               "Multiplies the right half of each row by silu of the left half: a / (1 + exp(-a)) * b. Runs on the device of "
               "x." KERNELS_TYPES) {
  Call call(args, Place::kAnyDevice);
  Dim rows, width;
  Tensor x = call.floats(0, "x", {&rows, &width});
  call.divisible(x, 1, 2);
  Dim cols(width / 2);
  Output out = call.output(1, "out", x.dtype(), {&rows, &cols});
  if (call.failed()) return -1;
  if (!x.on_host()) return device::silu_and_mul(x, rows, cols, out) ? -1 : out.finish(result);
  with_float_type(x.dtype(), [&](auto type) {
    using T = decltype(type);
    parallel_for(rows, 8 * cols,
                 [&](int64_t row) { silu_and_mul_row(x.data<T>() + row * width, cols, out.data<T>() + row * cols); });
  });
  return out.finish(result);
}

}  // namespace kernels
