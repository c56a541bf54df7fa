// The binding with pybind11 for tensors of PyTorch, by PyTorch's headers.
#include <torch/extension.h>

#include "layernorm.h"

static void check(const at::Tensor& x, int64_t ndim) {
  if (x.scalar_type() != at::kFloat) throw py::type_error("tensors must be float32");
  if (!x.is_cpu()) throw py::value_error("tensors must be in main memory");
  if (x.dim() != ndim) throw py::value_error("x must have 2 axes, weight and bias 1");
  if (!x.is_contiguous()) throw py::value_error("tensors must be contiguous");
}

static std::optional<at::Tensor> layernorm2d(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, double eps,
                                             const std::optional<at::Tensor>& out) {
  check(x, 2), check(weight, 1), check(bias, 1);
  const int64_t rows = x.size(0), cols = x.size(1);
  if (weight.size(0) != cols || bias.size(0) != cols) throw py::value_error("weight and bias must be as long as rows of x");
  if (out) check(*out, 2);
  if (out && (out->size(0) != rows || out->size(1) != cols)) throw py::value_error("out must be as x");
  at::Tensor target = out ? *out : at::empty_like(x);
  layernorm(x.const_data_ptr<float>(), weight.const_data_ptr<float>(), bias.const_data_ptr<float>(), rows, cols, (float)eps,
            target.mutable_data_ptr<float>());
  return out ? std::nullopt : std::optional(target);
}

PYBIND11_MODULE(MODULE, m) {
  m.def("layernorm2d", &layernorm2d, py::arg("x"), py::arg("weight"), py::arg("bias"), py::arg("eps"), py::arg("out") = py::none(),
        "Normalizes each row of x to mean 0 and variance 1, multiplies it by weight, and adds bias.");
}
