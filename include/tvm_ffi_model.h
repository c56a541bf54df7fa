/*
 * tvm_ffi_model.h: load and run whole models compiled by TVM (optional feature `model`).
 *
 * Copyright the Ferrite developers. SPDX-License-Identifier: Apache-2.0
 *
 * Generated from the Rust sources; change those instead. The rules of tvm/ffi/c_api.h hold here
 * too.
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
 * `executable` points to `num_bytes` bytes and `kernels` to a table of `num_kernels` entries; both
 * must stay unchanged while the program runs. If the executable is aligned to 64 bytes, weights
 * are used in place. Functions other than built-ins are looked up in the table.
 *
 * Returns 0 and stores the model, owned by the caller, in `out`; `TVMFFIObjectDecRef` releases it.
 * On failure, returns -1 with an error raised: ValueError for a null pointer, InternalError for a
 * malformed executable or a missing kernel, or MemoryError, whose message states the requested
 * number of bytes.
 *
 * One thread at a time may use a model, here and in all functions below; a call from another
 * thread meanwhile raises RuntimeError. `FerriteModelDuplicate` makes a model for another thread.
 *
 * The caller must ensure:
 * The kernels must be functions that TVM generated for this model, with null-terminated names.
 */
TVM_FFI_DLL
int FerriteModelCreate(const void *executable,
                       size_t num_bytes,
                       const struct FerriteModelKernel *kernels,
                       int32_t num_kernels,
                       TVMFFIObjectHandle *out);

/**
 * Loads a library written by TVM's `export_library`, and creates a model from its executable. The
 * model runs on the CPU. A path without a folder refers to the current folder.
 *
 * Only in host builds with the feature `relax`. Returns 0 and stores the model, owned by the
 * caller, in `out`. On failure, returns -1 with an error raised: InternalError for a file that
 * cannot be opened, a malformed executable, and a missing kernel; TypeError for a library without
 * a whole model; MemoryError.
 *
 * The caller must ensure:
 * Loading runs the library's initialisers; its kernels must be those of the model. The library is
 * closed with the last reference to the model: objects created by its code must be released
 * before.
 */
TVM_FFI_DLL int FerriteModelLoad(const char *path, TVMFFIObjectHandle *out);

/**
 * Creates a model from a serialised executable in memory, and a module with its kernels. The model
 * runs on the CPU.
 *
 * Only in builds with the feature `relax`. The `num_bytes` bytes of `executable` are copied.
 * `kernels` is a module, such as the one that `ffi.ModuleLoadFromFile` returns for a library of
 * kernels, or null; functions that it and its imports lack are looked up among the global
 * functions. The model keeps the module.
 *
 * Returns 0 and stores the model, owned by the caller, in `out`. On failure, returns -1 with an
 * error raised: ValueError for a null pointer, InternalError for a malformed executable or a
 * missing kernel, TypeError for an object that is not a module, MemoryError.
 *
 * The caller must ensure:
 * The kernels must be those of the model.
 */
TVM_FFI_DLL
int FerriteModelLoadFromMemory(const void *executable,
                               size_t num_bytes,
                               TVMFFIObjectHandle kernels,
                               TVMFFIObjectHandle *out);

/**
 * Creates a model that shares the executable, the weights and the kernels of another, with a
 * separate machine, for use by another thread. May be called while another thread uses `model`.
 *
 * Returns 0 and stores the new model, owned by the caller, in `out`. It lives independently of
 * `model`. On failure, returns -1 with an error raised: ValueError for a null pointer, TypeError
 * for an object that is not a model, MemoryError.
 */
TVM_FFI_DLL int FerriteModelDuplicate(TVMFFIObjectHandle model, TVMFFIObjectHandle *out);

