/*
 * tvm/runtime/c_runtime_api.h: the packed-function API of TVM 0.5 to 0.20, on the registry and objects of tvm-ffi.
 *
 * Copyright the Ferrite developers. SPDX-License-Identifier: Apache-2.0
 *
 * Generated from the Rust sources; change those instead. Part of the library when it is built with the feature `legacy`.
 *
 * TVM_LEGACY_API selects the releases that a program was written for: 6 (0.5 and 0.6), 8 (0.7 to 0.13), 14 (0.14 to 0.17) or 18 (0.18 to
 * 0.20, the default).
 *
 * Rules for every function:
 * - 0 is success. Failure is -1, with the message in TVMGetLastError; no out-parameter is written.
 * - Null handles and out-parameters, negative counts and unknown type codes are errors. The freeing functions accept null, except
 *   TVMArrayFree.
 * - Arguments are borrowed, and results belong to the caller, who frees them. A returned string belongs to the
 *   calling thread, and is valid until the thread's next call of a function that returns the same kind of string.
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

/* The signature of functions in compiled libraries; up to 0.6 they take only the first three arguments. */
typedef int (*TVMBackendPackedCFunc)(TVMValue* args, int* type_codes, int num_args, TVMValue* out_ret_value,
                                     int* out_ret_tcode, void* resource_handle);
typedef int (*TVMExtensionDeclarer)(void* register_func_handle);

#ifdef __cplusplus
extern "C" {
#endif
/* Turns a borrowed callback argument into an owned value, in place. Plain values are unchanged; a string or bytes are an error.
 * Since 0.7 the code is updated too: an object passed by rvalue reference (14) is moved out, and its code becomes 8. */
#if TVM_LEGACY_API == 6
TVM_DLL int TVMCbArgToReturn(TVMValue* value, int code);
#else
TVM_DLL int TVMCbArgToReturn(TVMValue* value, int* code);
#endif
#ifdef __cplusplus
}
#endif

/**
 * A function.
 */
typedef TVMHandle TVMFunctionHandle;

/**
 * The destination of a callback's return value.
 */
typedef void *TVMRetValueHandle;

/**
 * A callback. Returns 0 on success; any other status is a failure, with the thread's last error set.
 */
typedef int (*TVMPackedCFunc)(TVMValue *args,
                              int *type_codes,
                              int num_args,
                              TVMRetValueHandle ret,
                              void *resource_handle);

/**
 * Frees the resource of a callback.
 */
typedef void (*TVMPackedCFuncFinalizer)(void *resource_handle);

/**
 * An NDArray: the address of its tensor.
 */
typedef DLTensor *TVMArrayHandle;

/**
 * A stream of a device; null is the default one.
 */
typedef void *TVMStreamHandle;

/**
 * A module.
 */
typedef TVMHandle TVMModuleHandle;

/**
 * An object, a node up to 0.6.
 */
typedef TVMHandle TVMObjectHandle;

