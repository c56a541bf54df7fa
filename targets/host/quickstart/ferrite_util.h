/*
 * ferrite_util.h: the few helpers that make C programs over TVM-FFI short.
 *
 * Copy this pair of files into a project as it is. It needs nothing but `tvm/ffi/c_api.h` and C89.
 *
 * Ownership, in one rule: what a function here takes as an argument is borrowed for the call, and what it returns
 * as a TVMFFIObjectHandle or in a `result` belongs to the caller, who releases it with ferrite_release_object or
 * ferrite_release.
 *
 * Errors, in one rule: functions that return int return 0 on success; otherwise an error is raised on this thread.
 * ferrite_check prints it and exits; ferrite_print_raised only prints it.
 */
#ifndef FERRITE_UTIL_H_
#define FERRITE_UTIL_H_

#include <stdio.h>

#include <tvm/ffi/c_api.h>

#define FERRITE_MAX_NDIM 4

/* Arguments. Strings and tensors are borrowed: they have to live until the call returns. */
TVMFFIAny ferrite_none(void);
TVMFFIAny ferrite_int(int64_t value);
TVMFFIAny ferrite_bool(int value);
TVMFFIAny ferrite_str(const char* text);
TVMFFIAny ferrite_object(TVMFFIObjectHandle object);

/* A view of plain C memory, with room for its own shape and strides. Do not copy or move it once it is set up. */
typedef struct {
  DLTensor dl;
  int64_t shape[FERRITE_MAX_NDIM];
  int64_t strides[FERRITE_MAX_NDIM];
} FerriteTensor;

/* Describes `data`, compact and in this machine's memory, of at most FERRITE_MAX_NDIM axes. */
void ferrite_tensor_init(FerriteTensor* tensor, const void* data, DLDataTypeCode code, int bits, int ndim,
                         const int64_t* shape);
TVMFFIAny ferrite_tensor(FerriteTensor* tensor);

/* Results. ferrite_text lends the bytes of a string or of bytes, small or not; they are not terminated by a zero. */
TVMFFIByteArray ferrite_text(const TVMFFIAny* value);
void ferrite_release(TVMFFIAny* value);
void ferrite_release_object(TVMFFIObjectHandle object);

/* Calls. `result` is overwritten, so release what it held before; on failure it holds None. */
int ferrite_call(TVMFFIObjectHandle function, TVMFFIAny* args, int num_args, TVMFFIAny* result);
/* The same, by the name of a global function. */
int ferrite_call_global(const char* name, TVMFFIAny* args, int num_args, TVMFFIAny* result);

/* Global functions and modules. `*out` is a new reference; a function that does not exist is an error. */
int ferrite_global(const char* name, TVMFFIObjectHandle* out);
int ferrite_set_global(const char* name, TVMFFISafeCallType safe_call);
int ferrite_module_load(const char* path, TVMFFIObjectHandle* out);
int ferrite_module_function(TVMFFIObjectHandle module, const char* name, TVMFFIObjectHandle* out);

/* Takes the raised error of this thread and prints `KIND: message`, each line after the first behind `indent`. */
void ferrite_print_raised(FILE* out, const char* indent);
/* Does nothing when `status` is 0. Otherwise prints `what` and the raised error, and ends the program with status 1. */
void ferrite_check(int status, const char* what);

#endif /* FERRITE_UTIL_H_ */
