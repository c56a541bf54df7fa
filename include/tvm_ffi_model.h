/*
 * tvm_ffi_model.h: load and run whole models compiled by TVM (optional feature `model`).
 *
 * Copyright the Ferrite developers. SPDX-License-Identifier: Apache-2.0
 *
 * Generated from the Rust sources; change those instead. The rules of tvm/ffi/c_api.h hold here too.
 */

#ifndef TVM_FFI_MODEL_H_
#define TVM_FFI_MODEL_H_

#include <tvm/ffi/c_api.h>

/**
 * Table entry of a kernel of a model: its name in the executable, and its code.
 */
typedef struct FerriteModelKernel {
  /**
   * Name, a null-terminated string.
   */
  const char *name;
  /**
   * The function that TVM generated, `__tvm_ffi_NAME`.
   */
  TVMFFISafeCallType call;
} FerriteModelKernel;

#ifdef __cplusplus
extern "C" {
#endif /* __cplusplus */

/**
 * Creates a model from a serialised executable and a table of kernels linked into the program.
 *
 * `executable` points to `num_bytes` bytes that must stay unchanged while the program runs. If it is aligned to 64
 * bytes, weights are used in place. Functions other than built-ins are looked up in the `num_kernels` kernels.
 *
 * Returns 0 and stores the model, owned by the caller, in `out`; `TVMFFIObjectDecRef` releases it. On failure, returns
 * -1 with an error raised: ValueError for a null pointer, InternalError for a malformed executable or a missing
 * kernel, or MemoryError, whose message states the requested number of bytes.
 *
 * The caller must ensure:
 * The kernels are functions that TVM generated for this model, with null-terminated names.
 */
TVM_FFI_DLL
int FerriteModelCreate(const void *executable,
                       size_t num_bytes,
                       const struct FerriteModelKernel *kernels,
                       int32_t num_kernels,
                       TVMFFIObjectHandle *out);

/**
 * Calls a function of a model. Arguments are given in the order of the function's parameters.
 *
 * Tensors may be passed as `DLTensor` pointers. Returns 0 and stores the result, owned by the caller, in `result`: a
 * tensor, or an array of values. On failure, returns -1 with an error raised: ValueError for an unknown function, an
 * error of the model for invalid arguments, or MemoryError, whose message states the requested number of bytes. The
 * model stays usable after an error.
 *
 * The caller must ensure:
 * Same requirements as `TVMFFIFunctionCall`.
 */
TVM_FFI_DLL
int FerriteModelCall(TVMFFIObjectHandle model,
                     const char *function,
                     const TVMFFIAny *args,
                     int32_t num_args,
                     TVMFFIAny *result);

/**
 * Loads a library written by TVM's `export_library`, and creates a model from its executable. The model runs on the
 * CPU.
 *
 * Only in host builds with the feature `relax`. Returns 0 and stores the model, owned by the caller, in `out`. On
 * failure, returns -1 with an error raised: InternalError for a file that cannot be opened, a malformed executable,
 * and a missing kernel; TypeError for a library without a whole model; MemoryError.
 *
 * The caller must ensure:
 * Loading runs the library's initialisers; its kernels must be those of the model.
 */
TVM_FFI_DLL
int FerriteModelLoad(const char *path,
                     TVMFFIObjectHandle *out);

/**
 * Returns the number of inputs of a model's function.
 *
 * Returns 0 and stores the number in `count`. On failure, returns -1 with an error raised: ValueError for an unknown
 * function.
 */
TVM_FFI_DLL
int FerriteModelNumInputs(TVMFFIObjectHandle model,
                          const char *function,
                          int32_t *count);

/**
 * Returns the name of an input of a model's function.
 *
 * Returns 0 and stores the name in `name`; it is borrowed, and valid as long as the model lives. On failure, returns
 * -1 with an error raised: ValueError for an unknown function, IndexError for an input number out of range.
 */
TVM_FFI_DLL
int FerriteModelInputName(TVMFFIObjectHandle model,
                          const char *function,
                          int32_t input,
                          TVMFFIByteArray *name);

#ifdef __cplusplus
} /* extern "C" */
#endif /* __cplusplus */

#endif  /* TVM_FFI_MODEL_H_ */
