/* profile_modules.c: like profile_core.c, with modules, which global functions open. */
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm_ffi_platform.h>

#include "ffi.h"
#include "print.h"
#include "profile.h"

void profile_print_pool(void) { print_measure("pool", FerriteMemoryHighWater()); }

static int call_global(const char* name, TVMFFIAny* args, int num_args, TVMFFIAny* result) {
  TVMFFIObjectHandle function;
  int status;
  *result = any_none();
  if (get_global(name, &function) != 0) return -1;
  status = TVMFFIFunctionCall(function, args, num_args, result);
  TVMFFIObjectDecRef(function);
  return status;
}

/* Opens the system library, which stores its module in the variable. */
int profile_open_library(void** library_ctx) {
  TVMFFIAny none = any_none(), module;
  if (library_ctx != NULL && TVMFFIEnvModRegisterSystemLibSymbol("__tvm_ffi__library_ctx", library_ctx) != 0) return -1;
  if (call_global("ffi.SystemLib", &none, 0, &module) != 0) return -1;
  return TVMFFIObjectDecRef(module.v_obj);
}

int profile_system_library_function(const char* name, TVMFFIObjectHandle* out) {
  TVMFFIAny args[3];
  TVMFFIAny module, function;
  int status;
  if (call_global("ffi.SystemLib", args, 0, &module) != 0) return -1;
  args[0] = module;
  args[1] = any_str(name);
  args[2] = any_bool(0); /* without the module's imports */
  status = call_global("ffi.ModuleGetFunction", args, 3, &function);
  TVMFFIObjectDecRef(module.v_obj);
  if (status != 0) return -1;
  if (function.type_index != kTVMFFIFunction) return raise_missing(name);
  *out = function.v_obj;
  return 0;
}
