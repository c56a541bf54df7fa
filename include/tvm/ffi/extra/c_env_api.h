/*
 * tvm/ffi/extra/c_env_api.h: the environment of functions: streams, tensor allocator, signals and
 * module symbols.
 *
 * Copyright the Ferrite developers. SPDX-License-Identifier: Apache-2.0
 *
 * Generated from the Rust sources; change those instead. The rules of tvm/ffi/c_api.h hold here
 * too.
 */

#ifndef TVM_FFI_EXTRA_C_ENV_API_H_
#define TVM_FFI_EXTRA_C_ENV_API_H_

#include <tvm/ffi/c_api.h>

/**
 * A stream handle of the device's runtime, such as `cudaStream_t`.
 */
typedef void *TVMFFIStreamHandle;

#ifdef __cplusplus
extern "C" {
#endif /* __cplusplus */

/**
 * Sets the calling thread's current stream for a device.
 *
 * The library neither uses nor owns the stream. If `opt_out_original_stream` is not null, the
 * previous stream is stored there, or null if none was set. Returns 0, or -1 with an error raised:
 * ValueError for a device type or id out of range, MemoryError, or RuntimeError if the thread is
 * terminating. On bare metal, all threads share one current stream per device.
 */
TVM_FFI_DLL
int TVMFFIEnvSetStream(int32_t device_type,
                       int32_t device_id,
                       TVMFFIStreamHandle stream,
                       TVMFFIStreamHandle *opt_out_original_stream);

/**
 * Returns the calling thread's current stream for a device, or null if none is set.
 */
TVM_FFI_DLL TVMFFIStreamHandle TVMFFIEnvGetStream(int32_t device_type, int32_t device_id);

/**
 * Sets the tensor allocator that `TVMFFIEnvTensorAlloc` uses on this thread; null unsets it.
 *
 * If `write_to_global_context` is not 0, threads without their own allocator use it, too. If
 * `opt_out_original_allocator` is not null, the thread's previous allocator is stored there, or
 * null if none was set. Always returns 0. On bare metal, all threads share one allocator.
 *
 * The caller must ensure:
 * `allocator` must meet the contract of `DLPackManagedTensorAllocator`, and must stay callable
 * while it is set.
 */
TVM_FFI_DLL
int TVMFFIEnvSetDLPackManagedTensorAllocator(DLPackManagedTensorAllocator allocator,
                                             int write_to_global_context,
                                             DLPackManagedTensorAllocator *opt_out_original_allocator);

/**
 * Returns the tensor allocator that `TVMFFIEnvTensorAlloc` uses on this thread: the thread's own,
 * or else the global one. Returns null if neither is set.
 */
TVM_FFI_DLL DLPackManagedTensorAllocator TVMFFIEnvGetDLPackManagedTensorAllocator(void);

/**
 * Allocates a tensor with the data type, shape and device of a prototype. Uses the allocator set
 * by `TVMFFIEnvSetDLPackManagedTensorAllocator`; if none is set, the library allocates the memory
 * itself, on the devices that the build supports.
 *
 * Only dtype, ndim, shape and device of `prototype` are read. Returns 0 and stores the tensor,
 * owned by the caller, in `out`. On failure, returns -1 with an error raised: RuntimeError if the
 * device has no allocator, or the error raised by the allocator.
 */
TVM_FFI_DLL int TVMFFIEnvTensorAlloc(DLTensor *prototype, TVMFFIObjectHandle *out);

/**
 * Checks whether the host language has a pending signal, such as an interrupt from the keyboard.
 * Long-running functions should call this regularly.
 *
 * Returns 0 if no signal is pending or no host language is registered. Otherwise returns -1 with
 * an error raised, such as KeyboardInterrupt.
 */
TVM_FFI_DLL int TVMFFIEnvCheckSignals(void);

/**
 * Registers a function of the host language, such as `PyErr_CheckSignals`.
 *
 * A null `symbol` removes it. Returns 0, or -1 with ValueError raised if the name is null or not
 * known to the library.
 *
 * The caller must ensure:
 * `symbol` must be a function of the type implied by its name, callable while it is registered.
 */
TVM_FFI_DLL int TVMFFIEnvRegisterCAPI(const char *name, void *symbol);

/**
 * Finds a function for code of a module: in the module's imports first, then among the global
 * functions.
 *
 * `library_ctx` is the value that the loader stored in the library's `__tvm_ffi__library_ctx`: the
 * address of a module object's C++ part, eight bytes before its handle. The result is cached.
 *
 * Returns 0 and stores the function, borrowed from the module, in `out`. Returns -1 with
 * RuntimeError raised if it does not exist.
 *
 * The caller must ensure:
 * `library_ctx` must come from a loader, and its module must still be loaded.
 */
TVM_FFI_DLL
int TVMFFIEnvModLookupFromImports(TVMFFIObjectHandle library_ctx,
                                  const char *func_name,
                                  TVMFFIObjectHandle *out);

/**
 * Registers a context symbol: an address that the loader stores in the variable of that name in
 * every library loaded from now on that defines the variable.
 *
 * Registering a name again replaces the address. Returns 0, or -1 with ValueError or MemoryError
 * raised. The name is copied.
 *
 * The caller must ensure:
 * `symbol` must have the type that libraries expect under that name, and must stay valid as long
 * as the process runs.
 */
TVM_FFI_DLL int TVMFFIEnvModRegisterContextSymbol(const char *name, void *symbol);

/**
 * Adds a symbol to the system library, the module of compiled code that is linked into the
 * program.
 *
 * Generated code calls this from static constructors, before `main`. Registering a name again with
 * a different address replaces the address and logs a warning. Returns 0, or -1 with ValueError or
 * MemoryError raised. The name is copied.
 *
 * The caller must ensure:
 * `symbol` must have the type implied by its name, and must stay valid as long as the process
 * runs.
 */
TVM_FFI_DLL int TVMFFIEnvModRegisterSystemLibSymbol(const char *name, void *symbol);

#ifdef __cplusplus
} /* extern "C" */
#endif /* __cplusplus */

#endif  /* TVM_FFI_EXTRA_C_ENV_API_H_ */
