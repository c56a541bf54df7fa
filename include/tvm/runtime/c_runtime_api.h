/*
 * tvm/runtime/c_runtime_api.h: the packed-function API of TVM 0.5 to 0.20, on the registry and
 * objects of tvm-ffi.
 *
 * Copyright the Ferrite developers. SPDX-License-Identifier: Apache-2.0
 *
 * Generated from the Rust sources; change those instead. Part of the library when it is built with
 * the feature `legacy`.
 *
 * TVM_LEGACY_API selects the releases that a program was written for: 6 (0.5 and 0.6), 8 (0.7 to
 * 0.13), 14 (0.14 to 0.17) or 18 (0.18 to 0.20, the default).
 *
 * Rules for every function:
 * - 0 is success. Failure is -1, with the message in TVMGetLastError; no out-parameter is written.
 * - Null handles and out-parameters, negative counts and unknown type codes are errors. The freeing
 *   functions accept null, except TVMArrayFree.
 * - Arguments are borrowed, and results belong to the caller, who frees them. A returned string
 *   belongs to the calling thread, and is valid until the thread's next call of a function that
 *   returns the same kind of string.
 * - Every function may be called on any thread.
 */

#ifndef TVM_RUNTIME_C_RUNTIME_API_H_
#define TVM_RUNTIME_C_RUNTIME_API_H_

#include <stddef.h>
#include <stdint.h>

#ifndef TVM_LEGACY_API
#define TVM_LEGACY_API 18
#endif
#if TVM_LEGACY_API != 6 && TVM_LEGACY_API != 8 && TVM_LEGACY_API != 14 && TVM_LEGACY_API != 18
#error "TVM_LEGACY_API must be 6, 8, 14 or 18"
#endif

#ifndef TVM_DLL
#if defined(_WIN32) && defined(TVM_EXPORTS)
#define TVM_DLL __declspec(dllexport)
#elif defined(_WIN32)
#define TVM_DLL __declspec(dllimport)
#else
#define TVM_DLL __attribute__((visibility("default")))
#endif
#endif

#if TVM_LEGACY_API == 6
/* DLPack tensors as of TVM 0.6: the device of a tensor is called its context. */
#ifdef DLPACK_DLPACK_H_
#error "TVM_LEGACY_API 6 declares its own tensor types: do not include dlpack/dlpack.h or tvm/ffi/c_api.h beside it"
#endif
#define DLPACK_DLPACK_H_
#ifdef __cplusplus
extern "C" {
#endif
typedef enum { kDLCPU = 1, kDLGPU = 2, kDLCPUPinned = 3, kDLOpenCL = 4, kDLVulkan = 7, kDLMetal = 8, kDLVPI = 9, kDLROCM = 10, kDLExtDev = 12 } DLDeviceType;
typedef enum { kDLInt = 0U, kDLUInt = 1U, kDLFloat = 2U } DLDataTypeCode;
typedef struct { DLDeviceType device_type; int device_id; } DLContext;
typedef struct { uint8_t code; uint8_t bits; uint16_t lanes; } DLDataType;
typedef struct {
  void* data;
  DLContext ctx;
  int ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
} DLTensor;
typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensor* self);
} DLManagedTensor;
typedef DLContext DLDevice;
typedef DLContext TVMContext;
typedef DLDataType TVMType;
typedef DLTensor TVMArray;
typedef int64_t tvm_index_t;
typedef enum {
  kHandle = 3U, kNull = 4U, kTVMType = 5U, kTVMContext = 6U, kArrayHandle = 7U, kNodeHandle = 8U, kObjectHandle = 8U,
  kModuleHandle = 9U, kFuncHandle = 10U, kStr = 11U, kBytes = 12U, kNDArrayContainer = 13U, kExtBegin = 15U
} TVMTypeCode;
#ifdef __cplusplus
}
#endif
#else
#include <dlpack/dlpack.h>
typedef int64_t tvm_index_t;
typedef DLDevice TVMContext;
typedef enum {
  kTVMArgInt = 0, kTVMArgFloat = 2, kTVMOpaqueHandle = 3, kTVMNullptr = 4, kTVMDataType = 5, kDLDevice = 6, kTVMContext = 6,
  kTVMDLTensorHandle = 7, kTVMObjectHandle = 8, kTVMModuleHandle = 9, kTVMPackedFuncHandle = 10, kTVMStr = 11,
  kTVMBytes = 12, kTVMNDArrayHandle = 13, kTVMObjectRValueRefArg = 14,
#if TVM_LEGACY_API >= 18
  kTVMArgBool = 15, kTVMExtBegin = 16
#else
  kTVMExtBegin = 15
#endif
} TVMArgTypeCode;
typedef DLTensor TVMArray;
#endif

