/*
 * usage: cost ffi|legacy ARGUMENTS CALLS
 *
 * Calls a function with ARGUMENTS ints, by today's API or by that of TVM 0.5 to 0.20. Run under an
 * instruction counter: the cost of a call is the difference between two numbers of calls.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tvm/ffi/c_api.h>
#include <tvm/runtime/c_runtime_api.h>

static int nothing(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self;
  (void)args;
  (void)num_args;
  result->type_index = kTVMFFIInt;
  result->v_int64 = 1;
  return 0;
}

int main(int argc, char** argv) {
  TVMFFIObjectHandle function = NULL;
  TVMFFIAny args[16];
  TVMValue values[16];
  int codes[16];
  int count;
  long calls;
  long i;
  if (argc != 4 || TVMFFIFunctionCreate(NULL, nothing, NULL, &function) != 0) return 2;
  count = atoi(argv[2]);
  calls = atol(argv[3]);
  memset(args, 0, sizeof(args));
  memset(values, 0, sizeof(values));
  for (i = 0; i < 16; i++) {
    args[i].type_index = kTVMFFIInt;
    codes[i] = 0;
  }
  if (strcmp(argv[1], "ffi") == 0) {
    TVMFFIAny result;
    memset(&result, 0, sizeof(result));
    for (i = 0; i < calls; i++) {
      if (TVMFFIFunctionCall(function, args, count, &result) != 0) return 1;
    }
  } else {
    TVMValue result;
    int code;
    for (i = 0; i < calls; i++) {
      if (TVMFuncCall(function, values, codes, count, &result, &code) != 0) return 1;
    }
  }
  return TVMFFIObjectDecRef(function);
}
