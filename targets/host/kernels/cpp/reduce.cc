// Reductions of rows.
#include "kernels.hpp"
#include "../device/device.hpp"

namespace kernels {
namespace {

template <class T> KERNELS_CLONES float sum_row(const T* x, int64_t cols) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < cols; ++i) sum += float(x[i]);
  return sum;
}

}  // namespace

FERRITE_EXPORT(sum_rows, FERRITE_PARAMS_2(FERRITE_TENSOR, FERRITE_OUT), FERRITE_RETURNS_OUT,
               "x: Tensor([rows, cols], T), out: Tensor([rows], T) = None",
               "Adds up each row in float32. Runs on the device of x." KERNELS_TYPES) {
  Call call(args, Place::kAnyDevice);
  Dim rows, cols;
  Tensor x = call.floats(0, "x", {&rows, &cols});
  Output out = call.output(1, "out", x.dtype(), {&rows});
  if (call.failed()) return -1;
  if (!x.on_host()) return device::sum_rows(x, rows, cols, out) ? -1 : out.finish(result);
  with_float_type(x.dtype(), [&](auto type) {
    using T = decltype(type);
    parallel_for(rows, cols, [&](int64_t row) { out.data<T>()[row] = narrow<T>(sum_row(x.data<T>() + row * cols, cols)); });
  });
  return out.finish(result);
}

}  // namespace kernels