/* An object of any kind. */
typedef void* TVMHandle;

/* A byte string with its length. */
typedef struct {
  const char* data;
  size_t size;
} TVMByteArray;

/* The eight-byte payload of a value; type codes are passed in a separate array. */
typedef union {
  int64_t v_int64;
#if TVM_LEGACY_API >= 18
  unsigned char v_bool;
#endif
  double v_float64;
  void* v_handle;
  const char* v_str;
  DLDataType v_type;
#if TVM_LEGACY_API == 6
  TVMContext v_ctx;
#else
  DLDevice v_device;
#endif
} TVMValue;

/* Objects were called nodes up to 0.6. */
typedef void* NodeHandle;
typedef void* TVMNodeHandle;

/* The signature of functions in compiled libraries; up to 0.6 they take only the first three
 * arguments. */
typedef int (*TVMBackendPackedCFunc)(TVMValue* args, int* type_codes, int num_args, TVMValue* out_ret_value,
                                     int* out_ret_tcode, void* resource_handle);
typedef int (*TVMExtensionDeclarer)(void* register_func_handle);

#ifdef __cplusplus
extern "C" {
#endif
/* Turns a borrowed callback argument into an owned value, in place. Plain values are unchanged; a
 * string or bytes are an error. Since 0.7 the code is updated too: an object passed by rvalue
 * reference (14) is moved out, and its code becomes 8. */
#if TVM_LEGACY_API == 6
TVM_DLL int TVMCbArgToReturn(TVMValue* value, int code);
#else
TVM_DLL int TVMCbArgToReturn(TVMValue* value, int* code);
#endif
#ifdef __cplusplus
}
#endif

/**
 * Handle of a function object.
 */
typedef TVMHandle TVMFunctionHandle;

/**
 * Handle by which a callback sets its return value.
 */
typedef void *TVMRetValueHandle;

/**
 * A packed function implemented in C. Returns 0 on success. Any other status is a failure, for
 * which the callback has set the thread's last error.
 */
typedef int (*TVMPackedCFunc)(TVMValue *args,
                              int *type_codes,
                              int num_args,
                              TVMRetValueHandle ret,
                              void *resource_handle);

/**
 * Finalizer that frees a callback's resource.
 */
typedef void (*TVMPackedCFuncFinalizer)(void *resource_handle);

/**
 * Handle of an NDArray: the address of its `DLTensor`.
 */
typedef DLTensor *TVMArrayHandle;

/**
 * Handle of a device stream. Null is the default stream.
 */
typedef void *TVMStreamHandle;

/**
 * Handle of a module object.
 */
typedef TVMHandle TVMModuleHandle;

/**
 * Handle of an object; called a node up to 0.6.
 */
typedef TVMHandle TVMObjectHandle;

