// A library as users build one with upstream's headers; modules.cc loads it.
#define TVM_FFI_DLL_EXPORT_INCLUDE_METADATA 1
#include <tvm/ffi/error.h>
#include <tvm/ffi/function.h>

namespace {

int Add(int a, int b) { return a + b; }

void Fail(int code) { TVM_FFI_THROW(ValueError) << "failed with " << code; }

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(add, Add);
TVM_FFI_DLL_EXPORT_TYPED_FUNC_DOC(add, "Adds two numbers.");
TVM_FFI_DLL_EXPORT_TYPED_FUNC(fail, Fail);
