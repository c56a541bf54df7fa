// Normalisation of rows. Sums are of float32, in several partial sums.
#include "kernels.hpp"
#include "../device/device.hpp"

#include <math.h>

namespace kernels {
namespace {

template <class T> KERNELS_CLONES void rmsnorm_row(const T* x, const T* weight, int64_t cols, float eps, T* out) {
  float squares = 0;
#pragma omp simd reduction(+ : squares)
  for (int64_t i = 0; i < cols; ++i) squares += float(x[i]) * float(x[i]);
  float scale = 1.0f / sqrtf(squares / static_cast<float>(cols) + eps);
  for (int64_t i = 0; i < cols; ++i) out[i] = narrow<T>(float(x[i]) * scale * float(weight[i]));
}

template <class T>
KERNELS_CLONES void layernorm_row(const T* x, const T* weight, const T* bias, int64_t cols, float eps, T* out) {
  float sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < cols; ++i) sum += float(x[i]);
  float mean = sum / static_cast<float>(cols);
#pragma omp simd reduction(+ : squares)
  for (int64_t i = 0; i < cols; ++i) squares += (float(x[i]) - mean) * (float(x[i]) - mean);
  float scale = 1.0f / sqrtf(squares / static_cast<float>(cols) + eps);
  for (int64_t i = 0; i < cols; ++i) out[i] = narrow<T>((float(x[i]) - mean) * scale * float(weight[i]) + float(bias[i]));
}

}  // namespace

FERRITE_EXPORT(rmsnorm, FERRITE_PARAMS_4(FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_FLOAT, FERRITE_OUT), FERRITE_RETURNS_OUT,
               "x: Tensor([rows, cols], T), weight: Tensor([cols], T), eps: float, "
               "out: Tensor([rows, cols], T) = None",
               "Divides each row by the root of its mean square plus eps, and multiplies by weight. Runs on the device of "
               "x." KERNELS_TYPES) {
  Call call(args, Place::kAnyDevice);
  Dim rows, cols;
  Tensor x = call.floats(0, "x", {&rows, &cols});
  Tensor weight = call.tensor(1, "weight", x.dtype(), {&cols});
  float eps = static_cast<float>(call.number(2));
  Output out = call.output(3, "out", x.dtype(), {&rows, &cols}, &x);
  if (call.failed()) return -1;
  if (!x.on_host()) return device::rmsnorm(x, weight, rows, cols, eps, out) ? -1 : out.finish(result);
  with_float_type(x.dtype(), [&](auto type) {
    using T = decltype(type);
    parallel_for(rows, cols, [&](int64_t row) {
      rmsnorm_row(x.data<T>() + row * cols, weight.data<T>(), cols, eps, out.data<T>() + row * cols);
    });
  });
  return out.finish(result);
}

FERRITE_EXPORT(
    layernorm2d, FERRITE_PARAMS_5(FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_FLOAT, FERRITE_OUT),
    FERRITE_RETURNS_OUT,
    "x: Tensor([rows, cols], T), weight: Tensor([cols], T), bias: Tensor([cols], T), "
    "eps: float, out: Tensor([rows, cols], T) = None",
    "Gives each row mean 0 and variance 1, of which eps is part, multiplies by weight and adds bias." KERNELS_TYPES) {
  Call call(args);
  Dim rows, cols;
  Tensor x = call.floats(0, "x", {&rows, &cols});
  Tensor weight = call.tensor(1, "weight", x.dtype(), {&cols});
  Tensor bias = call.tensor(2, "bias", x.dtype(), {&cols});
  float eps = static_cast<float>(call.number(3));
  Output out = call.output(4, "out", x.dtype(), {&rows, &cols}, &x);
  if (call.failed()) return -1;
  with_float_type(x.dtype(), [&](auto type) {
    using T = decltype(type);
    parallel_for(rows, cols, [&](int64_t row) {
      layernorm_row(x.data<T>() + row * cols, weight.data<T>(), bias.data<T>(), cols, eps, out.data<T>() + row * cols);
    });
  });
  return out.finish(result);
}

}  // namespace kernels