#ifdef __cplusplus
extern "C" {
#endif /* __cplusplus */

/**
 * Returns the thread's last error as a string, `KIND: message`. The string is empty before the
 * first error.
 *
 * The string is stored in a thread-local slot, and is valid until the thread's next error.
 */
TVM_DLL const char *TVMGetLastError(void);

/**
 * Sets the thread's last error, for a callback or kernel that fails. The string is copied. Null is
 * an empty string.
 */
TVM_DLL void TVMAPISetLastError(const char *message);

/**
 * Sets a Python exception as the thread's last error, for a callback that fails. The exception is
 * retained.
 *
 * `Py_IncRef` and `Py_DecRef` must have been registered with `TVMBackendRegisterEnvCAPI`.
 * Otherwise the last error is a RuntimeError.
 *
 * The caller must ensure:
 * `exception` must be null or a Python object; the thread must hold the GIL.
 */
TVM_DLL void TVMAPISetLastPythonError(void *exception);

/**
 * Returns the Python exception that is the thread's last error, as a borrowed reference. Returns
 * null if the last error is not a Python exception.
 */
TVM_DLL void *TVMGetLastPythonError(void);

/**
 * Returns the backtrace of the thread's last error, or null if it has none.
 *
 * The string is stored in a thread-local slot, and is valid until the thread's next call of this
 * function.
 */
TVM_DLL const char *TVMGetLastBacktrace(void);

/**
 * Releases the Python exception that is the thread's last error. The message stays available.
 */
TVM_DLL void TVMDropLastPythonError(void);

/**
 * Finds a global function by name.
 *
 * Returns 0 and stores the function, owned by the caller, in `out`, or null if there is none. On
 * failure, returns -1 with an error raised.
 */
TVM_DLL int TVMFuncGetGlobal(const char *name, TVMFunctionHandle *out);

/**
 * Lists the names of all global functions, in no particular order.
 *
 * The list belongs to the calling thread, and is valid until the thread calls this function again.
 *
 * Returns 0, or -1 with an error raised.
 */
TVM_DLL int TVMFuncListGlobalNames(int *out_size, const char ***out_array);

/**
 * Registers a global function under a name. The global function table retains it.
 *
 * Returns 0, or -1 with an error raised: InternalError if the name is taken and `override` is 0.
 */
TVM_DLL int TVMFuncRegisterGlobal(const char *name, TVMFunctionHandle f, int override_);

/**
 * Removes a global function. Returns 0, also if the name is unknown, or -1 with an error raised.
 */
TVM_DLL int TVMFuncRemoveGlobal(const char *name);

/**
 * Releases a reference to a function. Null is ignored. Returns 0.
 *
 * The caller must ensure:
 * The caller transfers the reference.
 */
TVM_DLL int TVMFuncFree(TVMFunctionHandle func);

/**
 * Calls a function.
 *
 * Arguments are borrowed. The caller owns an object result. A string, byte-array or data-type (as
 * a string) result is stored in a thread-local slot until the thread's next call that returns one
 * of them.
 *
 * Returns 0 on success. Returns -1 with an error raised otherwise: the function's own, TypeError
 * for an argument or a result that cannot be converted, ValueError for a null pointer or a
 * negative count, or MemoryError.
 */
TVM_DLL
int TVMFuncCall(TVMFunctionHandle func,
                TVMValue *arg_values,
                int *type_codes,
                int num_args,
                TVMValue *ret_val,
                int *ret_type_code);

/**
 * Creates a function object from a C callback.
 *
 * The function owns `resource_handle`. If `fin` is not null, it is called with `resource_handle`
 * exactly once, when the function is destroyed or when this call fails, on any thread. A callback
 * with a finalizer is assumed to belong to a front end: it owns a reference to each NDArray
 * argument, and releases it by `TVMArrayFree`. A callback without a finalizer borrows NDArray
 * arguments.
 *
 * Returns 0 and stores the function, owned by the caller, in `out`. On failure, returns -1 with an
 * error raised.
 *
 * The caller must ensure:
 * `func` and `fin` must be callable on any thread.
 */
TVM_DLL
int TVMFuncCreateFromCFunc(TVMPackedCFunc func,
                           void *resource_handle,
                           TVMPackedCFuncFinalizer fin,
                           TVMFunctionHandle *out);

/**
 * Sets the return value of the running callback. A later call replaces the value. Without a call,
 * the callback returns null.
 *
 * Strings and bytes are copied, and objects are retained. Returns 0, or -1 with an error raised:
 * ValueError if `num_ret` is not 1 or a pointer is null, TypeError for an unknown type code, or
 * MemoryError.
 *
 * The caller must ensure:
 * `ret` must be the handle passed to the running callback.
 */
TVM_DLL int TVMCFuncSetReturn(TVMRetValueHandle ret, TVMValue *value, int *type_code, int num_ret);

/**
 * Allocates an array. Its content is zero in main memory, and undefined on other devices. An
 * element of fewer than 8 bits takes a byte.
 *
 * Returns 0 and stores the array, owned by the caller, in `out`. On failure, returns -1 with an
 * error raised: ValueError for a negative number of dimensions, a negative extent or an
 * unsupported data type; an error for an unsupported device; or MemoryError. Supported data types
 * have at least one lane, and a bit width that is a multiple of 8 and a power of two. Integers of
 * 1 and 4 bits and floats of 4 bits are also supported.
 */
TVM_DLL
int TVMArrayAlloc(const int64_t *shape,
                  int ndim,
                  int dtype_code,
                  int dtype_bits,
                  int dtype_lanes,
                  int device_type,
                  int device_id,
                  TVMArrayHandle *out);

/**
 * Releases a reference to an array. Returns 0, or -1 with ValueError raised for null.
 *
 * The caller must ensure:
 * The caller transfers the reference.
 */
TVM_DLL int TVMArrayFree(TVMArrayHandle handle);

/**
 * Copies `nbytes` bytes of main memory to an array, and waits until the copy is complete.
 *
 * Returns 0, or -1 with an error raised: ValueError if the array has a different size or is not
 * contiguous, or an error of the device.
 */
TVM_DLL int TVMArrayCopyFromBytes(TVMArrayHandle handle, void *data, size_t nbytes);

/**
 * Copies an array to `nbytes` bytes of main memory, and waits until the copy is complete.
 *
 * Returns 0, or -1 with an error raised: ValueError if the array has a different size or is not
 * contiguous, or an error of the device.
 */
TVM_DLL int TVMArrayCopyToBytes(TVMArrayHandle handle, void *data, size_t nbytes);

/**
 * Copies one array to another of the same size in bytes, whatever their shapes are. The copy is
 * queued on `stream`; null is the default stream. Returns 0, or -1 with an error raised.
 */
TVM_DLL int TVMArrayCopyFromTo(TVMArrayHandle from, TVMArrayHandle to, TVMStreamHandle stream);

/**
 * Creates an array from a DLPack tensor, and takes ownership of the tensor. Its deleter runs when
 * the array is destroyed.
 *
 * Returns 0 and stores the array, owned by the caller, in `out`. On failure, returns -1 with an
 * error raised, and the caller still owns `from`.
 */
TVM_DLL int TVMArrayFromDLPack(DLManagedTensor *from, TVMArrayHandle *out);

/**
 * Exports an array as a DLPack tensor, which keeps a reference to the array until its deleter is
 * called. The tensor has the current data type.
 *
 * Returns 0 and stores the DLPack tensor, owned by the caller, in `out`. On failure, returns -1
 * with an error raised.
 */
TVM_DLL int TVMArrayToDLPack(TVMArrayHandle from, DLManagedTensor **out);

/**
 * Calls the deleter of a DLPack tensor. Null is ignored.
 *
 * The caller must ensure:
 * The caller transfers ownership of the tensor.
 */
TVM_DLL void TVMDLManagedTensorCallDeleter(DLManagedTensor *dltensor);

/**
 * Stores the type index of an array in `out_tindex`. Returns 0, or -1 with ValueError raised for a
 * null pointer.
 */
TVM_DLL int TVMArrayGetTypeIndex(TVMArrayHandle handle, uint32_t *out_tindex);

/**
 * Loads a module from a file. A null or empty `format` selects the format by the file name's
 * extension.
 *
 * Returns 0 and stores the module, owned by the caller, in `out`. On failure, returns -1 with an
 * error raised.
 */
TVM_DLL int TVMModLoadFromFile(const char *file_name, const char *format, TVMModuleHandle *out);

/**
 * Adds `dep` to the imports of module `mod`, which retains it. Returns 0, or -1 with an error
 * raised; an import cycle is an error.
 */
TVM_DLL int TVMModImport(TVMModuleHandle mod_, TVMModuleHandle dep);

/**
 * Finds a function of a module. If `query_imports` is not 0, its imports are searched, too. The
 * function keeps the module alive.
 *
 * Returns 0 and stores the function, owned by the caller, in `out`, or null if there is none. On
 * failure, returns -1 with an error raised.
 */
TVM_DLL
int TVMModGetFunction(TVMModuleHandle mod_,
                      const char *func_name,
                      int query_imports,
                      TVMFunctionHandle *out);

/**
 * Releases a reference to a module. Null is ignored. Returns 0.
 *
 * The caller must ensure:
 * The caller transfers the reference.
 */
TVM_DLL int TVMModFree(TVMModuleHandle mod_);

/**
 * Finds the type index of a type key of any release. Returns 0 and stores the index in the
 * out-parameter, or returns -1 with an error raised: InternalError for an unknown key.
 */
TVM_DLL int TVMObjectTypeKey2Index(const char *type_key, uint32_t *out_tindex);

/**
 * Finds the type index of a type key. The name of `TVMObjectTypeKey2Index` in 0.5.
 */
TVM_DLL int TVMNodeTypeKey2Index(const char *type_key, int *out_index);

/**
 * Finds the type key of a type index.
 *
 * Returns 0 and stores the key in `out_type_key`: a string allocated with `malloc`, which the
 * caller frees. On failure, returns -1 with an error raised: InternalError for an unknown index,
 * or MemoryError.
 */
TVM_DLL int TVMObjectTypeIndex2Key(uint32_t tindex, char **out_type_key);

/**
 * Stores the type index of an object in `out_tindex`. Returns 0, or -1 with ValueError raised for
 * a null pointer.
 */
TVM_DLL int TVMObjectGetTypeIndex(TVMObjectHandle obj, uint32_t *out_tindex);

/**
 * Stores the type index of an object. The name of `TVMObjectGetTypeIndex` in 0.5.
 */
TVM_DLL int TVMNodeGetTypeIndex(TVMObjectHandle handle, int *out_index);

/**
 * Adds a reference to an object. Returns 0, or -1 with ValueError raised for null.
 */
TVM_DLL int TVMObjectRetain(TVMObjectHandle obj);

/**
 * Releases a reference to an object. Null is ignored. Returns 0.
 *
 * The caller must ensure:
 * The caller transfers the reference.
 */
TVM_DLL int TVMObjectFree(TVMObjectHandle obj);

/**
 * Releases a reference to an object. The name of `TVMObjectFree` in 0.5.
 *
 * The caller must ensure:
 * The caller transfers the reference.
 */
TVM_DLL int TVMNodeFree(TVMObjectHandle handle);

/**
 * Stores 1 in `is_derived` if the child type is the parent type or derives from it, otherwise 0.
 * Returns 0, or -1 with ValueError raised for a null pointer.
 */
TVM_DLL
int TVMObjectDerivedFrom(uint32_t child_type_index,
                         uint32_t parent_type_index,
                         int *is_derived);

/**
 * Does nothing and returns 0: byte-array results are stored in a thread-local slot, and need not
 * be freed.
 */
TVM_DLL int TVMByteArrayFree(TVMByteArray *arr);

/**
 * Raises TypeError and returns -1: only C++ code can register extension types, and this library
 * supports none.
 */
TVM_DLL int TVMExtTypeFree(void *handle, int type_code);

/**
 * Reads an attribute of an object.
 *
 * Returns 0 on success. If the object has the attribute, stores 1 in `ret_success`, and the value
 * and its type code in `ret_val` and `ret_type_code`; otherwise stores 0 in `ret_success`. Returns
 * -1 with an error raised on failure. The caller owns an object value. A string, byte-array or
 * data-type (as a string) value is stored in a thread-local slot until the thread's next call of
 * this function.
 */
TVM_DLL
int TVMNodeGetAttr(TVMObjectHandle handle,
                   const char *key,
                   TVMValue *ret_val,
                   int *ret_type_code,
                   int *ret_success);

/**
 * Lists the names of an object's attributes. Returns 0, or -1 with an error raised.
 *
 * The list is stored in a thread-local slot, and is valid until the thread's next call of this
 * function.
 */
TVM_DLL int TVMNodeListAttrNames(TVMObjectHandle handle, int *out_size, const char ***out_array);

/**
 * Waits until all work queued on a stream is complete. Null is the default stream. Returns 0, or
 * -1 with an error raised.
 */
TVM_DLL int TVMSynchronize(int device_type, int device_id, TVMStreamHandle stream);

/**
 * Sets the calling thread's current stream for a device. Returns 0, or -1 with an error raised.
 */
TVM_DLL int TVMSetStream(int device_type, int device_id, TVMStreamHandle handle);

/**
 * Creates a stream.
 *
 * Returns 0 and stores the stream in `out`, or null for devices with a single stream. On failure,
 * returns -1 with an error raised.
 */
TVM_DLL int TVMStreamCreate(int device_type, int device_id, TVMStreamHandle *out);

/**
 * Frees a stream. Returns 0, or -1 with an error raised.
 *
 * The caller must ensure:
 * The stream must not be used afterwards. See the crate.
 */
TVM_DLL int TVMStreamFree(int device_type, int device_id, TVMStreamHandle stream);

/**
 * Makes work queued later on `dst` wait for the work already queued on `src`. Returns 0, or -1
 * with an error raised.
 */
TVM_DLL
int TVMStreamStreamSynchronize(int device_type,
                               int device_id,
                               TVMStreamHandle src,
                               TVMStreamHandle dst);

/**
 * Allocates device memory. `type_hint` is ignored.
 *
 * Returns 0 and stores the memory, owned by the caller, in `out_data`. For zero bytes, the pointer
 * may be null on some devices. On failure, returns -1 with an error raised: ValueError for an
 * invalid alignment, MemoryError, or an error of the device.
 */
TVM_DLL
int TVMDeviceAllocDataSpace(DLDevice dev,
                            size_t nbytes,
                            size_t alignment,
                            DLDataType type_hint,
                            void **out_data);

/**
 * Allocates device memory for a tensor, in a memory scope. The only scope is `global`, which null
 * also selects.
 *
 * Returns 0 and stores the memory, owned by the caller, in `out_data`. On failure, returns -1 with
 * an error raised: ValueError for an invalid shape, RuntimeError for another scope, MemoryError,
 * or an error of the device.
 */
TVM_DLL
int TVMDeviceAllocDataSpaceWithScope(DLDevice dev,
                                     int ndim,
                                     const int64_t *shape,
                                     DLDataType dtype,
                                     const char *mem_scope,
                                     void **out_data);

/**
 * Frees device memory. Null is ignored. Returns 0, or -1 with an error raised.
 *
 * The caller must ensure:
 * The memory must not be used afterwards. See the crate.
 */
TVM_DLL int TVMDeviceFreeDataSpace(DLDevice dev, void *ptr);

/**
 * Copies one tensor to another of the same size in bytes. The tensors may be views. The copy is
 * queued on `stream`; null is the default stream. Returns 0, or -1 with an error raised.
 */
TVM_DLL int TVMDeviceCopyDataFromTo(DLTensor *from, DLTensor *to, TVMStreamHandle stream);

/**
 * Finds a function for compiled code: in the imports of its module first, then among the global
 * functions.
 *
 * `mod_node` is the value that the loader stored in `__tvm_module_ctx`, or null for code without a
 * module. The result is borrowed. The module caches and owns it; without a module, the function is
 * never released.
 *
 * Returns 0 and stores the function in `out`. On failure, returns -1 with an error raised:
 * RuntimeError if there is no such function.
 */
TVM_DLL int TVMBackendGetFuncFromEnv(void *mod_node, const char *func_name, TVMFunctionHandle *out);

/**
 * Adds a symbol to the system library, the module of compiled code that is linked into the
 * program. Static constructors of that code call this before `main`. Returns 0, or -1 with an
 * error raised.
 */
TVM_DLL int TVMBackendRegisterSystemLibSymbol(const char *name, void *ptr);

/**
 * Registers a function of the host language: `Py_IncRef`, `Py_DecRef`, `PyGILState_Ensure`,
 * `PyGILState_Release` or `PyErr_CheckSignals`.
 *
 * Returns 0, or -1 with ValueError raised for an unknown name or a null pointer.
 *
 * The caller must ensure:
 * `ptr` must be the function of that name as long as the process runs.
 */
TVM_DLL int TVMBackendRegisterEnvCAPI(const char *name, void *ptr);

#ifdef __cplusplus
} /* extern "C" */
#endif /* __cplusplus */

#endif  /* TVM_RUNTIME_C_RUNTIME_API_H_ */
