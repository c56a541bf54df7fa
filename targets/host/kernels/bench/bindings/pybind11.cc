// The binding with pybind11: numpy arrays, and capsules of DLPack as the ABI's tensors are passed.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <dlpack/dlpack.h>

#include "layernorm.h"

namespace py = pybind11;
using Array = py::array_t<float, py::array::c_style>;

// begin copy
static py::object layernorm2d(const Array& x, const Array& weight, const Array& bias, float eps, py::object out) {
  if (x.ndim() != 2 || weight.ndim() != 1 || bias.ndim() != 1) throw py::value_error("x must have 2 axes, weight and bias 1");
  const py::ssize_t rows = x.shape(0), cols = x.shape(1);
  if (weight.shape(0) != cols || bias.shape(0) != cols) throw py::value_error("weight and bias must be as long as rows of x");
  if (out.is_none()) {
    Array made({rows, cols});
    layernorm(x.data(), weight.data(), bias.data(), rows, cols, eps + COPY, made.mutable_data());
    return made;
  }
  if (!py::isinstance<Array>(out)) throw py::type_error("out must be a float32 array in rows");
  Array target = py::reinterpret_borrow<Array>(out);
  if (target.ndim() != 2 || target.shape(0) != rows || target.shape(1) != cols) throw py::value_error("out must be as x");
  layernorm(x.data(), weight.data(), bias.data(), rows, cols, eps + COPY, target.mutable_data());
  return py::none();
}
// end copy

// The tensor in a capsule, which stays in it.
static const DLTensor& checked(const py::capsule& capsule, int ndim) {
  const DLTensor& x = static_cast<DLManagedTensor*>(capsule.get_pointer())->dl_tensor;
  if (x.dtype.code != kDLFloat || x.dtype.bits != 32 || x.dtype.lanes != 1) throw py::type_error("tensors must be float32");
  if (x.device.device_type != kDLCPU) throw py::value_error("tensors must be in main memory");
  if (x.ndim != ndim) throw py::value_error("x must have 2 axes, weight and bias 1");
  int64_t stride = 1;
  for (int axis = ndim - 1; axis >= 0; stride *= x.shape[axis--]) {
    if (x.strides != nullptr && x.shape[axis] != 1 && x.strides[axis] != stride) throw py::value_error("tensors must be contiguous");
  }
  return x;
}

static float* data(const DLTensor& x) { return reinterpret_cast<float*>(static_cast<char*>(x.data) + x.byte_offset); }

static py::object layernorm2d_capsules(const py::capsule& x, const py::capsule& weight, const py::capsule& bias, float eps,
                                       const py::capsule& out) {
  const DLTensor &a = checked(x, 2), &b = checked(weight, 1), &c = checked(bias, 1), &d = checked(out, 2);
  const int64_t rows = a.shape[0], cols = a.shape[1];
  if (b.shape[0] != cols || c.shape[0] != cols) throw py::value_error("weight and bias must be as long as rows of x");
  if (d.shape[0] != rows || d.shape[1] != cols) throw py::value_error("out must be as x");
  layernorm(data(a), data(b), data(c), rows, cols, eps, data(d));
  return py::none();
}

PYBIND11_MODULE(MODULE, m) {
  m.def("layernorm2d_capsules", &layernorm2d_capsules);
  // begin copy
  m.def("layernorm2d", &layernorm2d, py::arg("x").noconvert(), py::arg("weight").noconvert(), py::arg("bias").noconvert(),
        py::arg("eps"), py::arg("out") = py::none(),
        "Normalizes each row of x to mean 0 and variance 1, multiplies it by weight, and adds bias.");
  // end copy
}
