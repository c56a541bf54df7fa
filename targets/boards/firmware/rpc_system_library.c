/* rpc_system_library.c: see rpc_system_library.h. There is one module, whose functions are symbols
 * `__tvm_ffi_NAME`. */
#include "rpc_system_library.h"

#include <string.h>
#include <tvm/ffi/extra/c_env_api.h>

#include "ffi.h"

enum { MOST_SYMBOLS = 24, PREFIX = 10 /* bytes of __tvm_ffi_ */ };

static struct {
  const char* name;
  void* symbol;
} symbols[MOST_SYMBOLS];
static int num_symbols, is_full;

/* Called by the objects before main. */
int TVMFFIEnvModRegisterSystemLibSymbol(const char* name, void* symbol) {
  is_full |= num_symbols == MOST_SYMBOLS;
  if (is_full) return -1;
  symbols[num_symbols].name = name;
  symbols[num_symbols++].symbol = symbol;
  return 0;
}

/* Functions that compiled code calls by name are global. */
int TVMFFIEnvModLookupFromImports(TVMFFIObjectHandle library_ctx, const char* func_name, TVMFFIObjectHandle* out) {
  (void)library_ctx;
  return get_global(func_name, out);
}

/* One strong and one weak reference, which the program keeps. */
static TVMFFIObject module = {(UINT64_C(1) << 32) + 1, kTVMFFIModule, 0, {NULL}};

/* ffi.SystemLib: takes a prefix of names, which must be that of the objects, or nothing. */
static int get_module(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self;
  (void)args;
  (void)num_args;
  TVMFFIObjectIncRef(&module);
  *result = any_object(&module);
  return 0;
}

/* tvm.rpc.server.ModuleGetFunction: the function of this name; None if there is none. */
static int get_function(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  int at;
  (void)self;
  if (num_args != 3 || args[0].type_index != kTVMFFIModule || args[1].type_index != kTVMFFIRawStr) {
    TVMFFIErrorSetRaisedFromCStr("TypeError", "tvm.rpc.server.ModuleGetFunction takes a module, a name and a bool");
    return -1;
  }
  for (at = 0; at < num_symbols; ++at) {
    if (strncmp(symbols[at].name, "__tvm_ffi_", PREFIX) != 0 || strcmp(symbols[at].name + PREFIX, args[1].v_c_str) != 0) continue;
    if (TVMFFIFunctionCreate(NULL, (TVMFFISafeCallType)symbols[at].symbol, NULL, (TVMFFIObjectHandle*)&result->v_obj) != 0) return -1;
    result->type_index = kTVMFFIFunction;
    return 0;
  }
  return 0;
}

int system_library_register(void) {
  if (is_full) {
    TVMFFIErrorSetRaisedFromCStr("RuntimeError", "the system library has too many symbols");
    return -1;
  }
  return set_global("ffi.SystemLib", get_module) != 0 || set_global("tvm.rpc.server.ModuleGetFunction", get_function) != 0 ? -1 : 0;
}
