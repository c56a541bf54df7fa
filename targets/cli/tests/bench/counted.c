/* Functions that execute a known number of instructions more than each other. */
#include <tvm/ffi/c_api.h>

#define COUNTED(name, instructions)                                                                                \
  TVM_FFI_DLL_EXPORT int name(void *self, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result);             \
  TVM_FFI_DLL_EXPORT int name(void *self, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result) {            \
    (void)self, (void)args, (void)num_args, (void)result;                                                          \
    __asm__ __volatile__(instructions);                                                                            \
    return 0;                                                                                                      \
  }

COUNTED(__tvm_ffi_none, "")
COUNTED(__tvm_ffi_thousand, ".rept 1000\n nop\n .endr")

/* Returns a new object for each call. */
TVM_FFI_DLL_EXPORT int __tvm_ffi_text(void *self, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result);
TVM_FFI_DLL_EXPORT int __tvm_ffi_text(void *self, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result) {
  TVMFFIByteArray bytes;
  (void)self, (void)args, (void)num_args;
  bytes.data = "a text that is no small one";
  bytes.size = 27;
  return TVMFFIStringFromByteArray(&bytes, result);
}