#ifdef __cplusplus
extern "C" {
#endif /* __cplusplus */

/**
 * Returns the text of the thread's last error, empty before the first one.
 *
 * The text belongs to the thread and is valid until its next error.
 */
TVM_DLL const char *TVMGetLastError(void);

/**
 * Sets the thread's last error, the text of a failing callback or kernel. It is copied; null is empty.
 */
TVM_DLL
void TVMAPISetLastError(const char *message);

/**
 * Sets a Python exception as the thread's last error, for a failing callback, and retains it.
 *
 * Has no effect until `Py_IncRef` and `Py_DecRef` are registered with `TVMBackendRegisterEnvCAPI`.
 *
 * The caller must ensure:
 * `exception` is null or a Python object; the thread holds the lock of its interpreter.
 */
TVM_DLL void TVMAPISetLastPythonError(void *exception);

/**
 * Borrows the Python exception that is the thread's last error; null if that is a text.
 */
TVM_DLL void *TVMGetLastPythonError(void);

/**
 * Returns the backtrace of the thread's last error, or null.
 *
 * The text belongs to the thread and is valid until the next call of this function.
 */
TVM_DLL const char *TVMGetLastBacktrace(void);

/**
 * Releases the Python exception that is the thread's last error; its text is kept.
 */
TVM_DLL void TVMDropLastPythonError(void);

/**
 * Finds a global function.
 *
 * Returns 0 and stores the function, owned by the caller, in `out`, or null if there is none. On failure, returns -1
 * with an error raised.
 */
TVM_DLL
int TVMFuncGetGlobal(const char *name,
                     TVMFunctionHandle *out);

/**
 * Lists the names of all global functions, in unspecified order.
 *
 * The list belongs to the thread and is valid until its next call of this function.
 */
TVM_DLL int TVMFuncListGlobalNames(int *out_size, const char ***out_array);

/**
 * Registers a global function, which the table retains.
 *
 * Returns 0; or -1, also for a taken name unless `override_` is not 0.
 */
TVM_DLL int TVMFuncRegisterGlobal(const char *name, TVMFunctionHandle f, int override_);

/**
 * Removes a global function. An unknown name is not an error.
 */
TVM_DLL int TVMFuncRemoveGlobal(const char *name);

/**
 * Releases a reference to a function. Null is accepted.
 *
 * The caller must ensure:
 * See the crate; the caller transfers the reference.
 */
TVM_DLL int TVMFuncFree(TVMFunctionHandle func);

/**
 * Calls a function.
 *
 * Arguments are borrowed. The caller owns object results; a text, a data type (as text) or bytes are stored in the
 * thread's slot until its next call that returns one of them.
 *
 * Returns 0; or -1 with the error of the function, a TypeError for an unknown type code, a ValueError for a null pointer or a
 * negative count.
 */
TVM_DLL
int TVMFuncCall(TVMFunctionHandle func,
                TVMValue *arg_values,
                int *type_codes,
                int num_args,
                TVMValue *ret_val,
                int *ret_type_code);

/**
 * Creates a function from a C callback.
 *
 * The function owns `resource_handle`: `fin`, if not null, is called with it exactly once, after the last reference,
 * on any thread; also when this call fails. A callback with a finalizer belongs to a front end, and gets a reference
 * to each NDArray among its arguments, which it releases by `TVMArrayFree`; a callback without one borrows them.
 *
 * Returns 0 and stores the function, owned by the caller, in `out`. On failure, returns -1 with an error raised.
 *
 * The caller must ensure:
 * `func` and `fin` may be called on any thread.
 */
TVM_DLL
int TVMFuncCreateFromCFunc(TVMPackedCFunc func,
                           void *resource_handle,
                           TVMPackedCFuncFinalizer fin,
                           TVMFunctionHandle *out);

/**
 * Sets the return value of a callback. The last call counts; without a call, a callback returns null.
 *
 * Texts and bytes are copied, and objects are retained. Returns 0; or -1, also if `num_ret` is not 1.
 *
 * The caller must ensure:
 * `ret` is the handle passed to the running callback.
 */
TVM_DLL
int TVMCFuncSetReturn(TVMRetValueHandle ret,
                      TVMValue *value,
                      int *type_code,
                      int num_ret);

/**
 * Allocates an array. Its content is undefined; in main memory it is zero.
 *
 * Returns 0 and the array, which the caller owns, in `out`; or -1: a negative count or extent, a data type without
 * lanes or whose bits are not a power of two and a multiple of 8 (an unsigned integer of 1 bit is allowed), an
 * unsupported device, MemoryError.
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
 * Releases a reference to an array. Null is an error.
 *
 * The caller must ensure:
 * See the crate; the caller transfers the reference.
 */
TVM_DLL int TVMArrayFree(TVMArrayHandle handle);

/**
 * Copies `nbytes` bytes of main memory to an array, and waits until the copy is complete.
 *
 * Returns 0; or -1, also when the array has another size or is not contiguous.
 */
TVM_DLL int TVMArrayCopyFromBytes(TVMArrayHandle handle, void *data, size_t nbytes);

/**
 * Copies an array to `nbytes` bytes of main memory, and waits until the copy is complete.
 *
 * Returns 0; or -1, also when the array has another size or is not contiguous.
 */
TVM_DLL int TVMArrayCopyToBytes(TVMArrayHandle handle, void *data, size_t nbytes);

/**
 * Copies one array to another of the same size in bytes, regardless of shapes, on a stream; null is the default one.
 */
TVM_DLL
int TVMArrayCopyFromTo(TVMArrayHandle from,
                       TVMArrayHandle to,
                       TVMStreamHandle stream);

/**
 * Creates an array that takes ownership of a DLPack tensor. The deleter runs with the last reference; on failure the
 * caller keeps `from`.
 */
TVM_DLL
int TVMArrayFromDLPack(DLManagedTensor *from,
                       TVMArrayHandle *out);

/**
 * Exports an array as a DLPack tensor, which holds a reference until its deleter is called.
 */
TVM_DLL int TVMArrayToDLPack(TVMArrayHandle from, DLManagedTensor **out);

/**
 * Calls the deleter of a DLPack tensor. Null is ignored.
 *
 * The caller must ensure:
 * See the crate; the caller gives the tensor up.
 */
TVM_DLL void TVMDLManagedTensorCallDeleter(DLManagedTensor *dltensor);

/**
 * Returns the type index of an array in `out_tindex`.
 */
TVM_DLL int TVMArrayGetTypeIndex(TVMArrayHandle handle, uint32_t *out_tindex);

/**
 * Loads a module from a file.
 *
 * Returns 0 and stores the module, owned by the caller, in `out`. On failure, returns -1 with an error raised.
 */
TVM_DLL
int TVMModLoadFromFile(const char *file_name,
                       const char *format,
                       TVMModuleHandle *out);

/**
 * Adds a module to the imports of another, which retains it. A cycle is an error.
 */
TVM_DLL int TVMModImport(TVMModuleHandle mod_, TVMModuleHandle dep);

/**
 * Finds a function of a module, and of its imports if `query_imports` is not 0. The function keeps the module alive.
 *
 * Returns 0 and stores the function, owned by the caller, in `out`, or null if there is none. On failure, returns -1
 * with an error raised.
 */
TVM_DLL
int TVMModGetFunction(TVMModuleHandle mod_,
                      const char *func_name,
                      int query_imports,
                      TVMFunctionHandle *out);

/**
 * Releases a reference to a module. Null is accepted.
 *
 * The caller must ensure:
 * See the crate; the caller transfers the reference.
 */
TVM_DLL int TVMModFree(TVMModuleHandle mod_);

/**
 * Finds the type index of a key, of any release. Returns 0; or -1 for an unknown key.
 */
TVM_DLL int TVMObjectTypeKey2Index(const char *type_key, uint32_t *out_tindex);

/**
 * The name of `TVMObjectTypeKey2Index` in 0.5.
 */
TVM_DLL int TVMNodeTypeKey2Index(const char *type_key, int *out_index);

/**
 * Finds the key of a type index. The text is allocated with `malloc`, and the caller frees it.
 */
TVM_DLL int TVMObjectTypeIndex2Key(uint32_t tindex, char **out_type_key);

/**
 * Returns the type index of an object in `out_tindex`. Null is an error.
 */
TVM_DLL int TVMObjectGetTypeIndex(TVMObjectHandle obj, uint32_t *out_tindex);

/**
 * The name of `TVMObjectGetTypeIndex` in 0.5.
 */
TVM_DLL int TVMNodeGetTypeIndex(TVMObjectHandle handle, int *out_index);

/**
 * Retains an object. Null is an error.
 */
TVM_DLL int TVMObjectRetain(TVMObjectHandle obj);

/**
 * Releases a reference to an object. Null is accepted.
 *
 * The caller must ensure:
 * See the crate; the caller gives up the reference.
 */
TVM_DLL int TVMObjectFree(TVMObjectHandle obj);

/**
 * The name of `TVMObjectFree` in 0.5.
 *
 * The caller must ensure:
 * As [`TVMObjectFree`].
 */
TVM_DLL int TVMNodeFree(TVMObjectHandle handle);

/**
 * Returns in `is_derived` whether a type is another one or derives from it: 1 or 0.
 */
TVM_DLL
int TVMObjectDerivedFrom(uint32_t child_type_index,
                         uint32_t parent_type_index,
                         int *is_derived);

/**
 * Does nothing: bytes returned by a call are in the thread's slot.
 */
TVM_DLL int TVMByteArrayFree(TVMByteArray *arr);

/**
 * Refuses a value of an extension type: only C++ code registers such types.
 */
TVM_DLL int TVMExtTypeFree(void *handle, int type_code);

/**
 * Reads an attribute.
 *
 * Returns 0, with 1 in `ret_success` and the value in the other two, or with 0 there if the object does not have the
 * attribute; or -1. The caller owns object results. A text belongs to the thread and is valid until its next call of
 * this function; a data type is returned as text.
 */
TVM_DLL
int TVMNodeGetAttr(TVMObjectHandle handle,
                   const char *key,
                   TVMValue *ret_val,
                   int *ret_type_code,
                   int *ret_success);

/**
 * Lists the names of an object's attributes.
 *
 * The list belongs to the thread and is valid until its next call of this function.
 */
TVM_DLL int TVMNodeListAttrNames(TVMObjectHandle handle, int *out_size, const char ***out_array);

/**
 * Waits until all work queued on a stream is complete. Null is the default stream.
 */
TVM_DLL int TVMSynchronize(int device_type, int device_id, TVMStreamHandle stream);

/**
 * Sets this thread's current stream of a device.
 */
TVM_DLL int TVMSetStream(int device_type, int device_id, TVMStreamHandle handle);

/**
 * Creates a stream; null on devices with a single stream.
 */
TVM_DLL int TVMStreamCreate(int device_type, int device_id, TVMStreamHandle *out);

/**
 * Frees a stream.
 *
 * The caller must ensure:
 * See the crate; the stream is not used afterwards.
 */
TVM_DLL int TVMStreamFree(int device_type, int device_id, TVMStreamHandle stream);

/**
 * Makes later work on `dst` wait for the work queued on `src` so far.
 */
TVM_DLL
int TVMStreamStreamSynchronize(int device_type,
                               int device_id,
                               TVMStreamHandle src,
                               TVMStreamHandle dst);

/**
 * Allocates memory of a device for elements of `type_hint`. Zero bytes return a pointer, too, if the device has one.
 */
TVM_DLL
int TVMDeviceAllocDataSpace(DLDevice dev,
                            size_t nbytes,
                            size_t alignment,
                            DLDataType type_hint,
                            void **out_data);

/**
 * Allocates memory of a device for a tensor. The CPU only has the scope `global`, which null selects.
 */
TVM_DLL
int TVMDeviceAllocDataSpaceWithScope(DLDevice dev,
                                     int ndim,
                                     const int64_t *shape,
                                     DLDataType dtype,
                                     const char *mem_scope,
                                     void **out_data);

/**
 * Frees memory of a device. Null is ignored.
 *
 * The caller must ensure:
 * See the crate; the memory is not used afterwards.
 */
TVM_DLL int TVMDeviceFreeDataSpace(DLDevice dev, void *ptr);

/**
 * Copies between tensors, including views, on a stream.
 */
TVM_DLL int TVMDeviceCopyDataFromTo(DLTensor *from, DLTensor *to, TVMStreamHandle stream);

/**
 * Finds a function for compiled code: in the imports of its module, then among the global functions.
 *
 * `mod_node` is the value that the loader stored in `__tvm_module_ctx`; null for code without a module. The result is
 * cached and borrowed from the module; without a module, the function is retained forever.
 *
 * Returns 0 and the function in `out`; or -1.
 */
TVM_DLL
int TVMBackendGetFuncFromEnv(void *mod_node,
                             const char *func_name,
                             TVMFunctionHandle *out);

/**
 * Adds a symbol to the system library: code that is linked into the program instead of loaded. Runs before `main`.
 */
TVM_DLL
int TVMBackendRegisterSystemLibSymbol(const char *name,
                                      void *ptr);

/**
 * Registers a function of the host language: `Py_IncRef`, `Py_DecRef`, `PyGILState_Ensure`, `PyGILState_Release` or
 * `PyErr_CheckSignals`.
 *
 * Returns 0; or -1 for another name.
 *
 * The caller must ensure:
 * `ptr` is the function of that name as long as the process runs.
 */
TVM_DLL
int TVMBackendRegisterEnvCAPI(const char *name,
                              void *ptr);

#ifdef __cplusplus
} /* extern "C" */
#endif /* __cplusplus */

#endif  /* TVM_RUNTIME_C_RUNTIME_API_H_ */