/**
 * Calls a function of a model. Arguments are given in the order of the function's parameters.
 *
 * Tensors may be passed as `DLTensor` pointers. Returns 0 and stores the result, owned by the
 * caller, in `result`: a tensor, or an array of values. On failure, returns -1 with an error
 * raised: ValueError for an unknown function, an error of the model for invalid arguments, or
 * MemoryError, whose message states the requested number of bytes. The model stays usable after an
 * error.
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
 * Calls a function of a model. Inputs are given by name, in any order.
 *
 * `names` and `values` have `num_values` entries each; a name is a null-terminated string.
 * `parameters` is a map from names to tensors, such as `FerriteModelLoadParameters` returns, or
 * null: it gives the inputs of its names that are not among `names`. All are borrowed until the
 * function returns.
 *
 * Returns 0 and stores the result, owned by the caller, in `result`: a tensor, or an array of
 * values. On failure, returns -1 with an error raised: ValueError for an unknown function, an
 * unknown name and a missing input, TypeError for another map, an error of the model for invalid
 * values, MemoryError. The model stays usable after an error.
 *
 * The caller must ensure:
 * Same requirements as `TVMFFIFunctionCall`.
 */
TVM_FFI_DLL
int FerriteModelCallNamed(TVMFFIObjectHandle model,
                          const char *function,
                          const char *const *names,
                          const TVMFFIAny *values,
                          int32_t num_values,
                          TVMFFIObjectHandle parameters,
                          TVMFFIAny *result);

/**
 * Creates a model from a system library: objects that TVM compiled with `system_lib` and that are
 * linked into the program. The model runs on the CPU.
 *
 * `prefix` is the `system_lib_prefix` of the library, an empty string by default. In builds
 * without the feature `relax`, weights that are not aligned in the library are copied, and the
 * program lists the built-ins that its models call.
 *
 * Returns 0 and stores the model, owned by the caller, in `out`; `TVMFFIObjectDecRef` releases it.
 * On failure, returns -1 with an error raised: ValueError for a null pointer, InternalError or
 * TypeError if no library with a model is registered under the prefix, InternalError for a
 * malformed executable or a missing kernel, MemoryError.
 */
TVM_FFI_DLL int FerriteModelCreateFromSystemLibrary(const char *prefix, TVMFFIObjectHandle *out);

/**
 * Returns the number of functions that a model defines. Some may be auxiliary functions of the
 * compiler.
 *
 * Returns 0 and stores the number in `count`. On failure, returns -1 with an error raised:
 * ValueError for a null pointer, TypeError for an object that is not a model.
 */
TVM_FFI_DLL int FerriteModelNumFunctions(TVMFFIObjectHandle model, int32_t *count);

/**
 * Returns the name of a function of a model.
 *
 * Returns 0 and stores the name in `name`; it is borrowed, not null-terminated, and valid as long
 * as the model lives. On failure, returns -1 with an error raised: IndexError for a number out of
 * range.
 */
TVM_FFI_DLL
int FerriteModelFunctionName(TVMFFIObjectHandle model,
                             int32_t function,
                             TVMFFIByteArray *name);

/**
 * Returns the number of inputs of a model's function.
 *
 * Returns 0 and stores the number in `count`. On failure, returns -1 with an error raised:
 * ValueError for an unknown function.
 */
TVM_FFI_DLL
int FerriteModelNumInputs(TVMFFIObjectHandle model,
                          const char *function,
                          int32_t *count);

/**
 * Returns the name of an input of a model's function.
 *
 * Returns 0 and stores the name in `name`; it is borrowed, not null-terminated, and valid as long
 * as the model lives. On failure, returns -1 with an error raised: ValueError for an unknown
 * function, IndexError for an input number out of range.
 */
TVM_FFI_DLL
int FerriteModelInputName(TVMFFIObjectHandle model,
                          const char *function,
                          int32_t input,
                          TVMFFIByteArray *name);

/**
 * Returns the declared element type and shape of an input of a model's function. Inputs that are
 * tuples, and those of native functions (exec_mode `compiled`), declare none.
 *
 * Returns 0 and stores the element type in `dtype`, with 0 bits if it is not known; the number of
 * dimensions in `ndim`, -1 if it is not known; and in `shape` the extents, at most `capacity` of
 * them, with -1 for each that may vary. `shape` may be null if `capacity` is 0. On failure,
 * returns -1 with an error raised: ValueError for an unknown function, IndexError for an input
 * number out of range.
 *
 * The caller must ensure:
 * `shape` must have room for `capacity` extents.
 */
