/*
 * Assigns every function to a pointer of its exact type, and uses every function type of the
 * headers. Compiles with upstream's headers and with this library's, as C and as C++.
 */
#include <stddef.h>
#include <stdint.h>

#include <tvm/ffi/c_api.h>
#include <tvm/ffi/extra/c_env_api.h>

#ifdef __cplusplus
#define FUNCTION(result, name, arguments) \
  extern "C" { extern result(*const address_of_##name) arguments; } \
  result(*const address_of_##name) arguments = name;
#else
#define FUNCTION(result, name, arguments) \
  extern result(*const address_of_##name) arguments; \
  result(*const address_of_##name) arguments = name;
#endif

typedef const TVMFFIByteArray* bytes;
typedef TVMFFIObjectHandle handle;

FUNCTION(void, TVMFFIGetVersion, (TVMFFIVersion*))
FUNCTION(int, TVMFFIObjectIncRef, (handle))
FUNCTION(int, TVMFFIObjectDecRef, (handle))
FUNCTION(int, TVMFFIObjectCreateOpaque, (void*, int32_t, void (*)(void*), handle*))
FUNCTION(TVMFFICustomAllocator*, TVMFFIGetCustomAllocator, (void))
FUNCTION(int, TVMFFISetCustomAllocator, (TVMFFICustomAllocator*))
FUNCTION(int, TVMFFITypeKeyToIndex, (bytes, int32_t*))
FUNCTION(int, TVMFFIFunctionCreate, (void*, TVMFFISafeCallType, void (*)(void*), handle*))
FUNCTION(int, TVMFFIFunctionGetGlobal, (bytes, handle*))
FUNCTION(int, TVMFFIAnyViewToOwnedAny, (const TVMFFIAny*, TVMFFIAny*))
FUNCTION(int, TVMFFIFunctionCall, (handle, TVMFFIAny*, int32_t, TVMFFIAny*))
FUNCTION(void, TVMFFIErrorMoveFromRaised, (handle*))
FUNCTION(void, TVMFFIErrorSetRaised, (handle))
FUNCTION(void, TVMFFIErrorSetRaisedFromCStr, (const char*, const char*))
FUNCTION(void, TVMFFIErrorSetRaisedFromCStrParts, (const char*, const char**, int32_t))
FUNCTION(int, TVMFFIErrorCreate, (bytes, bytes, bytes, handle*))
FUNCTION(int, TVMFFIErrorCreateWithCauseAndExtraContext,
         (bytes, bytes, bytes, handle, handle, handle*))
FUNCTION(int, TVMFFITensorFromDLPack, (DLManagedTensor*, int32_t, int32_t, handle*))
FUNCTION(int, TVMFFITensorToDLPack, (handle, DLManagedTensor**))
FUNCTION(int, TVMFFITensorFromDLPackVersioned,
         (DLManagedTensorVersioned*, int32_t, int32_t, handle*))
FUNCTION(int, TVMFFITensorToDLPackVersioned, (handle, DLManagedTensorVersioned**))
FUNCTION(int, TVMFFITensorCreateUnsafeView, (handle, const DLTensor*, handle*))
FUNCTION(int, TVMFFIStringFromByteArray, (bytes, TVMFFIAny*))
FUNCTION(int, TVMFFIBytesFromByteArray, (bytes, TVMFFIAny*))
FUNCTION(int, TVMFFIBigIntFromByteArray, (bytes, TVMFFIAny*))
FUNCTION(TVMFFIByteArray, TVMFFIBigIntGetContentByteArray, (const TVMFFIAny*))
FUNCTION(int, TVMFFIDataTypeFromString, (bytes, DLDataType*))
FUNCTION(int, TVMFFIDataTypeToString, (const DLDataType*, TVMFFIAny*))
FUNCTION(int, TVMFFIFunctionSetGlobal, (bytes, handle, int))
FUNCTION(int, TVMFFIFunctionSetGlobalFromMethodInfo, (const TVMFFIMethodInfo*, int))
FUNCTION(int, TVMFFITypeRegisterField, (int32_t, const TVMFFIFieldInfo*))
FUNCTION(int, TVMFFITypeRegisterMethod, (int32_t, const TVMFFIMethodInfo*))
FUNCTION(int, TVMFFITypeRegisterMetadata, (int32_t, const TVMFFITypeMetadata*))
FUNCTION(int, TVMFFITypeRegisterAttr, (int32_t, bytes, const TVMFFIAny*))
FUNCTION(const TVMFFITypeAttrColumn*, TVMFFIGetTypeAttrColumn, (bytes))
FUNCTION(bytes, TVMFFIBacktrace, (const char*, int, const char*, int))
FUNCTION(int32_t, TVMFFITypeGetOrAllocIndex,
         (bytes, int32_t, int32_t, int32_t, int32_t, int32_t))
FUNCTION(const TVMFFITypeInfo*, TVMFFIGetTypeInfo, (int32_t))
FUNCTION(int, TVMFFIHandleInitOnce, (void**, int (*)(void**)))
FUNCTION(int, TVMFFIHandleDeinitOnce, (void**, int (*)(void*)))
FUNCTION(int, TVMFFIEnvSetStream, (int32_t, int32_t, TVMFFIStreamHandle, TVMFFIStreamHandle*))
FUNCTION(TVMFFIStreamHandle, TVMFFIEnvGetStream, (int32_t, int32_t))
FUNCTION(int, TVMFFIEnvSetDLPackManagedTensorAllocator,
         (DLPackManagedTensorAllocator, int, DLPackManagedTensorAllocator*))
FUNCTION(DLPackManagedTensorAllocator, TVMFFIEnvGetDLPackManagedTensorAllocator, (void))
FUNCTION(int, TVMFFIEnvTensorAlloc, (DLTensor*, handle*))
FUNCTION(int, TVMFFIEnvCheckSignals, (void))
FUNCTION(int, TVMFFIEnvRegisterCAPI, (const char*, void*))
FUNCTION(int, TVMFFIEnvModLookupFromImports, (handle, const char*, handle*))
FUNCTION(int, TVMFFIEnvModRegisterContextSymbol, (const char*, void*))
FUNCTION(int, TVMFFIEnvModRegisterSystemLibSymbol, (const char*, void*))

/* Functions of the headers' function types, used by members and arguments. */
static int safe_call(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  return self != NULL && args != NULL && result != NULL && num_args != 0;
}
static int getter(void* field, TVMFFIAny* result) { return field != NULL && result != NULL; }
static int setter(void* field, const TVMFFIAny* value) { return field != NULL && value != NULL; }
static int creator(TVMFFIObjectHandle* result) { return result != NULL; }
static int tensor_allocator(DLTensor* prototype, DLManagedTensorVersioned** out, void* error_ctx,
                            void (*set_error)(void*, const char*, const char*)) {
  return prototype != NULL && out != NULL && error_ctx != NULL && set_error != NULL;
}
static int from_object(void* object, DLManagedTensorVersioned** out) {
  return object != NULL && out != NULL;
}
static int to_object(DLManagedTensorVersioned* tensor, void** out) {
  return tensor != NULL && out != NULL;
}
static int view_of_object(void* object, DLTensor* out) { return object != NULL && out != NULL; }
static int current_stream(DLDeviceType type, int32_t id, void** out) {
  return type == kDLCPU && id == 0 && out != NULL;
}
static void object_deleter(void* self, int flags) {
  (void)self;
  (void)flags;
}
static void update_backtrace(TVMFFIObjectHandle self, const TVMFFIByteArray* text, int32_t mode) {
  (void)self;
  (void)text;
  (void)mode;
}
static void delete_managed(DLManagedTensor* self) { (void)self; }
static void delete_versioned(DLManagedTensorVersioned* self) { (void)self; }
static void* allocate(size_t size, size_t alignment, int32_t type_index, void* context) {
  return size + alignment == 0 && type_index == 0 ? context : NULL;
}
static void delete_space(void* object) { (void)object; }

int use_function_types(void);
int use_function_types(void) {
  TVMFFIObject object;
  TVMFFIFunctionCell function;
  TVMFFIErrorCell error;
  TVMFFIFieldInfo field;
  TVMFFITypeMetadata metadata;
  TVMFFISeqCell sequence;
  TVMFFICustomAllocator allocator;
  TVMFFIObjectAllocHeader header;
  DLManagedTensor managed;
  DLManagedTensorVersioned versioned;
  DLPackExchangeAPI api;
  TVMFFIFieldSetter set = setter;
  TVMFFIAny any;
  object.deleter = object_deleter;
  function.safe_call = safe_call;
  function.cpp_call = NULL;
  error.update_backtrace = update_backtrace;
  field.getter = getter;
  metadata.creator = creator;
  sequence.data_deleter = delete_space;
  allocator.allocate = allocate;
  header.delete_space = delete_space;
  managed.deleter = delete_managed;
  versioned.deleter = delete_versioned;
  api.managed_tensor_allocator = tensor_allocator;
  api.managed_tensor_from_py_object_no_sync = from_object;
  api.managed_tensor_to_py_object_no_sync = to_object;
  api.dltensor_from_py_object_no_sync = view_of_object;
  api.current_work_stream = current_stream;
  any.type_index = kTVMFFIDevice;
  any.zero_padding = 0;
  any.v_device.device_type = kDLCPU;
  any.v_device.device_id = 0;
  return object.deleter != NULL && function.safe_call != NULL && error.update_backtrace != NULL &&
         field.getter != NULL && metadata.creator != NULL && sequence.data_deleter != NULL &&
         allocator.allocate != NULL && header.delete_space != NULL && managed.deleter != NULL &&
         versioned.deleter != NULL && api.current_work_stream != NULL && set != NULL &&
         any.v_device.device_id == 0;
}
