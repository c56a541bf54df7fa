/*
 * ferrite_util.h: helper functions for C programs that use TVM-FFI.
 *
 * Copy this pair of files into your project. It needs only `tvm/ffi/c_api.h` and C89.
 *
 * Ownership: arguments are borrowed for the call. A returned TVMFFIObjectHandle or `result` is
 * owned by the caller, who releases it with ferrite_release_object or ferrite_release.
 *
 * Errors: functions that return int return 0 on success; otherwise an error is raised on this
 * thread. ferrite_check prints it and exits; ferrite_print_raised only prints it.
 */
#ifndef FERRITE_UTIL_H_
#define FERRITE_UTIL_H_

#include <stdio.h>

#include <tvm/ffi/c_api.h>

#define FERRITE_MAX_NDIM 4

/* Arguments. Strings and tensors are borrowed: they must live until the call returns. */
TVMFFIAny ferrite_none(void);
TVMFFIAny ferrite_int(int64_t value);
TVMFFIAny ferrite_bool(int value);
TVMFFIAny ferrite_str(const char* text);
TVMFFIAny ferrite_object(TVMFFIObjectHandle object);

/* A view of plain C memory, with storage for its shape and strides. Do not copy or move it after
 * initialisation. */
typedef struct {
  DLTensor dl;
  int64_t shape[FERRITE_MAX_NDIM];
  int64_t strides[FERRITE_MAX_NDIM];
} FerriteTensor;

/* Describes `data`, a compact array in main memory with at most FERRITE_MAX_NDIM axes. */
void ferrite_tensor_init(FerriteTensor* tensor, const void* data, DLDataTypeCode code, int bits, int ndim,
                         const int64_t* shape);
TVMFFIAny ferrite_tensor(FerriteTensor* tensor);

/* Results. ferrite_text returns the borrowed bytes of a string or of bytes, small or not; they have
 * no terminating NUL. */
TVMFFIByteArray ferrite_text(const TVMFFIAny* value);
void ferrite_release(TVMFFIAny* value);
void ferrite_release_object(TVMFFIObjectHandle object);

/* Calls. `result` is overwritten, so release its previous value first; on failure it is None. */
int ferrite_call(TVMFFIObjectHandle function, TVMFFIAny* args, int num_args, TVMFFIAny* result);
/* Calls a global function by name. */
int ferrite_call_global(const char* name, TVMFFIAny* args, int num_args, TVMFFIAny* result);

/* Global functions and modules. `*out` is a new reference; a missing function is an error. */
int ferrite_global(const char* name, TVMFFIObjectHandle* out);
int ferrite_set_global(const char* name, TVMFFISafeCallType safe_call);
int ferrite_module_load(const char* path, TVMFFIObjectHandle* out);
int ferrite_module_function(TVMFFIObjectHandle module, const char* name, TVMFFIObjectHandle* out);

/* Takes this thread's raised error and prints `KIND: message`, with `indent` before each line after
 * the first. */
void ferrite_print_raised(FILE* out, const char* indent);
/* Does nothing if `status` is 0. Otherwise prints `what` and the raised error, and exits with
 * status 1. */
void ferrite_check(int status, const char* what);

#endif /* FERRITE_UTIL_H_ */