TVM_FFI_DLL
int FerriteModelInputType(TVMFFIObjectHandle model,
                          const char *function,
                          int32_t input,
                          DLDataType *dtype,
                          int32_t *ndim,
                          int64_t *shape,
                          int32_t capacity);

/**
 * Returns the number of results of a model's function. Results have no names.
 *
 * Returns 0 and stores the number in `count`: 1 for a function that returns a tensor, the length
 * of the array for a function that returns an array, -1 if it is not known before a call, as in
 * functions that are native code. On failure, returns -1 with an error raised: ValueError for an
 * unknown function.
 */
TVM_FFI_DLL
int FerriteModelNumOutputs(TVMFFIObjectHandle model,
                           const char *function,
                           int32_t *count);

/**
 * Loads a file of weights that TVM's `save_param_dict` wrote.
 *
 * Only in host builds with the feature `relax`. Returns 0 and stores a map from names to tensors,
 * owned by the caller, in `out`; `TVMFFIObjectDecRef` releases it. It may be used by several
 * threads. On failure, returns -1 with an error raised: ValueError for a null pointer,
 * InternalError for a file that cannot be read or is malformed, MemoryError.
 */
TVM_FFI_DLL int FerriteModelLoadParameters(const char *path, TVMFFIObjectHandle *out);

/**
 * Reads weights from memory, in the format that TVM's `save_param_dict` returns. The `num_bytes`
 * bytes are copied.
 *
 * Returns 0 and stores a map from names to tensors, owned by the caller, in `out`;
 * `TVMFFIObjectDecRef` releases it. It may be used by several threads. On failure, returns -1 with
 * an error raised: ValueError for a null pointer, InternalError for malformed bytes, MemoryError.
 */
TVM_FFI_DLL
int FerriteModelReadParameters(const void *bytes,
                               size_t num_bytes,
                               TVMFFIObjectHandle *out);

/**
 * Returns the bytes of main memory that the tensors of models occupy while they run, and the most
 * that they ever occupied. Weights, inputs and the objects themselves are not counted. All models
 * of the process share the counters of their kind of allocator.
 *
 * Only in host builds with the feature `relax`. Returns 0 and stores the bytes in `used` and
 * `peak`. On failure, returns -1 with an error raised: ValueError for a null pointer, TypeError
 * for an object that is not a model, RuntimeError while another thread uses the model.
 */
TVM_FFI_DLL int FerriteModelMemory(TVMFFIObjectHandle model, size_t *used, size_t *peak);

/**
 * Calls a function of a model `repetitions` times, and reports the time of each function that it
 * called.
 *
 * Only in host builds with the feature `relax`. `report` is called on this thread after the last
 * repetition, once for each kernel, built-in and function of the model that was called, the
 * longest time first: with `context`, the name, which is borrowed and not null-terminated, the
 * number of calls, and the time of all calls in nanoseconds, including the functions that they
 * call. Functions that are native code (exec_mode `compiled`) make their calls themselves, so
 * these are not reported.
 *
 * Returns 0. On failure, returns -1 with an error raised and without a report: ValueError for a
 * null pointer and a negative number of arguments; errors of `FerriteModelCall`.
 *
 * The caller must ensure:
 * Same requirements as `TVMFFIFunctionCall`.
 */
TVM_FFI_DLL
int FerriteModelProfile(TVMFFIObjectHandle model,
                        const char *function,
                        const TVMFFIAny *args,
                        int32_t num_args,
                        int32_t repetitions,
                        void (*report)(void *context,
                                       const TVMFFIByteArray *name,
                                       uint64_t calls,
                                       uint64_t nanoseconds),
                        void *context);

#ifdef __cplusplus
} /* extern "C" */
#endif /* __cplusplus */

#endif  /* TVM_FFI_MODEL_H_ */
