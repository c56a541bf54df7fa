// Compiles upstream's C++ headers with this library's C headers, like a C++ client that has both.
#include <tvm/ffi/tvm_ffi.h>

#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/extra/json.h>
#include <tvm/ffi/extra/module.h>

int64_t sum(const tvm::ffi::Array<int64_t>& values) {
  int64_t total = 0;
  for (int64_t value : values) total += value;
  return total;
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(sum, sum)
