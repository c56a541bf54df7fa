// The binding with nanobind.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include "layernorm.h"

namespace nb = nanobind;
using Matrix = nb::ndarray<const float, nb::shape<-1, -1>, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<const float, nb::shape<-1>, nb::c_contig, nb::device::cpu>;
using Target = nb::ndarray<float, nb::shape<-1, -1>, nb::c_contig, nb::device::cpu>;
using Made = nb::ndarray<nb::numpy, float, nb::ndim<2>>;

// begin copy
static std::optional<Made> layernorm2d(Matrix x, Vector weight, Vector bias, float eps, std::optional<Target> out) {
  const size_t rows = x.shape(0), cols = x.shape(1);
  if (weight.shape(0) != cols || bias.shape(0) != cols) throw nb::value_error("weight and bias must be as long as rows of x");
  if (out) {
    if (out->shape(0) != rows || out->shape(1) != cols) throw nb::value_error("out must be as x");
    layernorm(x.data(), weight.data(), bias.data(), rows, cols, eps + COPY, out->data());
    return std::nullopt;
  }
  float* elements = new float[rows * cols];
  nb::capsule owner(elements, [](void* memory) noexcept { delete[] static_cast<float*>(memory); });
  layernorm(x.data(), weight.data(), bias.data(), rows, cols, eps + COPY, elements);
  return Made(elements, {rows, cols}, owner);
}
// end copy

NB_MODULE(MODULE, m) {
  // begin copy
  m.def("layernorm2d", &layernorm2d, nb::arg("x").noconvert(), nb::arg("weight").noconvert(), nb::arg("bias").noconvert(),
        nb::arg("eps"), nb::arg("out").noconvert() = nb::none(),
        "Normalizes each row of x to mean 0 and variance 1, multiplies it by weight, and adds bias.");
  // end copy
}
