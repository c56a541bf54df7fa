/* A complete firmware that registers a function, looks it up and calls it, to measure its size. */
#include <stdint.h>
#include <string.h>

#include <tvm/ffi/c_api.h>

extern uint32_t _data_start[], _data_end[], _data_load[], _bss_start[], _bss_end[], _stack_top[];

static int add(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self;
  if (num_args != 2) {
    TVMFFIErrorSetRaisedFromCStr("TypeError", "add takes two numbers");
    return -1;
  }
  result->type_index = kTVMFFIInt;
  result->v_int64 = args[0].v_int64 + args[1].v_int64;
  return 0;
}

volatile int64_t sum;

static int run(void) {
  const TVMFFIByteArray name = {"add", 3};
  TVMFFIObjectHandle function = NULL;
  TVMFFIAny args[2] = {{0}}, result = {0};
  if (TVMFFIFunctionCreate(NULL, add, NULL, &function) != 0) return -1;
  if (TVMFFIFunctionSetGlobal(&name, function, 0) != 0) return -1;
  TVMFFIObjectDecRef(function);
  if (TVMFFIFunctionGetGlobal(&name, &function) != 0) return -1;
  args[0].type_index = args[1].type_index = kTVMFFIInt;
  args[0].v_int64 = 40;
  args[1].v_int64 = 2;
  if (TVMFFIFunctionCall(function, args, 2, &result) != 0) return -1;
  TVMFFIObjectDecRef(function);
  sum = result.v_int64;
  return 0;
}

void reset(void) {
  memcpy(_data_start, _data_load, (size_t)((char*)_data_end - (char*)_data_start));
  memset(_bss_start, 0, (size_t)((char*)_bss_end - (char*)_bss_start));
  run();
  for (;;) {
  }
}

__attribute__((section(".vectors"), used)) static const void* const vectors[2] = {_stack_top, (const void*)reset};
