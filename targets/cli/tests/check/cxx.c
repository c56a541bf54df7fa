/*
 * The symbols of a library in C++: it calls `int64_t tvm::ffi::RecursiveHash(const Any&)`.
 * References are passed as pointers, so C serves as well as C++, and needs no header of upstream.
 */
#include <ferrite/kernel.h>

extern int64_t _ZN3tvm3ffi13RecursiveHashERKNS0_3AnyE(const TVMFFIAny *value);

TVM_FFI_DLL_EXPORT int __tvm_ffi_hash(void *self, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result) {
  (void)self;
  if (num_args != 1) return ferrite_fail("TypeError", "hash: expected one argument");
  result->type_index = kTVMFFIInt;
  result->v_int64 = _ZN3tvm3ffi13RecursiveHashERKNS0_3AnyE(&args[0]);
  return 0;
}
