/*
 * The library that the module tests load: functions, their documentation, a context pointer and
 * slots. Built twice: as it is, and with WITH_LIBRARY_BIN, where the embedded modules begin with a
 * marker, which the tests find in the file and overwrite with their variants.
 */
#include <math.h>
#include <string.h>

#include <tvm/ffi/c_api.h>
#include <tvm/ffi/extra/c_env_api.h>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED void* __tvm_ffi__library_ctx = NULL;
EXPORTED void* __test_context_symbol = NULL;

#ifdef WITH_LIBRARY_BIN
EXPORTED const char __tvm_ffi__library_bin[4096] = "EMBEDDED MODULES OF THE TEST LIBRARY";
#endif

static int set_int(TVMFFIAny* result, int64_t value) {
  memset(result, 0, sizeof(*result));
  result->type_index = kTVMFFIInt;
  result->v_int64 = value;
  return 0;
}

static int set_pointer(TVMFFIAny* result, void* value) {
  memset(result, 0, sizeof(*result));
  result->type_index = kTVMFFIOpaquePtr;
  result->v_ptr = value;
  return 0;
}

static int set_text(TVMFFIAny* result, const char* text) {
  TVMFFIByteArray bytes;
  bytes.data = text;
  bytes.size = strlen(text);
  return TVMFFIStringFromByteArray(&bytes, result);
}

/* Like a compiled model, this library does not name libm among those that it needs. */
int __tvm_ffi_exponential(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result);
EXPORTED int __tvm_ffi_exponential(void* self, const TVMFFIAny* args, int32_t num_args,
                                   TVMFFIAny* result) {
  (void)self;
  (void)num_args;
  memset(result, 0, sizeof(*result));
  result->type_index = kTVMFFIFloat;
  result->v_float64 = exp(args[0].v_float64);
  return 0;
}

int __tvm_ffi_add_one(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result);
EXPORTED int __tvm_ffi_add_one(void* self, const TVMFFIAny* args, int32_t num_args,
                               TVMFFIAny* result) {
  if (self != NULL || num_args != 1 || args[0].type_index != kTVMFFIInt) {
    TVMFFIErrorSetRaisedFromCStr("TypeError", "add_one takes an integer");
    return -1;
  }
  return set_int(result, args[0].v_int64 + 1);
}

int __tvm_ffi__metadata_add_one(void* self, const TVMFFIAny* args, int32_t num_args,
                                TVMFFIAny* result);
EXPORTED int __tvm_ffi__metadata_add_one(void* self, const TVMFFIAny* args, int32_t num_args,
                                         TVMFFIAny* result) {
  (void)self;
  (void)args;
  (void)num_args;
  return set_text(result, "{\"type_schema\": \"int -> int\"}");
}

int __tvm_ffi__doc_add_one(void* self, const TVMFFIAny* args, int32_t num_args,
                           TVMFFIAny* result);
EXPORTED int __tvm_ffi__doc_add_one(void* self, const TVMFFIAny* args, int32_t num_args,
                                    TVMFFIAny* result) {
  (void)self;
  (void)args;
  (void)num_args;
  return set_text(result, "Adds one to an integer.");
}

/* Documentation that is not a string. */
int __tvm_ffi__doc_context(void* self, const TVMFFIAny* args, int32_t num_args,
                           TVMFFIAny* result);
EXPORTED int __tvm_ffi__doc_context(void* self, const TVMFFIAny* args, int32_t num_args,
                                    TVMFFIAny* result) {
  (void)self;
  (void)args;
  (void)num_args;
  return set_int(result, 5);
}

int __tvm_ffi_context(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result);
EXPORTED int __tvm_ffi_context(void* self, const TVMFFIAny* args, int32_t num_args,
                               TVMFFIAny* result) {
  (void)self;
  (void)args;
  (void)num_args;
  return set_pointer(result, __tvm_ffi__library_ctx);
}

int __tvm_ffi_context_symbol(void* self, const TVMFFIAny* args, int32_t num_args,
                             TVMFFIAny* result);
EXPORTED int __tvm_ffi_context_symbol(void* self, const TVMFFIAny* args, int32_t num_args,
                                      TVMFFIAny* result) {
  (void)self;
  (void)args;
  (void)num_args;
  return set_pointer(result, __test_context_symbol);
}

/* Calls the imported function of this name (a raw string), as generated code does. */
int __tvm_ffi_call_import(void* self, const TVMFFIAny* args, int32_t num_args,
                          TVMFFIAny* result);
EXPORTED int __tvm_ffi_call_import(void* self, const TVMFFIAny* args, int32_t num_args,
                                   TVMFFIAny* result) {
  TVMFFIObjectHandle function = NULL;
  TVMFFIAny copy[2];
  int32_t i;
  (void)self;
  if (num_args < 1 || num_args > 3 || args[0].type_index != kTVMFFIRawStr) {
    TVMFFIErrorSetRaisedFromCStr("TypeError", "call_import takes a name and arguments");
    return -1;
  }
  for (i = 1; i < num_args; i++) {
    copy[i - 1] = args[i];
  }
  if (TVMFFIEnvModLookupFromImports(__tvm_ffi__library_ctx, args[0].v_c_str, &function) != 0) {
    return -1;
  }
  return TVMFFIFunctionCall(function, copy, num_args - 1, result);
}
