/*
 * tvm/ffi/extra/c_env_api.h: the environment of functions: streams, tensor allocator, signals and module symbols.
 *
 * Copyright the Ferrite developers. SPDX-License-Identifier: Apache-2.0
 *
 * Generated from the Rust sources; change those instead. The rules of tvm/ffi/c_api.h hold here too.
 */

#ifndef TVM_FFI_EXTRA_C_ENV_API_H_
#define TVM_FFI_EXTRA_C_ENV_API_H_

#include <tvm/ffi/c_api.h>

/**
 * A stream of a device, as its runtime defines it.
 */
typedef void *TVMFFIStreamHandle;

#ifdef __cplusplus
extern "C" {
#endif /* __cplusplus */

/**
 * Sets this thread's current stream of a device.
 *
 * The stream is neither used nor owned. When `opt_out_original_stream` is not null, the previous stream, or null, is
 * stored there. Returns 0; or -1 with an error raised: ValueError (negative or impossibly large numbers), MemoryError,
 * or RuntimeError when the thread is ending. On bare metal all threads share one stream per device.
 */
TVM_FFI_DLL
int TVMFFIEnvSetStream(int32_t device_type,
                       int32_t device_id,
                       TVMFFIStreamHandle stream,
                       TVMFFIStreamHandle *opt_out_original_stream);

/**
 * Returns this thread's current stream of a device; null if none is set.
 */
TVM_FFI_DLL TVMFFIStreamHandle TVMFFIEnvGetStream(int32_t device_type, int32_t device_id);

/**
 * Sets the tensor allocator that `TVMFFIEnvTensorAlloc` uses on this thread; null unsets it.
 *
 * With `write_to_global_context` other than 0, threads without an allocator of their own use it, too. When
 * `opt_out_original_allocator` is not null, the thread's previous allocator, or null, is stored there. Always returns
 * 0. On bare metal all threads share one.
 *
 * The caller must ensure:
 * `allocator` obeys the contract of its type, and stays callable while it is set.
 */
TVM_FFI_DLL
int TVMFFIEnvSetDLPackManagedTensorAllocator(DLPackManagedTensorAllocator allocator,
                                             int write_to_global_context,
                                             DLPackManagedTensorAllocator *opt_out_original_allocator);

/**
 * Returns the tensor allocator that `TVMFFIEnvTensorAlloc` uses on this thread: its own, otherwise the global one,
 * otherwise null.
 */
TVM_FFI_DLL
DLPackManagedTensorAllocator TVMFFIEnvGetDLPackManagedTensorAllocator(void);

/**
 * Allocates a tensor like a prototype, with the allocator of `TVMFFIEnvSetDLPackManagedTensorAllocator`. Without one,
 * the library allocates on the devices that the build supports.
 *
 * Only dtype, ndim, shape and device of `prototype` are read. Returns 0 and the tensor, which the caller owns, in
 * `out`; or -1 with an error raised: RuntimeError when the device has no allocator, or the error of the allocator.
 */
TVM_FFI_DLL
int TVMFFIEnvTensorAlloc(DLTensor *prototype,
                         TVMFFIObjectHandle *out);

/**
 * Checks whether the host language has a signal to handle. Long-running functions should call this regularly.
 *
 * Returns 0 when there is no signal or no host language; or -1 with an error raised, such as KeyboardInterrupt.
 */
TVM_FFI_DLL
int TVMFFIEnvCheckSignals(void);

/**
 * Registers a function of the host language, such as `PyErr_CheckSignals`.
 *
 * A null `symbol` removes it. Returns 0; or -1 with ValueError raised when the name is null or unknown to the library.
 *
 * The caller must ensure:
 * `symbol` is a function of the type implied by its name, callable while it is registered.
 */
TVM_FFI_DLL
int TVMFFIEnvRegisterCAPI(const char *name,
                          void *symbol);

/**
 * Finds a function for a module's code: in the module's imports, then among the global functions.
 *
 * `library_ctx` is the value that the loader stored in the library's `__tvm_ffi__library_ctx`: the address of a module
 * object's C++ part, eight bytes before its handle. The result is cached.
 *
 * Returns 0 and the function in `out`, borrowed from the module; or -1 with RuntimeError raised when it does not
 * exist.
 *
 * The caller must ensure:
 * `library_ctx` comes from a loader, and its module is still loaded.
 */
TVM_FFI_DLL
int TVMFFIEnvModLookupFromImports(TVMFFIObjectHandle library_ctx,
                                  const char *func_name,
                                  TVMFFIObjectHandle *out);

/**
 * Registers an address for libraries loaded from now on: it is stored in the variable of this name of each library
 * that defines it.
 *
 * Registering a name again replaces its address. Returns 0; or -1 with ValueError or MemoryError raised. The name is copied.
 *
 * The caller must ensure:
 * `symbol` has the type that libraries expect under that name, and stays valid as long as the process runs.
 */
TVM_FFI_DLL
int TVMFFIEnvModRegisterContextSymbol(const char *name,
                                      void *symbol);

/**
 * Adds a symbol to the system library: code that is linked into the program instead of loaded.
 *
 * Generated code calls this from static constructors, before `main`. Registering a name again with another address
 * replaces it and logs a warning. Returns 0; or -1 with ValueError or MemoryError raised. The name is copied.
 *
 * The caller must ensure:
 * `symbol` has the type implied by its name, and stays valid as long as the process runs.
 */
TVM_FFI_DLL
int TVMFFIEnvModRegisterSystemLibSymbol(const char *name,
                                        void *symbol);

#ifdef __cplusplus
} /* extern "C" */
#endif /* __cplusplus */

#endif  /* TVM_FFI_EXTRA_C_ENV_API_H_ */
