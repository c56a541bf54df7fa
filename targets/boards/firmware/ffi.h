/*
 * ffi.h: the few helpers that make firmware over TVM-FFI short.
 *
 * A function that returns int answers 0 on success; otherwise an error is raised, and print_raised or raised_is takes it.
 * Handles that are handed out belong to the caller, who gives them back with TVMFFIObjectDecRef.
 */
#ifndef FFI_H_
#define FFI_H_

#include <stddef.h>
#include <stdint.h>

#include <tvm/ffi/c_api.h>

/* How the functions in TVM's C source are declared: int32_t is not int in every C. */
typedef int32_t (*CompiledFunction)(void* self, void* args, int32_t num_args, void* result);

TVMFFIByteArray bytes_of(const char* text);
TVMFFIAny any_none(void);
TVMFFIAny any_int(int64_t value);
TVMFFIAny any_bool(int truth);
TVMFFIAny any_str(const char* text);
TVMFFIAny any_object(TVMFFIObjectHandle object);
TVMFFIAny any_tensor(DLTensor* tensor);

/* The global function of this name; one that does not exist is an error. */
int get_global(const char* name, TVMFFIObjectHandle* out);
/* Makes a C function the global function of this name. */
int set_global(const char* name, TVMFFISafeCallType function);
int set_global_compiled(const char* name, CompiledFunction function);
/* Raises the error of a function that does not exist; -1. */
int raise_missing(const char* name);

/* Prints "KIND: message" of the raised error and takes it. */
void print_raised(void);
/* As print_raised; true when an error of this kind was raised whose message has these words. */
int raised_is(const char* kind, const char* words);

#endif /* FFI_H_ */
