// A caller that passes a DLTensor pointer for the duration of a call, as kernels' callers do.
#include <stdlib.h>
#include <tvm/ffi/c_api.h>

// Calls the first argument with a pointer to a tensor that is freed after the call.
TVM_FFI_DLL_EXPORT int __tvm_ffi_call_with_pointer(void* self, const TVMFFIAny* args, int32_t count,
                                                   TVMFFIAny* result) {
  (void)self;
  (void)count;
  DLTensor* tensor = calloc(1, sizeof(DLTensor));
  tensor->data = calloc(4, sizeof(float));
  tensor->device.device_type = kDLCPU;
  tensor->dtype.code = kDLFloat;
  tensor->dtype.bits = 32;
  tensor->dtype.lanes = 1;
  tensor->ndim = 1;
  tensor->shape = calloc(1, sizeof(int64_t));
  tensor->shape[0] = 4;
  TVMFFIAny pointer = {.type_index = kTVMFFIDLTensorPtr, .v_ptr = tensor};
  int status = TVMFFIFunctionCall(args[0].v_ptr, &pointer, 1, result);
  free(tensor->shape);
  free(tensor->data);
  free(tensor);
  return status;
}

// Returns its argument, as a C++ function with a parameter of type Any does.
TVM_FFI_DLL_EXPORT int __tvm_ffi_as_it_is(void* self, const TVMFFIAny* args, int32_t count,
                                          TVMFFIAny* result) {
  (void)self;
  (void)count;
  int status = TVMFFIAnyViewToOwnedAny(args, result);
  // C code gets a pointer as it is.
  if (args[0].type_index == kTVMFFIDLTensorPtr &&
      (status != 0 || result->type_index != kTVMFFIDLTensorPtr || result->v_ptr != args[0].v_ptr)) {
    abort();
  }
  return status;
}
