// The binding with the C++ headers of apache-tvm-ffi.
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/optional.h>

#include <cstdlib>

#include "layernorm.h"

namespace ffi = tvm::ffi;

static float* checked(const ffi::TensorView& x, const char* name, std::initializer_list<int64_t> shape) {
  if (x.dtype() != DLDataType{kDLFloat, 32, 1}) TVM_FFI_THROW(TypeError) << name << " must be float32";
  if (x.device().device_type != kDLCPU) TVM_FFI_THROW(ValueError) << name << " must be in main memory";
  if (x.ndim() != static_cast<int32_t>(shape.size())) TVM_FFI_THROW(ValueError) << name << " must have " << shape.size() << " axes";
  int axis = 0;
  for (int64_t extent : shape) {
    if (x.size(axis++) != extent) TVM_FFI_THROW(ValueError) << name << " has another shape";
  }
  if (!x.IsContiguous()) TVM_FFI_THROW(ValueError) << name << " must be contiguous";
  return static_cast<float*>(x.data_ptr()) + x.byte_offset() / sizeof(float);
}

struct HostMemory {
  void AllocData(DLTensor* tensor) { tensor->data = std::malloc(ffi::GetDataSize(*tensor)); }
  void FreeData(DLTensor* tensor) { std::free(tensor->data); }
};

// As the bindings of this library: by the framework of the arguments, if it brings an allocator.
static ffi::Tensor allocated(const ffi::TensorView& x) {
  if (TVMFFIEnvGetDLPackManagedTensorAllocator() == nullptr) return ffi::Tensor::FromNDAlloc(HostMemory(), x.shape(), x.dtype(), x.device());
  return ffi::Tensor::FromEnvAlloc(TVMFFIEnvTensorAlloc, x.shape(), x.dtype(), x.device());
}

// begin copy
static ffi::Optional<ffi::Tensor> bind_layernorm2d(ffi::TensorView x, ffi::TensorView weight, ffi::TensorView bias, double eps,
                                                   ffi::Optional<ffi::TensorView> out) {
  if (x.ndim() != 2) TVM_FFI_THROW(ValueError) << "x must have 2 axes";
  const int64_t rows = x.size(0), cols = x.size(1);
  const float* data = checked(x, "x", {rows, cols});
  const float* factors = checked(weight, "weight", {cols});
  const float* terms = checked(bias, "bias", {cols});
  if (out.has_value()) {
    layernorm(data, factors, terms, rows, cols, static_cast<float>(eps) + COPY, checked(out.value(), "out", {rows, cols}));
    return std::nullopt;
  }
  ffi::Tensor made = allocated(x);
  layernorm(data, factors, terms, rows, cols, static_cast<float>(eps) + COPY, static_cast<float*>(made.data_ptr()));
  return made;
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(layernorm2d, bind_layernorm2d);
// end copy
