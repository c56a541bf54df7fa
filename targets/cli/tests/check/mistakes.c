/*
 * mistakes.c: a library with one mistake against the ABI, which a define names; without one,
 * NO_MISTAKE.
 *
 * The function `work` takes a String and an int, and returns an int.
 */
#include <stddef.h>
#include <string.h>

#include <tvm/ffi/c_api.h>

#define SCHEMA(result, first, second)                                                                              \
  "{\"type_schema\":\"{\\\"type\\\":\\\"ffi.Function\\\",\\\"args\\\":[{\\\"type\\\":\\\"" result "\\\"},{\\\"type\\\":\\\"" first \
  "\\\"},{\\\"type\\\":\\\"" second "\\\"}]}\"}"

#ifndef DATA_FOR_FUNCTION
static int answer(const char* text, TVMFFIAny* result) {
  TVMFFIByteArray bytes;
  bytes.data = text;
  bytes.size = strlen(text);
  return TVMFFIStringFromByteArray(&bytes, result);
}

static int refuse(void) {
  TVMFFIErrorSetRaisedFromCStr("TypeError", "expected a String and an int");
  return -1;
}
#endif

/* ---- mistakes of symbols ---- */

#if defined(FUNCTION_FOR_CONTEXT)
TVM_FFI_DLL_EXPORT void __tvm_ffi__library_ctx(void) {}
#elif defined(READ_ONLY_CONTEXT)
TVM_FFI_DLL_EXPORT void* const __tvm_ffi__library_ctx = NULL;
#elif !defined(MISSING_CONTEXT)
TVM_FFI_DLL_EXPORT void* __tvm_ffi__library_ctx = NULL;
#else
TVM_FFI_DLL_EXPORT int (*__TVMFFIEnvModLookupFromImports)(void*, const char*, TVMFFIObjectHandle*) = NULL;
#endif

#ifdef MALFORMED_MODULES
/* Its length is that of one word, and none follows. */
TVM_FFI_DLL_EXPORT const unsigned char __tvm_ffi__library_bin[9] = {8, 0, 0, 0, 0, 0, 0, 0, 0};
#endif

#ifdef ORPHAN_DOC
TVM_FFI_DLL_EXPORT int __tvm_ffi__doc_play(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self, (void)args, (void)num_args;
  return answer("Plays.", result);
}
#endif

/* ---- the function ---- */

#ifdef DATA_FOR_FUNCTION
TVM_FFI_DLL_EXPORT int __tvm_ffi_work = 5;
#else
TVM_FFI_DLL_EXPORT int __tvm_ffi__metadata_work(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self, (void)args, (void)num_args;
#ifdef MALFORMED_METADATA
  return answer("{\"type_schema\":", result);
#else
  return answer(SCHEMA("int", "str", "int"), result);
#endif
}

TVM_FFI_DLL_EXPORT int __tvm_ffi_work(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self;
#ifdef CRASH
  if (args[0].type_index == kTVMFFINone) return refuse();
#endif
#ifdef SILENT_FAILURE
  if (num_args != 2) return -1;
#endif
#ifdef RESULT_AFTER_FAILURE
  if (num_args != 2) {
    result->type_index = kTVMFFIInt;
    result->v_int64 = 1;
    return refuse();
  }
#endif
  if (num_args != 2 || args[0].type_index != kTVMFFIStr || args[1].type_index != kTVMFFIInt) return refuse();
#ifdef ERROR_AFTER_SUCCESS
  refuse();
#endif
#ifdef UNKNOWN_STATUS
  refuse();
  return 1;
#endif
#ifdef RETAINED_ARGUMENT
  TVMFFIObjectIncRef(args[0].v_obj);
#endif
#ifdef RELEASED_ARGUMENT
  TVMFFIObjectDecRef(args[0].v_obj);
#endif
#ifdef CHANGED_ARGUMENT
  ((TVMFFIAny*)args)[1].v_int64 += 1;
#endif
#ifdef LEAK
  {
    TVMFFIAny forgotten;
    if (answer("longer than a small string", &forgotten) != 0) return -1;
  }
#endif
  result->type_index = kTVMFFIInt;
  result->zero_padding = 0;
#ifdef RESULT_PADDING
  result->zero_padding = 7;
#endif
  result->v_int64 = args[1].v_int64;
  return 0;
}
#endif
