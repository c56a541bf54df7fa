/* Calls of global functions, for the programs of this folder. Each prints what the last call
 * gave. */
#include <stdio.h>
#include <string.h>
#include <tvm/ffi/c_api.h>
#include <tvm/ffi/extra/c_env_api.h>

static TVMFFIAny value(int type_index, int64_t content) {
  TVMFFIAny any;
  memset(&any, 0, sizeof any);
  any.type_index = type_index;
  any.v_int64 = content;
  return any;
}

/* Prints the status of a call, and the kind of the error that it raised. */
__attribute__((unused)) static int report(int status) {
  TVMFFIObjectHandle error = NULL;
  TVMFFIErrorMoveFromRaised(&error);
  if (error == NULL) return printf("status %d\n", status), 0;
  TVMFFIErrorCell *cell = (TVMFFIErrorCell *)((TVMFFIObject *)error + 1);
  printf("status %d, %.*s\n", status, (int)cell->kind.size, cell->kind.data);
  return 0;
}

/* Calls a global function; `status` has the status of the last call. */
static int status;
__attribute__((unused)) static TVMFFIAny call(const char *name, int num_args, TVMFFIAny a, TVMFFIAny b) {
  TVMFFIByteArray bytes = {name, strlen(name)};
  TVMFFIAny args[2] = {a, b}, result = value(kTVMFFINone, 0);
  TVMFFIObjectHandle function = NULL;
  TVMFFIFunctionGetGlobal(&bytes, &function);
  status = TVMFFIFunctionCall(function, num_args ? args : NULL, num_args, &result);
  return result;
}
#define NONE value(kTVMFFINone, 0)
