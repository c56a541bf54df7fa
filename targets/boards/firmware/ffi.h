/*
 * ffi.h: helper functions for firmware that uses TVM-FFI.
 *
 * Functions that return int return 0 on success; otherwise an error is raised, which print_raised
 * or raised_is takes. Returned handles are owned by the caller, who releases them with
 * TVMFFIObjectDecRef.
 */
#ifndef FFI_H_
#define FFI_H_

#include <stddef.h>
#include <stdint.h>

#include <tvm/ffi/c_api.h>

/* Declaration of functions in TVM's C source: int32_t is not int in every C. */
typedef int32_t (*CompiledFunction)(void* self, void* args, int32_t num_args, void* result);

TVMFFIByteArray bytes_of(const char* text);
TVMFFIAny any_none(void);
TVMFFIAny any_int(int64_t value);
TVMFFIAny any_bool(int truth);
TVMFFIAny any_str(const char* text);
TVMFFIAny any_object(TVMFFIObjectHandle object);
TVMFFIAny any_tensor(DLTensor* tensor);

/* Looks up a global function; a missing one is an error. */
int get_global(const char* name, TVMFFIObjectHandle* out);
/* Registers a C function as the global function of this name. */
int set_global(const char* name, TVMFFISafeCallType function);
int set_global_compiled(const char* name, CompiledFunction function);
/* Raises the error for a missing function; returns -1. */
int raise_missing(const char* name);

/* Takes the raised error and prints "KIND: message". */
void print_raised(void);
/* Like print_raised; returns true if the error has this kind, and its message contains these
 * words. */
int raised_is(const char* kind, const char* words);

#endif /* FFI_H_ */
