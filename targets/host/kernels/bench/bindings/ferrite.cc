// The binding in C++, with the helpers of ../cpp.
#include "../../cpp/kernels.hpp"

#include "layernorm.h"

namespace kernels {

// begin copy
FERRITE_EXPORT(layernorm2d, FERRITE_PARAMS_5(FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_TENSOR, FERRITE_FLOAT, FERRITE_OUT),
               FERRITE_RETURNS_OUT,
               "x: Tensor([rows, cols], float32), weight: Tensor([cols], float32), bias: Tensor([cols], float32), eps: float, "
               "out: Tensor([rows, cols], float32) = None",
               "Normalizes each row of x to mean 0 and variance 1, multiplies it by weight, and adds bias.") {
  Call call(args);
  Dim rows, cols;
  Tensor x = call.tensor(0, "x", kFloat32, {&rows, &cols});
  Tensor weight = call.tensor(1, "weight", kFloat32, {&cols});
  Tensor bias = call.tensor(2, "bias", kFloat32, {&cols});
  float eps = static_cast<float>(call.number(3));
  Output out = call.output(4, "out", kFloat32, {&rows, &cols}, &x);
  if (call.failed()) return -1;
  layernorm(x.data<float>(), weight.data<float>(), bias.data<float>(), rows, cols, eps + COPY, out.data<float>());
  return out.finish(result);
}
// end copy

}  // namespace kernels
