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
 * A kernel of a model: its name in the executable, and its code.
 */
typedef struct FerriteModelKernel {
  /**
   * The name, which ends with a zero.
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
 * Makes a model from a serialised executable and kernels that are linked into the program.
 *
 * `executable` points to `num_bytes` bytes that are unchanged while the program runs; if aligned to 64 bytes, weights
 * are used in place. Functions other than builtins are looked up among the `num_kernels` kernels.
 *
 * Returns 0 and the model, which the caller owns and releases with `TVMFFIObjectDecRef`, in `out`; or -1 with an error
 * raised: InternalError for a malformed executable or a missing kernel, MemoryError with the number of bytes.
 *
 * The caller must ensure:
 * The kernels are functions that TVM generated for this model, with zero-terminated names.
 */
TVM_FFI_DLL
int FerriteModelCreate(const void *executable,
                       size_t num_bytes,
                       const struct FerriteModelKernel *kernels,
                       int32_t num_kernels,
                       TVMFFIObjectHandle *out);

/**
 * Calls a function of a model with arguments in the order of its parameters.
 *
 * Tensors may be `DLTensor` pointers. Returns 0 and the value, which the caller owns, in `result`: a tensor, or an
 * array of values; or -1 with an error raised: ValueError for an unknown function, the model's own for invalid
 * arguments, MemoryError with the number of bytes. The model stays usable after every error.
 *
 * The caller must ensure:
 * As `TVMFFIFunctionCall`.
 */
TVM_FFI_DLL
int FerriteModelCall(TVMFFIObjectHandle model,
                     const char *function,
                     const TVMFFIAny *args,
                     int32_t num_args,
                     TVMFFIAny *result);

/**
 * Loads a library that TVM's `export_library` wrote, and makes a model of its executable, on the CPU.
 *
 * Only in builds with the feature `relax` for hosts. Returns 0 and the model, which the caller owns, in `out`; or -1 with an error
 * raised: InternalError for a file that cannot be opened, a malformed executable, and a missing kernel; TypeError for a library without
 * a whole model; MemoryError.
 *
 * The caller must ensure:
 * Loading runs the library's initialisers; its kernels must be those of the model.
 */
TVM_FFI_DLL
int FerriteModelLoad(const char *path,
                     TVMFFIObjectHandle *out);

/**
 * Tells the number of inputs of a function.
 *
 * Returns 0 and the number in `count`; or -1 with an error raised: ValueError for an unknown function.
 */
TVM_FFI_DLL
int FerriteModelNumInputs(TVMFFIObjectHandle model,
                          const char *function,
                          int32_t *count);

/**
 * Tells the name of an input of a function.
 *
 * Returns 0 and the name in `name`, which lives as long as the model; or -1 with an error raised: ValueError for an unknown function,
 * IndexError for a number out of range.
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
