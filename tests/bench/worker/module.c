/* The module to load, with one function. */
#include <tvm/ffi/c_api.h>
__attribute__((visibility("default"))) int ferrite_bench_module = 1;
__attribute__((visibility("default"))) int __tvm_ffi_add_one(void* self, const TVMFFIAny* args, int32_t n,
                                                             TVMFFIAny* ret) {
  if (n != 1) return -1;
  ret->type_index = kTVMFFIInt;
  ret->zero_padding = 0;
  ret->v_int64 = args[0].v_int64 + 1;
  return 0;
}
