// A library that makes functions of its own, with their body and their deleter in its code.
#include <stdint.h>
#include <tvm/ffi/c_api.h>

static int64_t alive = 0;

static int body(void* self, const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  (void)args;
  (void)count;
  result->type_index = kTVMFFIInt;
  result->zero_padding = 0;
  result->v_int64 = (intptr_t)self + alive;
  return 0;
}

static void deleter(void* self) {
  (void)self;
  --alive;
}

__attribute__((visibility("default"))) int __tvm_ffi_make(void* self, const TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  (void)self;
  (void)args;
  (void)count;
  TVMFFIObjectHandle function;
  if (TVMFFIFunctionCreate((void*)(intptr_t)40, body, deleter, &function) != 0) return -1;
  ++alive;
  result->type_index = kTVMFFIFunction;
  result->zero_padding = 0;
  result->v_obj = (TVMFFIObject*)function;
  return 0;
}
