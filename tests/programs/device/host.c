// tvm target: {"kind":"c","tag":"","keys":["cpu"]}
#define TVM_EXPORTS
#include "tvm/ffi/extra/c_env_api.h"
#include "tvm/runtime/base.h"
#include "tvm/runtime/c_backend_api.h"
#include "tvm/ffi/c_api.h"
#include <math.h>
#include <stdbool.h>
void* __tvm_ffi__library_ctx = NULL;
static void* __tvm_set_device_packed = NULL;
static void* add_one_kernel_packed = NULL;
static void* axpy_dyn_kernel_packed = NULL;
static void* matmul_kernel_packed = NULL;
static void* mlp_kernel_packed = NULL;
static void* mlp_kernel_1_packed = NULL;
#ifdef WITH_REVERSE_DYNSHARED
static void* reverse_dynshared_kernel_packed = NULL;
#endif
#ifdef WITH_SCALE_I64
static void* scale_i64_kernel_packed = NULL;
#endif
#ifdef WITH_SOFTMAX
static void* softmax_kernel_packed = NULL;
#endif
#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t __tvm_ffi_add_one(void* self_handle, void* args, int32_t num_args, void* result);
#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t __tvm_ffi_axpy_dyn(void* self_handle, void* args, int32_t num_args, void* result);
#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t __tvm_ffi_matmul(void* self_handle, void* args, int32_t num_args, void* result);
#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t __tvm_ffi_mlp(void* self_handle, void* args, int32_t num_args, void* result);
#ifdef WITH_REVERSE_DYNSHARED
#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t __tvm_ffi_reverse_dynshared(void* self_handle, void* args, int32_t num_args, void* result);
#endif
#ifdef WITH_SCALE_I64
#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t __tvm_ffi_scale_i64(void* self_handle, void* args, int32_t num_args, void* result);
#endif
#ifdef WITH_SOFTMAX
#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t __tvm_ffi_softmax(void* self_handle, void* args, int32_t num_args, void* result);
#endif
#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t __tvm_ffi_add_one(void* self_handle, void* args, int32_t num_args, void* result) {
  TVMFFIAny stack[5];
  void* stack_ffi_any = (void*)((void*)stack);
  if (!((num_args == 2))) {
    const char* __tvm_assert_parts[6] = {"Expected ", "2", " arguments", " when calling:\n  `", "add_one(x: Tensor([1024], float32), y: Tensor([1024], float32))", "`"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!(!(args == NULL))) {
    const char* __tvm_assert_parts[4] = {"args pointer is NULL", " when calling:\n  `", "add_one(x: Tensor([1024], float32), y: Tensor([1024], float32))", "`"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 4);
    return -1;
  }
  int32_t x_type_index = (((TVMFFIAny*)args)[0].type_index);
  if (!(((((x_type_index == 0) || (x_type_index == 4)) || (x_type_index == 7)) || (x_type_index >= 64)))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "0", " when calling:\n  `", "add_one(x: Tensor([1024], float32), y: Tensor([1024], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  void* condval;
  if (x_type_index == 70) {
    condval = ((void*)((char*)(((TVMFFIAny*)args)[0].v_ptr) + 24));
  } else {
    condval = (((TVMFFIAny*)args)[0].v_ptr);
  }
  void* x_handle = (void*)condval;
  int32_t y_type_index = (((TVMFFIAny*)args)[1].type_index);
  if (!(((((y_type_index == 0) || (y_type_index == 4)) || (y_type_index == 7)) || (y_type_index >= 64)))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "1", " when calling:\n  `", "add_one(x: Tensor([1024], float32), y: Tensor([1024], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  void* condval_1;
  if (y_type_index == 70) {
    condval_1 = ((void*)((char*)(((TVMFFIAny*)args)[1].v_ptr) + 24));
  } else {
    condval_1 = (((TVMFFIAny*)args)[1].v_ptr);
  }
  void* y_handle = (void*)condval_1;
  if (!(!(x_handle == NULL))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "0", " when calling:\n  `", "add_one(x: Tensor([1024], float32), y: Tensor([1024], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!((1 == (((DLTensor*)x_handle)[0].ndim)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "x", ".ndim on argument #", "0", " when calling:\n  `", "add_one(x: Tensor([1024], float32), y: Tensor([1024], float32))", "`,\n  expected ", "1"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((((((DLTensor*)x_handle)[0].dtype.code) == (uint8_t)2) && ((((DLTensor*)x_handle)[0].dtype.bits) == (uint8_t)32)) && ((((DLTensor*)x_handle)[0].dtype.lanes) == (uint16_t)1)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "x", ".dtype on argument #", "0", " when calling:\n  `", "add_one(x: Tensor([1024], float32), y: Tensor([1024], float32))", "`,\n  expected ", "float32"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 8);
    return -1;
  }
  int64_t* add_one_x_shape = (int64_t*)(((DLTensor*)x_handle)[0].shape);
  int64_t* add_one_x_strides = (int64_t*)(((DLTensor*)x_handle)[0].strides);
  if (!(((((DLTensor*)x_handle)[0].device.device_type) == DEVICE_TYPE))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "x", ".device_type on argument #", "0", " when calling:\n  `", "add_one(x: Tensor([1024], float32), y: Tensor([1024], float32))", "`,\n  expected ", DEVICE_NAME};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  int32_t dev_id = (((DLTensor*)x_handle)[0].device.device_id);
  if (!(!(y_handle == NULL))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "1", " when calling:\n  `", "add_one(x: Tensor([1024], float32), y: Tensor([1024], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!((1 == (((DLTensor*)y_handle)[0].ndim)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "y", ".ndim on argument #", "1", " when calling:\n  `", "add_one(x: Tensor([1024], float32), y: Tensor([1024], float32))", "`,\n  expected ", "1"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((((((DLTensor*)y_handle)[0].dtype.code) == (uint8_t)2) && ((((DLTensor*)y_handle)[0].dtype.bits) == (uint8_t)32)) && ((((DLTensor*)y_handle)[0].dtype.lanes) == (uint16_t)1)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "y", ".dtype on argument #", "1", " when calling:\n  `", "add_one(x: Tensor([1024], float32), y: Tensor([1024], float32))", "`,\n  expected ", "float32"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 8);
    return -1;
  }
  int64_t* add_one_y_shape = (int64_t*)(((DLTensor*)y_handle)[0].shape);
  int64_t* add_one_y_strides = (int64_t*)(((DLTensor*)y_handle)[0].strides);
  if (!(((((DLTensor*)y_handle)[0].device.device_type) == DEVICE_TYPE))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "y", ".device_type on argument #", "1", " when calling:\n  `", "add_one(x: Tensor([1024], float32), y: Tensor([1024], float32))", "`,\n  expected ", DEVICE_NAME};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(add_one_x_strides == NULL)) {
    if (!((1 == ((int32_t)(((int64_t*)add_one_x_strides)[0]))))) {
      const char* __tvm_assert_parts[7] = {"Mismatched ", "x", ".strides on argument #", "0", " when calling:\n  `", "add_one(x: Tensor([1024], float32), y: Tensor([1024], float32))", "`,\n  expected to be compact array"};
      TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 7);
      return -1;
    }
  }
  if (!(!(((float*)(((DLTensor*)x_handle)[0].data)) == NULL))) {
    const char* __tvm_assert_parts[6] = {"x", " data pointer is NULL on argument #", "0", " when calling:\n  `", "add_one(x: Tensor([1024], float32), y: Tensor([1024], float32))", "`,\n  expected non-NULL data pointer"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!(add_one_y_strides == NULL)) {
    if (!((1 == ((int32_t)(((int64_t*)add_one_y_strides)[0]))))) {
      const char* __tvm_assert_parts[7] = {"Mismatched ", "y", ".strides on argument #", "1", " when calling:\n  `", "add_one(x: Tensor([1024], float32), y: Tensor([1024], float32))", "`,\n  expected to be compact array"};
      TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 7);
      return -1;
    }
  }
  if (!((dev_id == (((DLTensor*)y_handle)[0].device.device_id)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "y.device_id", " on argument #", "1", " when calling:\n  `", "add_one(x: Tensor([1024], float32), y: Tensor([1024], float32))", "`,\n  expected to match ", "x.device_id"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(!(((float*)(((DLTensor*)y_handle)[0].data)) == NULL))) {
    const char* __tvm_assert_parts[6] = {"y", " data pointer is NULL on argument #", "1", " when calling:\n  `", "add_one(x: Tensor([1024], float32), y: Tensor([1024], float32))", "`,\n  expected non-NULL data pointer"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!((((int32_t)(((int64_t*)add_one_x_shape)[0])) == 1024))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "x.shape[0]", " on argument #", "0", " when calling:\n  `", "add_one(x: Tensor([1024], float32), y: Tensor([1024], float32))", "`,\n  expected ", "1024"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((uint64_t)0ULL == (((DLTensor*)x_handle)[0].byte_offset)))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "x.byte_offset", " on argument #", "0", " when calling:\n  `", "add_one(x: Tensor([1024], float32), y: Tensor([1024], float32))", "`,\n  expected ", "0"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!((((int32_t)(((int64_t*)add_one_y_shape)[0])) == 1024))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "y.shape[0]", " on argument #", "1", " when calling:\n  `", "add_one(x: Tensor([1024], float32), y: Tensor([1024], float32))", "`,\n  expected ", "1024"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((uint64_t)0ULL == (((DLTensor*)y_handle)[0].byte_offset)))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "y.byte_offset", " on argument #", "1", " when calling:\n  `", "add_one(x: Tensor([1024], float32), y: Tensor([1024], float32))", "`,\n  expected ", "0"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  float* x = ((float*)((float*)(((DLTensor*)x_handle)[0].data)));
  float* y = ((float*)((float*)(((DLTensor*)y_handle)[0].data)));
  (((TVMFFIAny*)stack_ffi_any)[0].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[0].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[0].v_int64) = ((int64_t)DEVICE_TYPE);
  (((TVMFFIAny*)stack_ffi_any)[1].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[1].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[1].v_int64) = ((int64_t)dev_id);
  (((TVMFFIAny*)stack_ffi_any)[2].type_index) = 0;
  (((TVMFFIAny*)stack_ffi_any)[2].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[2].v_int64) = (int64_t)0;
  if (__tvm_set_device_packed == NULL) {
    if (TVMFFIEnvModLookupFromImports(__tvm_ffi__library_ctx, "__tvm_set_device", &__tvm_set_device_packed) != 0) {
      return -1;
    }
  }
  TVMFFIAny result_1;
  result_1.type_index = kTVMFFINone;
  result_1.zero_padding = 0;
  result_1.v_int64 = 0;
  if (TVMFFIFunctionCall(__tvm_set_device_packed, (TVMFFIAny*) stack_ffi_any, 2, &result_1) != 0) {
    return -1;
  }
  if (x == NULL) {
    (((TVMFFIAny*)stack_ffi_any)[0].type_index) = 0;
  } else {
    (((TVMFFIAny*)stack_ffi_any)[0].type_index) = 4;
  }
  (((TVMFFIAny*)stack_ffi_any)[0].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[0].v_int64) = 0;
  (((TVMFFIAny*)stack_ffi_any)[0].v_ptr) = x;
  if (y == NULL) {
    (((TVMFFIAny*)stack_ffi_any)[1].type_index) = 0;
  } else {
    (((TVMFFIAny*)stack_ffi_any)[1].type_index) = 4;
  }
  (((TVMFFIAny*)stack_ffi_any)[1].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[1].v_int64) = 0;
  (((TVMFFIAny*)stack_ffi_any)[1].v_ptr) = y;
  (((TVMFFIAny*)stack_ffi_any)[2].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[2].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[2].v_int64) = ((int64_t)16);
  (((TVMFFIAny*)stack_ffi_any)[3].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[3].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[3].v_int64) = ((int64_t)64);
  (((TVMFFIAny*)stack_ffi_any)[4].type_index) = 0;
  (((TVMFFIAny*)stack_ffi_any)[4].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[4].v_int64) = (int64_t)0;
  if (add_one_kernel_packed == NULL) {
    if (TVMFFIEnvModLookupFromImports(__tvm_ffi__library_ctx, "add_one_kernel", &add_one_kernel_packed) != 0) {
      return -1;
    }
  }
  TVMFFIAny result_2;
  result_2.type_index = kTVMFFINone;
  result_2.zero_padding = 0;
  result_2.v_int64 = 0;
  if (TVMFFIFunctionCall(add_one_kernel_packed, (TVMFFIAny*) stack_ffi_any, 4, &result_2) != 0) {
    return -1;
  }
  return 0;
}

#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t __tvm_ffi_axpy_dyn(void* self_handle, void* args, int32_t num_args, void* result) {
  TVMFFIAny stack[8];
  void* stack_ffi_any = (void*)((void*)stack);
  if (!((num_args == 4))) {
    const char* __tvm_assert_parts[6] = {"Expected ", "4", " arguments", " when calling:\n  `", "axpy_dyn(x: Tensor([n], float32), y: Tensor([n], float32), a: float32, k: int32)", "`"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!(!(args == NULL))) {
    const char* __tvm_assert_parts[4] = {"args pointer is NULL", " when calling:\n  `", "axpy_dyn(x: Tensor([n], float32), y: Tensor([n], float32), a: float32, k: int32)", "`"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 4);
    return -1;
  }
  int32_t x_type_index = (((TVMFFIAny*)args)[0].type_index);
  if (!(((((x_type_index == 0) || (x_type_index == 4)) || (x_type_index == 7)) || (x_type_index >= 64)))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "0", " when calling:\n  `", "axpy_dyn(x: Tensor([n], float32), y: Tensor([n], float32), a: float32, k: int32)", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  void* condval;
  if (x_type_index == 70) {
    condval = ((void*)((char*)(((TVMFFIAny*)args)[0].v_ptr) + 24));
  } else {
    condval = (((TVMFFIAny*)args)[0].v_ptr);
  }
  void* x_handle = (void*)condval;
  int32_t y_type_index = (((TVMFFIAny*)args)[1].type_index);
  if (!(((((y_type_index == 0) || (y_type_index == 4)) || (y_type_index == 7)) || (y_type_index >= 64)))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "1", " when calling:\n  `", "axpy_dyn(x: Tensor([n], float32), y: Tensor([n], float32), a: float32, k: int32)", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  void* condval_1;
  if (y_type_index == 70) {
    condval_1 = ((void*)((char*)(((TVMFFIAny*)args)[1].v_ptr) + 24));
  } else {
    condval_1 = (((TVMFFIAny*)args)[1].v_ptr);
  }
  void* y_handle = (void*)condval_1;
  int32_t a_type_index = (((TVMFFIAny*)args)[2].type_index);
  if (!((((a_type_index == 3) || (a_type_index == 1)) || (a_type_index == 2)))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "2", " when calling:\n  `", "axpy_dyn(x: Tensor([n], float32), y: Tensor([n], float32), a: float32, k: int32)", "`,\n  expected ", "float"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  float a = ((a_type_index == 3) ? ((float)(((TVMFFIAny*)args)[2].v_float64)) : ((float)(((TVMFFIAny*)args)[2].v_int64)));
  int32_t k_type_index = (((TVMFFIAny*)args)[3].type_index);
  if (!(((k_type_index == 1) || (k_type_index == 2)))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "3", " when calling:\n  `", "axpy_dyn(x: Tensor([n], float32), y: Tensor([n], float32), a: float32, k: int32)", "`,\n  expected ", "int"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  int32_t k = ((int32_t)(((TVMFFIAny*)args)[3].v_int64));
  if (!(!(x_handle == NULL))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "0", " when calling:\n  `", "axpy_dyn(x: Tensor([n], float32), y: Tensor([n], float32), a: float32, k: int32)", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!((1 == (((DLTensor*)x_handle)[0].ndim)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "x", ".ndim on argument #", "0", " when calling:\n  `", "axpy_dyn(x: Tensor([n], float32), y: Tensor([n], float32), a: float32, k: int32)", "`,\n  expected ", "1"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((((((DLTensor*)x_handle)[0].dtype.code) == (uint8_t)2) && ((((DLTensor*)x_handle)[0].dtype.bits) == (uint8_t)32)) && ((((DLTensor*)x_handle)[0].dtype.lanes) == (uint16_t)1)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "x", ".dtype on argument #", "0", " when calling:\n  `", "axpy_dyn(x: Tensor([n], float32), y: Tensor([n], float32), a: float32, k: int32)", "`,\n  expected ", "float32"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 8);
    return -1;
  }
  int64_t* axpy_dyn_x_shape = (int64_t*)(((DLTensor*)x_handle)[0].shape);
  int32_t n = ((int32_t)(((int64_t*)axpy_dyn_x_shape)[0]));
  int64_t* axpy_dyn_x_strides = (int64_t*)(((DLTensor*)x_handle)[0].strides);
  if (!(((((DLTensor*)x_handle)[0].device.device_type) == DEVICE_TYPE))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "x", ".device_type on argument #", "0", " when calling:\n  `", "axpy_dyn(x: Tensor([n], float32), y: Tensor([n], float32), a: float32, k: int32)", "`,\n  expected ", DEVICE_NAME};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  int32_t dev_id = (((DLTensor*)x_handle)[0].device.device_id);
  if (!(!(y_handle == NULL))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "1", " when calling:\n  `", "axpy_dyn(x: Tensor([n], float32), y: Tensor([n], float32), a: float32, k: int32)", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!((1 == (((DLTensor*)y_handle)[0].ndim)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "y", ".ndim on argument #", "1", " when calling:\n  `", "axpy_dyn(x: Tensor([n], float32), y: Tensor([n], float32), a: float32, k: int32)", "`,\n  expected ", "1"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((((((DLTensor*)y_handle)[0].dtype.code) == (uint8_t)2) && ((((DLTensor*)y_handle)[0].dtype.bits) == (uint8_t)32)) && ((((DLTensor*)y_handle)[0].dtype.lanes) == (uint16_t)1)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "y", ".dtype on argument #", "1", " when calling:\n  `", "axpy_dyn(x: Tensor([n], float32), y: Tensor([n], float32), a: float32, k: int32)", "`,\n  expected ", "float32"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 8);
    return -1;
  }
  int64_t* axpy_dyn_y_shape = (int64_t*)(((DLTensor*)y_handle)[0].shape);
  int64_t* axpy_dyn_y_strides = (int64_t*)(((DLTensor*)y_handle)[0].strides);
  if (!(((((DLTensor*)y_handle)[0].device.device_type) == DEVICE_TYPE))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "y", ".device_type on argument #", "1", " when calling:\n  `", "axpy_dyn(x: Tensor([n], float32), y: Tensor([n], float32), a: float32, k: int32)", "`,\n  expected ", DEVICE_NAME};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(axpy_dyn_x_strides == NULL)) {
    if (!(((n == 1) || (1 == ((int32_t)(((int64_t*)axpy_dyn_x_strides)[0])))))) {
      const char* __tvm_assert_parts[7] = {"Mismatched ", "x", ".strides on argument #", "0", " when calling:\n  `", "axpy_dyn(x: Tensor([n], float32), y: Tensor([n], float32), a: float32, k: int32)", "`,\n  expected to be compact array"};
      TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 7);
      return -1;
    }
  }
  if (!(((n == 0) || !(((float*)(((DLTensor*)x_handle)[0].data)) == NULL)))) {
    const char* __tvm_assert_parts[6] = {"x", " data pointer is NULL on argument #", "0", " when calling:\n  `", "axpy_dyn(x: Tensor([n], float32), y: Tensor([n], float32), a: float32, k: int32)", "`,\n  expected non-NULL data pointer"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!((n == ((int32_t)(((int64_t*)axpy_dyn_y_shape)[0]))))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "y.shape[0]", " on argument #", "1", " when calling:\n  `", "axpy_dyn(x: Tensor([n], float32), y: Tensor([n], float32), a: float32, k: int32)", "`,\n  expected to match ", "x.shape[0]"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(axpy_dyn_y_strides == NULL)) {
    if (!(((n == 1) || (1 == ((int32_t)(((int64_t*)axpy_dyn_y_strides)[0])))))) {
      const char* __tvm_assert_parts[7] = {"Mismatched ", "y", ".strides on argument #", "1", " when calling:\n  `", "axpy_dyn(x: Tensor([n], float32), y: Tensor([n], float32), a: float32, k: int32)", "`,\n  expected to be compact array"};
      TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 7);
      return -1;
    }
  }
  if (!((dev_id == (((DLTensor*)y_handle)[0].device.device_id)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "y.device_id", " on argument #", "1", " when calling:\n  `", "axpy_dyn(x: Tensor([n], float32), y: Tensor([n], float32), a: float32, k: int32)", "`,\n  expected to match ", "x.device_id"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((n == 0) || !(((float*)(((DLTensor*)y_handle)[0].data)) == NULL)))) {
    const char* __tvm_assert_parts[6] = {"y", " data pointer is NULL on argument #", "1", " when calling:\n  `", "axpy_dyn(x: Tensor([n], float32), y: Tensor([n], float32), a: float32, k: int32)", "`,\n  expected non-NULL data pointer"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!(((uint64_t)0ULL == (((DLTensor*)x_handle)[0].byte_offset)))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "x.byte_offset", " on argument #", "0", " when calling:\n  `", "axpy_dyn(x: Tensor([n], float32), y: Tensor([n], float32), a: float32, k: int32)", "`,\n  expected ", "0"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((uint64_t)0ULL == (((DLTensor*)y_handle)[0].byte_offset)))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "y.byte_offset", " on argument #", "1", " when calling:\n  `", "axpy_dyn(x: Tensor([n], float32), y: Tensor([n], float32), a: float32, k: int32)", "`,\n  expected ", "0"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  float* x = ((float*)((float*)(((DLTensor*)x_handle)[0].data)));
  float* y = ((float*)((float*)(((DLTensor*)y_handle)[0].data)));
  (((TVMFFIAny*)stack_ffi_any)[0].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[0].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[0].v_int64) = ((int64_t)DEVICE_TYPE);
  (((TVMFFIAny*)stack_ffi_any)[1].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[1].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[1].v_int64) = ((int64_t)dev_id);
  (((TVMFFIAny*)stack_ffi_any)[2].type_index) = 0;
  (((TVMFFIAny*)stack_ffi_any)[2].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[2].v_int64) = (int64_t)0;
  if (__tvm_set_device_packed == NULL) {
    if (TVMFFIEnvModLookupFromImports(__tvm_ffi__library_ctx, "__tvm_set_device", &__tvm_set_device_packed) != 0) {
      return -1;
    }
  }
  TVMFFIAny result_1;
  result_1.type_index = kTVMFFINone;
  result_1.zero_padding = 0;
  result_1.v_int64 = 0;
  if (TVMFFIFunctionCall(__tvm_set_device_packed, (TVMFFIAny*) stack_ffi_any, 2, &result_1) != 0) {
    return -1;
  }
  if (x == NULL) {
    (((TVMFFIAny*)stack_ffi_any)[0].type_index) = 0;
  } else {
    (((TVMFFIAny*)stack_ffi_any)[0].type_index) = 4;
  }
  (((TVMFFIAny*)stack_ffi_any)[0].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[0].v_int64) = 0;
  (((TVMFFIAny*)stack_ffi_any)[0].v_ptr) = x;
  if (y == NULL) {
    (((TVMFFIAny*)stack_ffi_any)[1].type_index) = 0;
  } else {
    (((TVMFFIAny*)stack_ffi_any)[1].type_index) = 4;
  }
  (((TVMFFIAny*)stack_ffi_any)[1].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[1].v_int64) = 0;
  (((TVMFFIAny*)stack_ffi_any)[1].v_ptr) = y;
  (((TVMFFIAny*)stack_ffi_any)[2].type_index) = 3;
  (((TVMFFIAny*)stack_ffi_any)[2].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[2].v_float64) = ((double)a);
  (((TVMFFIAny*)stack_ffi_any)[3].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[3].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[3].v_int64) = ((int64_t)k);
  (((TVMFFIAny*)stack_ffi_any)[4].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[4].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[4].v_int64) = ((int64_t)n);
  (((TVMFFIAny*)stack_ffi_any)[5].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[5].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[5].v_int64) = ((int64_t)((n + 63) >> 6));
  (((TVMFFIAny*)stack_ffi_any)[6].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[6].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[6].v_int64) = ((int64_t)64);
  (((TVMFFIAny*)stack_ffi_any)[7].type_index) = 0;
  (((TVMFFIAny*)stack_ffi_any)[7].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[7].v_int64) = (int64_t)0;
  if (axpy_dyn_kernel_packed == NULL) {
    if (TVMFFIEnvModLookupFromImports(__tvm_ffi__library_ctx, "axpy_dyn_kernel", &axpy_dyn_kernel_packed) != 0) {
      return -1;
    }
  }
  TVMFFIAny result_2;
  result_2.type_index = kTVMFFINone;
  result_2.zero_padding = 0;
  result_2.v_int64 = 0;
  if (TVMFFIFunctionCall(axpy_dyn_kernel_packed, (TVMFFIAny*) stack_ffi_any, 7, &result_2) != 0) {
    return -1;
  }
  return 0;
}

#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t __tvm_ffi_matmul(void* self_handle, void* args, int32_t num_args, void* result) {
  TVMFFIAny stack[8];
  void* stack_ffi_any = (void*)((void*)stack);
  if (!((num_args == 3))) {
    const char* __tvm_assert_parts[6] = {"Expected ", "3", " arguments", " when calling:\n  `", "matmul(A: Tensor([64, 64], float32), B: Tensor([64, 64], float32), C: Tensor([64, 64], float32))", "`"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!(!(args == NULL))) {
    const char* __tvm_assert_parts[4] = {"args pointer is NULL", " when calling:\n  `", "matmul(A: Tensor([64, 64], float32), B: Tensor([64, 64], float32), C: Tensor([64, 64], float32))", "`"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 4);
    return -1;
  }
  int32_t A_type_index = (((TVMFFIAny*)args)[0].type_index);
  if (!(((((A_type_index == 0) || (A_type_index == 4)) || (A_type_index == 7)) || (A_type_index >= 64)))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "0", " when calling:\n  `", "matmul(A: Tensor([64, 64], float32), B: Tensor([64, 64], float32), C: Tensor([64, 64], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  void* condval;
  if (A_type_index == 70) {
    condval = ((void*)((char*)(((TVMFFIAny*)args)[0].v_ptr) + 24));
  } else {
    condval = (((TVMFFIAny*)args)[0].v_ptr);
  }
  void* A_handle = (void*)condval;
  int32_t B_type_index = (((TVMFFIAny*)args)[1].type_index);
  if (!(((((B_type_index == 0) || (B_type_index == 4)) || (B_type_index == 7)) || (B_type_index >= 64)))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "1", " when calling:\n  `", "matmul(A: Tensor([64, 64], float32), B: Tensor([64, 64], float32), C: Tensor([64, 64], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  void* condval_1;
  if (B_type_index == 70) {
    condval_1 = ((void*)((char*)(((TVMFFIAny*)args)[1].v_ptr) + 24));
  } else {
    condval_1 = (((TVMFFIAny*)args)[1].v_ptr);
  }
  void* B_handle = (void*)condval_1;
  int32_t C_type_index = (((TVMFFIAny*)args)[2].type_index);
  if (!(((((C_type_index == 0) || (C_type_index == 4)) || (C_type_index == 7)) || (C_type_index >= 64)))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "2", " when calling:\n  `", "matmul(A: Tensor([64, 64], float32), B: Tensor([64, 64], float32), C: Tensor([64, 64], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  void* condval_2;
  if (C_type_index == 70) {
    condval_2 = ((void*)((char*)(((TVMFFIAny*)args)[2].v_ptr) + 24));
  } else {
    condval_2 = (((TVMFFIAny*)args)[2].v_ptr);
  }
  void* C_handle = (void*)condval_2;
  if (!(!(A_handle == NULL))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "0", " when calling:\n  `", "matmul(A: Tensor([64, 64], float32), B: Tensor([64, 64], float32), C: Tensor([64, 64], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!((2 == (((DLTensor*)A_handle)[0].ndim)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "A", ".ndim on argument #", "0", " when calling:\n  `", "matmul(A: Tensor([64, 64], float32), B: Tensor([64, 64], float32), C: Tensor([64, 64], float32))", "`,\n  expected ", "2"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((((((DLTensor*)A_handle)[0].dtype.code) == (uint8_t)2) && ((((DLTensor*)A_handle)[0].dtype.bits) == (uint8_t)32)) && ((((DLTensor*)A_handle)[0].dtype.lanes) == (uint16_t)1)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "A", ".dtype on argument #", "0", " when calling:\n  `", "matmul(A: Tensor([64, 64], float32), B: Tensor([64, 64], float32), C: Tensor([64, 64], float32))", "`,\n  expected ", "float32"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 8);
    return -1;
  }
  int64_t* matmul_A_shape = (int64_t*)(((DLTensor*)A_handle)[0].shape);
  int64_t* matmul_A_strides = (int64_t*)(((DLTensor*)A_handle)[0].strides);
  if (!(((((DLTensor*)A_handle)[0].device.device_type) == DEVICE_TYPE))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "A", ".device_type on argument #", "0", " when calling:\n  `", "matmul(A: Tensor([64, 64], float32), B: Tensor([64, 64], float32), C: Tensor([64, 64], float32))", "`,\n  expected ", DEVICE_NAME};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  int32_t dev_id = (((DLTensor*)A_handle)[0].device.device_id);
  if (!(!(B_handle == NULL))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "1", " when calling:\n  `", "matmul(A: Tensor([64, 64], float32), B: Tensor([64, 64], float32), C: Tensor([64, 64], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!((2 == (((DLTensor*)B_handle)[0].ndim)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "B", ".ndim on argument #", "1", " when calling:\n  `", "matmul(A: Tensor([64, 64], float32), B: Tensor([64, 64], float32), C: Tensor([64, 64], float32))", "`,\n  expected ", "2"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((((((DLTensor*)B_handle)[0].dtype.code) == (uint8_t)2) && ((((DLTensor*)B_handle)[0].dtype.bits) == (uint8_t)32)) && ((((DLTensor*)B_handle)[0].dtype.lanes) == (uint16_t)1)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "B", ".dtype on argument #", "1", " when calling:\n  `", "matmul(A: Tensor([64, 64], float32), B: Tensor([64, 64], float32), C: Tensor([64, 64], float32))", "`,\n  expected ", "float32"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 8);
    return -1;
  }
  int64_t* matmul_B_shape = (int64_t*)(((DLTensor*)B_handle)[0].shape);
  int64_t* matmul_B_strides = (int64_t*)(((DLTensor*)B_handle)[0].strides);
  if (!(((((DLTensor*)B_handle)[0].device.device_type) == DEVICE_TYPE))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "B", ".device_type on argument #", "1", " when calling:\n  `", "matmul(A: Tensor([64, 64], float32), B: Tensor([64, 64], float32), C: Tensor([64, 64], float32))", "`,\n  expected ", DEVICE_NAME};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(!(C_handle == NULL))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "2", " when calling:\n  `", "matmul(A: Tensor([64, 64], float32), B: Tensor([64, 64], float32), C: Tensor([64, 64], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!((2 == (((DLTensor*)C_handle)[0].ndim)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "C", ".ndim on argument #", "2", " when calling:\n  `", "matmul(A: Tensor([64, 64], float32), B: Tensor([64, 64], float32), C: Tensor([64, 64], float32))", "`,\n  expected ", "2"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((((((DLTensor*)C_handle)[0].dtype.code) == (uint8_t)2) && ((((DLTensor*)C_handle)[0].dtype.bits) == (uint8_t)32)) && ((((DLTensor*)C_handle)[0].dtype.lanes) == (uint16_t)1)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "C", ".dtype on argument #", "2", " when calling:\n  `", "matmul(A: Tensor([64, 64], float32), B: Tensor([64, 64], float32), C: Tensor([64, 64], float32))", "`,\n  expected ", "float32"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 8);
    return -1;
  }
  int64_t* matmul_C_shape = (int64_t*)(((DLTensor*)C_handle)[0].shape);
  int64_t* matmul_C_strides = (int64_t*)(((DLTensor*)C_handle)[0].strides);
  if (!(((((DLTensor*)C_handle)[0].device.device_type) == DEVICE_TYPE))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "C", ".device_type on argument #", "2", " when calling:\n  `", "matmul(A: Tensor([64, 64], float32), B: Tensor([64, 64], float32), C: Tensor([64, 64], float32))", "`,\n  expected ", DEVICE_NAME};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(matmul_A_strides == NULL)) {
    if (!(((1 == ((int32_t)(((int64_t*)matmul_A_strides)[1]))) && (64 == ((int32_t)(((int64_t*)matmul_A_strides)[0])))))) {
      const char* __tvm_assert_parts[7] = {"Mismatched ", "A", ".strides on argument #", "0", " when calling:\n  `", "matmul(A: Tensor([64, 64], float32), B: Tensor([64, 64], float32), C: Tensor([64, 64], float32))", "`,\n  expected to be compact array"};
      TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 7);
      return -1;
    }
  }
  if (!(!(((float*)(((DLTensor*)A_handle)[0].data)) == NULL))) {
    const char* __tvm_assert_parts[6] = {"A", " data pointer is NULL on argument #", "0", " when calling:\n  `", "matmul(A: Tensor([64, 64], float32), B: Tensor([64, 64], float32), C: Tensor([64, 64], float32))", "`,\n  expected non-NULL data pointer"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!(matmul_B_strides == NULL)) {
    if (!(((1 == ((int32_t)(((int64_t*)matmul_B_strides)[1]))) && (64 == ((int32_t)(((int64_t*)matmul_B_strides)[0])))))) {
      const char* __tvm_assert_parts[7] = {"Mismatched ", "B", ".strides on argument #", "1", " when calling:\n  `", "matmul(A: Tensor([64, 64], float32), B: Tensor([64, 64], float32), C: Tensor([64, 64], float32))", "`,\n  expected to be compact array"};
      TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 7);
      return -1;
    }
  }
  if (!((dev_id == (((DLTensor*)B_handle)[0].device.device_id)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "B.device_id", " on argument #", "1", " when calling:\n  `", "matmul(A: Tensor([64, 64], float32), B: Tensor([64, 64], float32), C: Tensor([64, 64], float32))", "`,\n  expected to match ", "A.device_id"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(!(((float*)(((DLTensor*)B_handle)[0].data)) == NULL))) {
    const char* __tvm_assert_parts[6] = {"B", " data pointer is NULL on argument #", "1", " when calling:\n  `", "matmul(A: Tensor([64, 64], float32), B: Tensor([64, 64], float32), C: Tensor([64, 64], float32))", "`,\n  expected non-NULL data pointer"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!(matmul_C_strides == NULL)) {
    if (!(((1 == ((int32_t)(((int64_t*)matmul_C_strides)[1]))) && (64 == ((int32_t)(((int64_t*)matmul_C_strides)[0])))))) {
      const char* __tvm_assert_parts[7] = {"Mismatched ", "C", ".strides on argument #", "2", " when calling:\n  `", "matmul(A: Tensor([64, 64], float32), B: Tensor([64, 64], float32), C: Tensor([64, 64], float32))", "`,\n  expected to be compact array"};
      TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 7);
      return -1;
    }
  }
  if (!((dev_id == (((DLTensor*)C_handle)[0].device.device_id)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "C.device_id", " on argument #", "2", " when calling:\n  `", "matmul(A: Tensor([64, 64], float32), B: Tensor([64, 64], float32), C: Tensor([64, 64], float32))", "`,\n  expected to match ", "A.device_id"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(!(((float*)(((DLTensor*)C_handle)[0].data)) == NULL))) {
    const char* __tvm_assert_parts[6] = {"C", " data pointer is NULL on argument #", "2", " when calling:\n  `", "matmul(A: Tensor([64, 64], float32), B: Tensor([64, 64], float32), C: Tensor([64, 64], float32))", "`,\n  expected non-NULL data pointer"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!((((int32_t)(((int64_t*)matmul_A_shape)[0])) == 64))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "A.shape[0]", " on argument #", "0", " when calling:\n  `", "matmul(A: Tensor([64, 64], float32), B: Tensor([64, 64], float32), C: Tensor([64, 64], float32))", "`,\n  expected ", "64"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!((((int32_t)(((int64_t*)matmul_A_shape)[1])) == 64))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "A.shape[1]", " on argument #", "0", " when calling:\n  `", "matmul(A: Tensor([64, 64], float32), B: Tensor([64, 64], float32), C: Tensor([64, 64], float32))", "`,\n  expected ", "64"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((uint64_t)0ULL == (((DLTensor*)A_handle)[0].byte_offset)))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "A.byte_offset", " on argument #", "0", " when calling:\n  `", "matmul(A: Tensor([64, 64], float32), B: Tensor([64, 64], float32), C: Tensor([64, 64], float32))", "`,\n  expected ", "0"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!((((int32_t)(((int64_t*)matmul_B_shape)[0])) == 64))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "B.shape[0]", " on argument #", "1", " when calling:\n  `", "matmul(A: Tensor([64, 64], float32), B: Tensor([64, 64], float32), C: Tensor([64, 64], float32))", "`,\n  expected ", "64"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!((((int32_t)(((int64_t*)matmul_B_shape)[1])) == 64))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "B.shape[1]", " on argument #", "1", " when calling:\n  `", "matmul(A: Tensor([64, 64], float32), B: Tensor([64, 64], float32), C: Tensor([64, 64], float32))", "`,\n  expected ", "64"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((uint64_t)0ULL == (((DLTensor*)B_handle)[0].byte_offset)))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "B.byte_offset", " on argument #", "1", " when calling:\n  `", "matmul(A: Tensor([64, 64], float32), B: Tensor([64, 64], float32), C: Tensor([64, 64], float32))", "`,\n  expected ", "0"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!((((int32_t)(((int64_t*)matmul_C_shape)[0])) == 64))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "C.shape[0]", " on argument #", "2", " when calling:\n  `", "matmul(A: Tensor([64, 64], float32), B: Tensor([64, 64], float32), C: Tensor([64, 64], float32))", "`,\n  expected ", "64"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!((((int32_t)(((int64_t*)matmul_C_shape)[1])) == 64))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "C.shape[1]", " on argument #", "2", " when calling:\n  `", "matmul(A: Tensor([64, 64], float32), B: Tensor([64, 64], float32), C: Tensor([64, 64], float32))", "`,\n  expected ", "64"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((uint64_t)0ULL == (((DLTensor*)C_handle)[0].byte_offset)))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "C.byte_offset", " on argument #", "2", " when calling:\n  `", "matmul(A: Tensor([64, 64], float32), B: Tensor([64, 64], float32), C: Tensor([64, 64], float32))", "`,\n  expected ", "0"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  float* A = ((float*)((float*)(((DLTensor*)A_handle)[0].data)));
  float* B = ((float*)((float*)(((DLTensor*)B_handle)[0].data)));
  float* C = ((float*)((float*)(((DLTensor*)C_handle)[0].data)));
  (((TVMFFIAny*)stack_ffi_any)[0].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[0].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[0].v_int64) = ((int64_t)DEVICE_TYPE);
  (((TVMFFIAny*)stack_ffi_any)[1].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[1].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[1].v_int64) = ((int64_t)dev_id);
  (((TVMFFIAny*)stack_ffi_any)[2].type_index) = 0;
  (((TVMFFIAny*)stack_ffi_any)[2].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[2].v_int64) = (int64_t)0;
  if (__tvm_set_device_packed == NULL) {
    if (TVMFFIEnvModLookupFromImports(__tvm_ffi__library_ctx, "__tvm_set_device", &__tvm_set_device_packed) != 0) {
      return -1;
    }
  }
  TVMFFIAny result_1;
  result_1.type_index = kTVMFFINone;
  result_1.zero_padding = 0;
  result_1.v_int64 = 0;
  if (TVMFFIFunctionCall(__tvm_set_device_packed, (TVMFFIAny*) stack_ffi_any, 2, &result_1) != 0) {
    return -1;
  }
  if (A == NULL) {
    (((TVMFFIAny*)stack_ffi_any)[0].type_index) = 0;
  } else {
    (((TVMFFIAny*)stack_ffi_any)[0].type_index) = 4;
  }
  (((TVMFFIAny*)stack_ffi_any)[0].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[0].v_int64) = 0;
  (((TVMFFIAny*)stack_ffi_any)[0].v_ptr) = A;
  if (B == NULL) {
    (((TVMFFIAny*)stack_ffi_any)[1].type_index) = 0;
  } else {
    (((TVMFFIAny*)stack_ffi_any)[1].type_index) = 4;
  }
  (((TVMFFIAny*)stack_ffi_any)[1].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[1].v_int64) = 0;
  (((TVMFFIAny*)stack_ffi_any)[1].v_ptr) = B;
  if (C == NULL) {
    (((TVMFFIAny*)stack_ffi_any)[2].type_index) = 0;
  } else {
    (((TVMFFIAny*)stack_ffi_any)[2].type_index) = 4;
  }
  (((TVMFFIAny*)stack_ffi_any)[2].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[2].v_int64) = 0;
  (((TVMFFIAny*)stack_ffi_any)[2].v_ptr) = C;
  (((TVMFFIAny*)stack_ffi_any)[3].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[3].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[3].v_int64) = ((int64_t)4);
  (((TVMFFIAny*)stack_ffi_any)[4].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[4].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[4].v_int64) = ((int64_t)4);
  (((TVMFFIAny*)stack_ffi_any)[5].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[5].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[5].v_int64) = ((int64_t)16);
  (((TVMFFIAny*)stack_ffi_any)[6].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[6].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[6].v_int64) = ((int64_t)16);
  (((TVMFFIAny*)stack_ffi_any)[7].type_index) = 0;
  (((TVMFFIAny*)stack_ffi_any)[7].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[7].v_int64) = (int64_t)0;
  if (matmul_kernel_packed == NULL) {
    if (TVMFFIEnvModLookupFromImports(__tvm_ffi__library_ctx, "matmul_kernel", &matmul_kernel_packed) != 0) {
      return -1;
    }
  }
  TVMFFIAny result_2;
  result_2.type_index = kTVMFFINone;
  result_2.zero_padding = 0;
  result_2.v_int64 = 0;
  if (TVMFFIFunctionCall(matmul_kernel_packed, (TVMFFIAny*) stack_ffi_any, 7, &result_2) != 0) {
    return -1;
  }
  return 0;
}

#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t __tvm_ffi_mlp(void* self_handle, void* args, int32_t num_args, void* result) {
  TVMFFIAny stack[7];
  void* stack_ffi_any = (void*)((void*)stack);
  if (!((num_args == 6))) {
    const char* __tvm_assert_parts[6] = {"Expected ", "6", " arguments", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!(!(args == NULL))) {
    const char* __tvm_assert_parts[4] = {"args pointer is NULL", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 4);
    return -1;
  }
  int32_t x_type_index = (((TVMFFIAny*)args)[0].type_index);
  if (!(((((x_type_index == 0) || (x_type_index == 4)) || (x_type_index == 7)) || (x_type_index >= 64)))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "0", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  void* condval;
  if (x_type_index == 70) {
    condval = ((void*)((char*)(((TVMFFIAny*)args)[0].v_ptr) + 24));
  } else {
    condval = (((TVMFFIAny*)args)[0].v_ptr);
  }
  void* x_handle = (void*)condval;
  int32_t w1_type_index = (((TVMFFIAny*)args)[1].type_index);
  if (!(((((w1_type_index == 0) || (w1_type_index == 4)) || (w1_type_index == 7)) || (w1_type_index >= 64)))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "1", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  void* condval_1;
  if (w1_type_index == 70) {
    condval_1 = ((void*)((char*)(((TVMFFIAny*)args)[1].v_ptr) + 24));
  } else {
    condval_1 = (((TVMFFIAny*)args)[1].v_ptr);
  }
  void* w1_handle = (void*)condval_1;
  int32_t b1_type_index = (((TVMFFIAny*)args)[2].type_index);
  if (!(((((b1_type_index == 0) || (b1_type_index == 4)) || (b1_type_index == 7)) || (b1_type_index >= 64)))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "2", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  void* condval_2;
  if (b1_type_index == 70) {
    condval_2 = ((void*)((char*)(((TVMFFIAny*)args)[2].v_ptr) + 24));
  } else {
    condval_2 = (((TVMFFIAny*)args)[2].v_ptr);
  }
  void* b1_handle = (void*)condval_2;
  int32_t w2_type_index = (((TVMFFIAny*)args)[3].type_index);
  if (!(((((w2_type_index == 0) || (w2_type_index == 4)) || (w2_type_index == 7)) || (w2_type_index >= 64)))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "3", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  void* condval_3;
  if (w2_type_index == 70) {
    condval_3 = ((void*)((char*)(((TVMFFIAny*)args)[3].v_ptr) + 24));
  } else {
    condval_3 = (((TVMFFIAny*)args)[3].v_ptr);
  }
  void* w2_handle = (void*)condval_3;
  int32_t b2_type_index = (((TVMFFIAny*)args)[4].type_index);
  if (!(((((b2_type_index == 0) || (b2_type_index == 4)) || (b2_type_index == 7)) || (b2_type_index >= 64)))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "4", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  void* condval_4;
  if (b2_type_index == 70) {
    condval_4 = ((void*)((char*)(((TVMFFIAny*)args)[4].v_ptr) + 24));
  } else {
    condval_4 = (((TVMFFIAny*)args)[4].v_ptr);
  }
  void* b2_handle = (void*)condval_4;
  int32_t out_type_index = (((TVMFFIAny*)args)[5].type_index);
  if (!(((((out_type_index == 0) || (out_type_index == 4)) || (out_type_index == 7)) || (out_type_index >= 64)))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "5", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  void* condval_5;
  if (out_type_index == 70) {
    condval_5 = ((void*)((char*)(((TVMFFIAny*)args)[5].v_ptr) + 24));
  } else {
    condval_5 = (((TVMFFIAny*)args)[5].v_ptr);
  }
  void* out_handle = (void*)condval_5;
  if (!(!(x_handle == NULL))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "0", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!((2 == (((DLTensor*)x_handle)[0].ndim)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "x", ".ndim on argument #", "0", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "2"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((((((DLTensor*)x_handle)[0].dtype.code) == (uint8_t)2) && ((((DLTensor*)x_handle)[0].dtype.bits) == (uint8_t)32)) && ((((DLTensor*)x_handle)[0].dtype.lanes) == (uint16_t)1)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "x", ".dtype on argument #", "0", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "float32"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 8);
    return -1;
  }
  int64_t* mlp_x_shape = (int64_t*)(((DLTensor*)x_handle)[0].shape);
  int64_t* mlp_x_strides = (int64_t*)(((DLTensor*)x_handle)[0].strides);
  if (!(((((DLTensor*)x_handle)[0].device.device_type) == DEVICE_TYPE))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "x", ".device_type on argument #", "0", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", DEVICE_NAME};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  int32_t dev_id = (((DLTensor*)x_handle)[0].device.device_id);
  if (!(!(w1_handle == NULL))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "1", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!((2 == (((DLTensor*)w1_handle)[0].ndim)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "w1", ".ndim on argument #", "1", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "2"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((((((DLTensor*)w1_handle)[0].dtype.code) == (uint8_t)2) && ((((DLTensor*)w1_handle)[0].dtype.bits) == (uint8_t)32)) && ((((DLTensor*)w1_handle)[0].dtype.lanes) == (uint16_t)1)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "w1", ".dtype on argument #", "1", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "float32"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 8);
    return -1;
  }
  int64_t* mlp_w1_shape = (int64_t*)(((DLTensor*)w1_handle)[0].shape);
  int64_t* mlp_w1_strides = (int64_t*)(((DLTensor*)w1_handle)[0].strides);
  if (!(((((DLTensor*)w1_handle)[0].device.device_type) == DEVICE_TYPE))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "w1", ".device_type on argument #", "1", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", DEVICE_NAME};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(!(b1_handle == NULL))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "2", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!((1 == (((DLTensor*)b1_handle)[0].ndim)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "b1", ".ndim on argument #", "2", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "1"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((((((DLTensor*)b1_handle)[0].dtype.code) == (uint8_t)2) && ((((DLTensor*)b1_handle)[0].dtype.bits) == (uint8_t)32)) && ((((DLTensor*)b1_handle)[0].dtype.lanes) == (uint16_t)1)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "b1", ".dtype on argument #", "2", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "float32"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 8);
    return -1;
  }
  int64_t* mlp_b1_shape = (int64_t*)(((DLTensor*)b1_handle)[0].shape);
  int64_t* mlp_b1_strides = (int64_t*)(((DLTensor*)b1_handle)[0].strides);
  if (!(((((DLTensor*)b1_handle)[0].device.device_type) == DEVICE_TYPE))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "b1", ".device_type on argument #", "2", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", DEVICE_NAME};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(!(w2_handle == NULL))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "3", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!((2 == (((DLTensor*)w2_handle)[0].ndim)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "w2", ".ndim on argument #", "3", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "2"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((((((DLTensor*)w2_handle)[0].dtype.code) == (uint8_t)2) && ((((DLTensor*)w2_handle)[0].dtype.bits) == (uint8_t)32)) && ((((DLTensor*)w2_handle)[0].dtype.lanes) == (uint16_t)1)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "w2", ".dtype on argument #", "3", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "float32"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 8);
    return -1;
  }
  int64_t* mlp_w2_shape = (int64_t*)(((DLTensor*)w2_handle)[0].shape);
  int64_t* mlp_w2_strides = (int64_t*)(((DLTensor*)w2_handle)[0].strides);
  if (!(((((DLTensor*)w2_handle)[0].device.device_type) == DEVICE_TYPE))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "w2", ".device_type on argument #", "3", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", DEVICE_NAME};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(!(b2_handle == NULL))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "4", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!((1 == (((DLTensor*)b2_handle)[0].ndim)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "b2", ".ndim on argument #", "4", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "1"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((((((DLTensor*)b2_handle)[0].dtype.code) == (uint8_t)2) && ((((DLTensor*)b2_handle)[0].dtype.bits) == (uint8_t)32)) && ((((DLTensor*)b2_handle)[0].dtype.lanes) == (uint16_t)1)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "b2", ".dtype on argument #", "4", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "float32"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 8);
    return -1;
  }
  int64_t* mlp_b2_shape = (int64_t*)(((DLTensor*)b2_handle)[0].shape);
  int64_t* mlp_b2_strides = (int64_t*)(((DLTensor*)b2_handle)[0].strides);
  if (!(((((DLTensor*)b2_handle)[0].device.device_type) == DEVICE_TYPE))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "b2", ".device_type on argument #", "4", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", DEVICE_NAME};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(!(out_handle == NULL))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "5", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!((2 == (((DLTensor*)out_handle)[0].ndim)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "out", ".ndim on argument #", "5", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "2"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((((((DLTensor*)out_handle)[0].dtype.code) == (uint8_t)2) && ((((DLTensor*)out_handle)[0].dtype.bits) == (uint8_t)32)) && ((((DLTensor*)out_handle)[0].dtype.lanes) == (uint16_t)1)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "out", ".dtype on argument #", "5", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "float32"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 8);
    return -1;
  }
  int64_t* mlp_out_shape = (int64_t*)(((DLTensor*)out_handle)[0].shape);
  int64_t* mlp_out_strides = (int64_t*)(((DLTensor*)out_handle)[0].strides);
  if (!(((((DLTensor*)out_handle)[0].device.device_type) == DEVICE_TYPE))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "out", ".device_type on argument #", "5", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", DEVICE_NAME};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(mlp_x_strides == NULL)) {
    if (!(((1 == ((int32_t)(((int64_t*)mlp_x_strides)[1]))) && (64 == ((int32_t)(((int64_t*)mlp_x_strides)[0])))))) {
      const char* __tvm_assert_parts[7] = {"Mismatched ", "x", ".strides on argument #", "0", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected to be compact array"};
      TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 7);
      return -1;
    }
  }
  if (!(!(((float*)(((DLTensor*)x_handle)[0].data)) == NULL))) {
    const char* __tvm_assert_parts[6] = {"x", " data pointer is NULL on argument #", "0", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected non-NULL data pointer"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!(mlp_w1_strides == NULL)) {
    if (!(((1 == ((int32_t)(((int64_t*)mlp_w1_strides)[1]))) && (64 == ((int32_t)(((int64_t*)mlp_w1_strides)[0])))))) {
      const char* __tvm_assert_parts[7] = {"Mismatched ", "w1", ".strides on argument #", "1", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected to be compact array"};
      TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 7);
      return -1;
    }
  }
  if (!((dev_id == (((DLTensor*)w1_handle)[0].device.device_id)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "w1.device_id", " on argument #", "1", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected to match ", "x.device_id"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(!(((float*)(((DLTensor*)w1_handle)[0].data)) == NULL))) {
    const char* __tvm_assert_parts[6] = {"w1", " data pointer is NULL on argument #", "1", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected non-NULL data pointer"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!(mlp_b1_strides == NULL)) {
    if (!((1 == ((int32_t)(((int64_t*)mlp_b1_strides)[0]))))) {
      const char* __tvm_assert_parts[7] = {"Mismatched ", "b1", ".strides on argument #", "2", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected to be compact array"};
      TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 7);
      return -1;
    }
  }
  if (!((dev_id == (((DLTensor*)b1_handle)[0].device.device_id)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "b1.device_id", " on argument #", "2", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected to match ", "x.device_id"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(!(((float*)(((DLTensor*)b1_handle)[0].data)) == NULL))) {
    const char* __tvm_assert_parts[6] = {"b1", " data pointer is NULL on argument #", "2", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected non-NULL data pointer"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!(mlp_w2_strides == NULL)) {
    if (!(((1 == ((int32_t)(((int64_t*)mlp_w2_strides)[1]))) && (32 == ((int32_t)(((int64_t*)mlp_w2_strides)[0])))))) {
      const char* __tvm_assert_parts[7] = {"Mismatched ", "w2", ".strides on argument #", "3", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected to be compact array"};
      TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 7);
      return -1;
    }
  }
  if (!((dev_id == (((DLTensor*)w2_handle)[0].device.device_id)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "w2.device_id", " on argument #", "3", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected to match ", "x.device_id"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(!(((float*)(((DLTensor*)w2_handle)[0].data)) == NULL))) {
    const char* __tvm_assert_parts[6] = {"w2", " data pointer is NULL on argument #", "3", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected non-NULL data pointer"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!(mlp_b2_strides == NULL)) {
    if (!((1 == ((int32_t)(((int64_t*)mlp_b2_strides)[0]))))) {
      const char* __tvm_assert_parts[7] = {"Mismatched ", "b2", ".strides on argument #", "4", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected to be compact array"};
      TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 7);
      return -1;
    }
  }
  if (!((dev_id == (((DLTensor*)b2_handle)[0].device.device_id)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "b2.device_id", " on argument #", "4", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected to match ", "x.device_id"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(!(((float*)(((DLTensor*)b2_handle)[0].data)) == NULL))) {
    const char* __tvm_assert_parts[6] = {"b2", " data pointer is NULL on argument #", "4", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected non-NULL data pointer"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!(mlp_out_strides == NULL)) {
    if (!(((1 == ((int32_t)(((int64_t*)mlp_out_strides)[1]))) && (10 == ((int32_t)(((int64_t*)mlp_out_strides)[0])))))) {
      const char* __tvm_assert_parts[7] = {"Mismatched ", "out", ".strides on argument #", "5", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected to be compact array"};
      TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 7);
      return -1;
    }
  }
  if (!((dev_id == (((DLTensor*)out_handle)[0].device.device_id)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "out.device_id", " on argument #", "5", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected to match ", "x.device_id"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(!(((float*)(((DLTensor*)out_handle)[0].data)) == NULL))) {
    const char* __tvm_assert_parts[6] = {"out", " data pointer is NULL on argument #", "5", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected non-NULL data pointer"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!((((int32_t)(((int64_t*)mlp_x_shape)[0])) == 8))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "x.shape[0]", " on argument #", "0", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "8"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!((((int32_t)(((int64_t*)mlp_x_shape)[1])) == 64))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "x.shape[1]", " on argument #", "0", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "64"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((uint64_t)0ULL == (((DLTensor*)x_handle)[0].byte_offset)))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "x.byte_offset", " on argument #", "0", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "0"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!((((int32_t)(((int64_t*)mlp_w1_shape)[0])) == 32))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "w1.shape[0]", " on argument #", "1", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "32"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!((((int32_t)(((int64_t*)mlp_w1_shape)[1])) == 64))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "w1.shape[1]", " on argument #", "1", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "64"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((uint64_t)0ULL == (((DLTensor*)w1_handle)[0].byte_offset)))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "w1.byte_offset", " on argument #", "1", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "0"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!((((int32_t)(((int64_t*)mlp_b1_shape)[0])) == 32))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "b1.shape[0]", " on argument #", "2", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "32"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((uint64_t)0ULL == (((DLTensor*)b1_handle)[0].byte_offset)))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "b1.byte_offset", " on argument #", "2", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "0"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!((((int32_t)(((int64_t*)mlp_w2_shape)[0])) == 10))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "w2.shape[0]", " on argument #", "3", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "10"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!((((int32_t)(((int64_t*)mlp_w2_shape)[1])) == 32))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "w2.shape[1]", " on argument #", "3", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "32"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((uint64_t)0ULL == (((DLTensor*)w2_handle)[0].byte_offset)))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "w2.byte_offset", " on argument #", "3", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "0"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!((((int32_t)(((int64_t*)mlp_b2_shape)[0])) == 10))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "b2.shape[0]", " on argument #", "4", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "10"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((uint64_t)0ULL == (((DLTensor*)b2_handle)[0].byte_offset)))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "b2.byte_offset", " on argument #", "4", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "0"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!((((int32_t)(((int64_t*)mlp_out_shape)[0])) == 8))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "out.shape[0]", " on argument #", "5", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "8"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!((((int32_t)(((int64_t*)mlp_out_shape)[1])) == 10))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "out.shape[1]", " on argument #", "5", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "10"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((uint64_t)0ULL == (((DLTensor*)out_handle)[0].byte_offset)))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "out.byte_offset", " on argument #", "5", " when calling:\n  `", "mlp(x: Tensor([8, 64], float32), w1: Tensor([32, 64], float32), b1: Tensor([32], float32), w2: Tensor([10, 32], float32), b2: Tensor([10], float32), out: Tensor([8, 10], float32))", "`,\n  expected ", "0"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  float* x = ((float*)((float*)(((DLTensor*)x_handle)[0].data)));
  float* w1 = ((float*)((float*)(((DLTensor*)w1_handle)[0].data)));
  float* b1 = ((float*)((float*)(((DLTensor*)b1_handle)[0].data)));
  float* w2 = ((float*)((float*)(((DLTensor*)w2_handle)[0].data)));
  float* b2 = ((float*)((float*)(((DLTensor*)b2_handle)[0].data)));
  float* out = ((float*)((float*)(((DLTensor*)out_handle)[0].data)));
  (((TVMFFIAny*)stack_ffi_any)[0].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[0].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[0].v_int64) = ((int64_t)DEVICE_TYPE);
  (((TVMFFIAny*)stack_ffi_any)[1].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[1].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[1].v_int64) = ((int64_t)dev_id);
  (((TVMFFIAny*)stack_ffi_any)[2].type_index) = 0;
  (((TVMFFIAny*)stack_ffi_any)[2].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[2].v_int64) = (int64_t)0;
  if (__tvm_set_device_packed == NULL) {
    if (TVMFFIEnvModLookupFromImports(__tvm_ffi__library_ctx, "__tvm_set_device", &__tvm_set_device_packed) != 0) {
      return -1;
    }
  }
  TVMFFIAny result_1;
  result_1.type_index = kTVMFFINone;
  result_1.zero_padding = 0;
  result_1.v_int64 = 0;
  if (TVMFFIFunctionCall(__tvm_set_device_packed, (TVMFFIAny*) stack_ffi_any, 2, &result_1) != 0) {
    return -1;
  }
  float* h = ((float*)((float*)TVMBackendAllocWorkspace(DEVICE_TYPE, dev_id, (uint64_t)1024ULL, 2, 32)));
  if (h == NULL) {
    return -1;
  }
  if (b1 == NULL) {
    (((TVMFFIAny*)stack_ffi_any)[0].type_index) = 0;
  } else {
    (((TVMFFIAny*)stack_ffi_any)[0].type_index) = 4;
  }
  (((TVMFFIAny*)stack_ffi_any)[0].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[0].v_int64) = 0;
  (((TVMFFIAny*)stack_ffi_any)[0].v_ptr) = b1;
  if (h == NULL) {
    (((TVMFFIAny*)stack_ffi_any)[1].type_index) = 0;
  } else {
    (((TVMFFIAny*)stack_ffi_any)[1].type_index) = 4;
  }
  (((TVMFFIAny*)stack_ffi_any)[1].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[1].v_int64) = 0;
  (((TVMFFIAny*)stack_ffi_any)[1].v_ptr) = h;
  if (w1 == NULL) {
    (((TVMFFIAny*)stack_ffi_any)[2].type_index) = 0;
  } else {
    (((TVMFFIAny*)stack_ffi_any)[2].type_index) = 4;
  }
  (((TVMFFIAny*)stack_ffi_any)[2].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[2].v_int64) = 0;
  (((TVMFFIAny*)stack_ffi_any)[2].v_ptr) = w1;
  if (x == NULL) {
    (((TVMFFIAny*)stack_ffi_any)[3].type_index) = 0;
  } else {
    (((TVMFFIAny*)stack_ffi_any)[3].type_index) = 4;
  }
  (((TVMFFIAny*)stack_ffi_any)[3].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[3].v_int64) = 0;
  (((TVMFFIAny*)stack_ffi_any)[3].v_ptr) = x;
  (((TVMFFIAny*)stack_ffi_any)[4].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[4].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[4].v_int64) = ((int64_t)8);
  (((TVMFFIAny*)stack_ffi_any)[5].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[5].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[5].v_int64) = ((int64_t)32);
  (((TVMFFIAny*)stack_ffi_any)[6].type_index) = 0;
  (((TVMFFIAny*)stack_ffi_any)[6].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[6].v_int64) = (int64_t)0;
  if (mlp_kernel_packed == NULL) {
    if (TVMFFIEnvModLookupFromImports(__tvm_ffi__library_ctx, "mlp_kernel", &mlp_kernel_packed) != 0) {
      return -1;
    }
  }
  TVMFFIAny result_2;
  result_2.type_index = kTVMFFINone;
  result_2.zero_padding = 0;
  result_2.v_int64 = 0;
  if (TVMFFIFunctionCall(mlp_kernel_packed, (TVMFFIAny*) stack_ffi_any, 6, &result_2) != 0) {
    return -1;
  }
  if (b2 == NULL) {
    (((TVMFFIAny*)stack_ffi_any)[0].type_index) = 0;
  } else {
    (((TVMFFIAny*)stack_ffi_any)[0].type_index) = 4;
  }
  (((TVMFFIAny*)stack_ffi_any)[0].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[0].v_int64) = 0;
  (((TVMFFIAny*)stack_ffi_any)[0].v_ptr) = b2;
  if (h == NULL) {
    (((TVMFFIAny*)stack_ffi_any)[1].type_index) = 0;
  } else {
    (((TVMFFIAny*)stack_ffi_any)[1].type_index) = 4;
  }
  (((TVMFFIAny*)stack_ffi_any)[1].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[1].v_int64) = 0;
  (((TVMFFIAny*)stack_ffi_any)[1].v_ptr) = h;
  if (out == NULL) {
    (((TVMFFIAny*)stack_ffi_any)[2].type_index) = 0;
  } else {
    (((TVMFFIAny*)stack_ffi_any)[2].type_index) = 4;
  }
  (((TVMFFIAny*)stack_ffi_any)[2].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[2].v_int64) = 0;
  (((TVMFFIAny*)stack_ffi_any)[2].v_ptr) = out;
  if (w2 == NULL) {
    (((TVMFFIAny*)stack_ffi_any)[3].type_index) = 0;
  } else {
    (((TVMFFIAny*)stack_ffi_any)[3].type_index) = 4;
  }
  (((TVMFFIAny*)stack_ffi_any)[3].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[3].v_int64) = 0;
  (((TVMFFIAny*)stack_ffi_any)[3].v_ptr) = w2;
  (((TVMFFIAny*)stack_ffi_any)[4].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[4].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[4].v_int64) = ((int64_t)8);
  (((TVMFFIAny*)stack_ffi_any)[5].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[5].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[5].v_int64) = ((int64_t)10);
  (((TVMFFIAny*)stack_ffi_any)[6].type_index) = 0;
  (((TVMFFIAny*)stack_ffi_any)[6].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[6].v_int64) = (int64_t)0;
  if (mlp_kernel_1_packed == NULL) {
    if (TVMFFIEnvModLookupFromImports(__tvm_ffi__library_ctx, "mlp_kernel_1", &mlp_kernel_1_packed) != 0) {
      return -1;
    }
  }
  TVMFFIAny result_3;
  result_3.type_index = kTVMFFINone;
  result_3.zero_padding = 0;
  result_3.v_int64 = 0;
  if (TVMFFIFunctionCall(mlp_kernel_1_packed, (TVMFFIAny*) stack_ffi_any, 6, &result_3) != 0) {
    return -1;
  }
  if (TVMBackendFreeWorkspace(DEVICE_TYPE, dev_id, h) != 0) {
    return -1;
  }
  return 0;
}

#ifdef WITH_REVERSE_DYNSHARED
#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t __tvm_ffi_reverse_dynshared(void* self_handle, void* args, int32_t num_args, void* result) {
  TVMFFIAny stack[6];
  void* stack_ffi_any = (void*)((void*)stack);
  if (!((num_args == 2))) {
    const char* __tvm_assert_parts[6] = {"Expected ", "2", " arguments", " when calling:\n  `", "reverse_dynshared(x: Tensor([256], float32), y: Tensor([256], float32))", "`"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!(!(args == NULL))) {
    const char* __tvm_assert_parts[4] = {"args pointer is NULL", " when calling:\n  `", "reverse_dynshared(x: Tensor([256], float32), y: Tensor([256], float32))", "`"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 4);
    return -1;
  }
  int32_t x_type_index = (((TVMFFIAny*)args)[0].type_index);
  if (!(((((x_type_index == 0) || (x_type_index == 4)) || (x_type_index == 7)) || (x_type_index >= 64)))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "0", " when calling:\n  `", "reverse_dynshared(x: Tensor([256], float32), y: Tensor([256], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  void* condval;
  if (x_type_index == 70) {
    condval = ((void*)((char*)(((TVMFFIAny*)args)[0].v_ptr) + 24));
  } else {
    condval = (((TVMFFIAny*)args)[0].v_ptr);
  }
  void* x_handle = (void*)condval;
  int32_t y_type_index = (((TVMFFIAny*)args)[1].type_index);
  if (!(((((y_type_index == 0) || (y_type_index == 4)) || (y_type_index == 7)) || (y_type_index >= 64)))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "1", " when calling:\n  `", "reverse_dynshared(x: Tensor([256], float32), y: Tensor([256], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  void* condval_1;
  if (y_type_index == 70) {
    condval_1 = ((void*)((char*)(((TVMFFIAny*)args)[1].v_ptr) + 24));
  } else {
    condval_1 = (((TVMFFIAny*)args)[1].v_ptr);
  }
  void* y_handle = (void*)condval_1;
  if (!(!(x_handle == NULL))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "0", " when calling:\n  `", "reverse_dynshared(x: Tensor([256], float32), y: Tensor([256], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!((1 == (((DLTensor*)x_handle)[0].ndim)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "x", ".ndim on argument #", "0", " when calling:\n  `", "reverse_dynshared(x: Tensor([256], float32), y: Tensor([256], float32))", "`,\n  expected ", "1"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((((((DLTensor*)x_handle)[0].dtype.code) == (uint8_t)2) && ((((DLTensor*)x_handle)[0].dtype.bits) == (uint8_t)32)) && ((((DLTensor*)x_handle)[0].dtype.lanes) == (uint16_t)1)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "x", ".dtype on argument #", "0", " when calling:\n  `", "reverse_dynshared(x: Tensor([256], float32), y: Tensor([256], float32))", "`,\n  expected ", "float32"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 8);
    return -1;
  }
  int64_t* reverse_dynshared_x_shape = (int64_t*)(((DLTensor*)x_handle)[0].shape);
  int64_t* reverse_dynshared_x_strides = (int64_t*)(((DLTensor*)x_handle)[0].strides);
  if (!(((((DLTensor*)x_handle)[0].device.device_type) == DEVICE_TYPE))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "x", ".device_type on argument #", "0", " when calling:\n  `", "reverse_dynshared(x: Tensor([256], float32), y: Tensor([256], float32))", "`,\n  expected ", DEVICE_NAME};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  int32_t dev_id = (((DLTensor*)x_handle)[0].device.device_id);
  if (!(!(y_handle == NULL))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "1", " when calling:\n  `", "reverse_dynshared(x: Tensor([256], float32), y: Tensor([256], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!((1 == (((DLTensor*)y_handle)[0].ndim)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "y", ".ndim on argument #", "1", " when calling:\n  `", "reverse_dynshared(x: Tensor([256], float32), y: Tensor([256], float32))", "`,\n  expected ", "1"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((((((DLTensor*)y_handle)[0].dtype.code) == (uint8_t)2) && ((((DLTensor*)y_handle)[0].dtype.bits) == (uint8_t)32)) && ((((DLTensor*)y_handle)[0].dtype.lanes) == (uint16_t)1)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "y", ".dtype on argument #", "1", " when calling:\n  `", "reverse_dynshared(x: Tensor([256], float32), y: Tensor([256], float32))", "`,\n  expected ", "float32"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 8);
    return -1;
  }
  int64_t* reverse_dynshared_y_shape = (int64_t*)(((DLTensor*)y_handle)[0].shape);
  int64_t* reverse_dynshared_y_strides = (int64_t*)(((DLTensor*)y_handle)[0].strides);
  if (!(((((DLTensor*)y_handle)[0].device.device_type) == DEVICE_TYPE))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "y", ".device_type on argument #", "1", " when calling:\n  `", "reverse_dynshared(x: Tensor([256], float32), y: Tensor([256], float32))", "`,\n  expected ", DEVICE_NAME};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(reverse_dynshared_x_strides == NULL)) {
    if (!((1 == ((int32_t)(((int64_t*)reverse_dynshared_x_strides)[0]))))) {
      const char* __tvm_assert_parts[7] = {"Mismatched ", "x", ".strides on argument #", "0", " when calling:\n  `", "reverse_dynshared(x: Tensor([256], float32), y: Tensor([256], float32))", "`,\n  expected to be compact array"};
      TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 7);
      return -1;
    }
  }
  if (!(!(((float*)(((DLTensor*)x_handle)[0].data)) == NULL))) {
    const char* __tvm_assert_parts[6] = {"x", " data pointer is NULL on argument #", "0", " when calling:\n  `", "reverse_dynshared(x: Tensor([256], float32), y: Tensor([256], float32))", "`,\n  expected non-NULL data pointer"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!(reverse_dynshared_y_strides == NULL)) {
    if (!((1 == ((int32_t)(((int64_t*)reverse_dynshared_y_strides)[0]))))) {
      const char* __tvm_assert_parts[7] = {"Mismatched ", "y", ".strides on argument #", "1", " when calling:\n  `", "reverse_dynshared(x: Tensor([256], float32), y: Tensor([256], float32))", "`,\n  expected to be compact array"};
      TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 7);
      return -1;
    }
  }
  if (!((dev_id == (((DLTensor*)y_handle)[0].device.device_id)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "y.device_id", " on argument #", "1", " when calling:\n  `", "reverse_dynshared(x: Tensor([256], float32), y: Tensor([256], float32))", "`,\n  expected to match ", "x.device_id"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(!(((float*)(((DLTensor*)y_handle)[0].data)) == NULL))) {
    const char* __tvm_assert_parts[6] = {"y", " data pointer is NULL on argument #", "1", " when calling:\n  `", "reverse_dynshared(x: Tensor([256], float32), y: Tensor([256], float32))", "`,\n  expected non-NULL data pointer"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!((((int32_t)(((int64_t*)reverse_dynshared_x_shape)[0])) == 256))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "x.shape[0]", " on argument #", "0", " when calling:\n  `", "reverse_dynshared(x: Tensor([256], float32), y: Tensor([256], float32))", "`,\n  expected ", "256"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((uint64_t)0ULL == (((DLTensor*)x_handle)[0].byte_offset)))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "x.byte_offset", " on argument #", "0", " when calling:\n  `", "reverse_dynshared(x: Tensor([256], float32), y: Tensor([256], float32))", "`,\n  expected ", "0"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!((((int32_t)(((int64_t*)reverse_dynshared_y_shape)[0])) == 256))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "y.shape[0]", " on argument #", "1", " when calling:\n  `", "reverse_dynshared(x: Tensor([256], float32), y: Tensor([256], float32))", "`,\n  expected ", "256"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((uint64_t)0ULL == (((DLTensor*)y_handle)[0].byte_offset)))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "y.byte_offset", " on argument #", "1", " when calling:\n  `", "reverse_dynshared(x: Tensor([256], float32), y: Tensor([256], float32))", "`,\n  expected ", "0"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  float* x = ((float*)((float*)(((DLTensor*)x_handle)[0].data)));
  float* y = ((float*)((float*)(((DLTensor*)y_handle)[0].data)));
  (((TVMFFIAny*)stack_ffi_any)[0].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[0].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[0].v_int64) = ((int64_t)DEVICE_TYPE);
  (((TVMFFIAny*)stack_ffi_any)[1].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[1].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[1].v_int64) = ((int64_t)dev_id);
  (((TVMFFIAny*)stack_ffi_any)[2].type_index) = 0;
  (((TVMFFIAny*)stack_ffi_any)[2].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[2].v_int64) = (int64_t)0;
  if (__tvm_set_device_packed == NULL) {
    if (TVMFFIEnvModLookupFromImports(__tvm_ffi__library_ctx, "__tvm_set_device", &__tvm_set_device_packed) != 0) {
      return -1;
    }
  }
  TVMFFIAny result_1;
  result_1.type_index = kTVMFFINone;
  result_1.zero_padding = 0;
  result_1.v_int64 = 0;
  if (TVMFFIFunctionCall(__tvm_set_device_packed, (TVMFFIAny*) stack_ffi_any, 2, &result_1) != 0) {
    return -1;
  }
  if (x == NULL) {
    (((TVMFFIAny*)stack_ffi_any)[0].type_index) = 0;
  } else {
    (((TVMFFIAny*)stack_ffi_any)[0].type_index) = 4;
  }
  (((TVMFFIAny*)stack_ffi_any)[0].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[0].v_int64) = 0;
  (((TVMFFIAny*)stack_ffi_any)[0].v_ptr) = x;
  if (y == NULL) {
    (((TVMFFIAny*)stack_ffi_any)[1].type_index) = 0;
  } else {
    (((TVMFFIAny*)stack_ffi_any)[1].type_index) = 4;
  }
  (((TVMFFIAny*)stack_ffi_any)[1].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[1].v_int64) = 0;
  (((TVMFFIAny*)stack_ffi_any)[1].v_ptr) = y;
  (((TVMFFIAny*)stack_ffi_any)[2].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[2].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[2].v_int64) = ((int64_t)4);
  (((TVMFFIAny*)stack_ffi_any)[3].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[3].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[3].v_int64) = ((int64_t)64);
  (((TVMFFIAny*)stack_ffi_any)[4].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[4].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[4].v_int64) = (int64_t)256;
  (((TVMFFIAny*)stack_ffi_any)[5].type_index) = 0;
  (((TVMFFIAny*)stack_ffi_any)[5].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[5].v_int64) = (int64_t)0;
  if (reverse_dynshared_kernel_packed == NULL) {
    if (TVMFFIEnvModLookupFromImports(__tvm_ffi__library_ctx, "reverse_dynshared_kernel", &reverse_dynshared_kernel_packed) != 0) {
      return -1;
    }
  }
  TVMFFIAny result_2;
  result_2.type_index = kTVMFFINone;
  result_2.zero_padding = 0;
  result_2.v_int64 = 0;
  if (TVMFFIFunctionCall(reverse_dynshared_kernel_packed, (TVMFFIAny*) stack_ffi_any, 5, &result_2) != 0) {
    return -1;
  }
  return 0;
}
#endif

#ifdef WITH_SCALE_I64
#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t __tvm_ffi_scale_i64(void* self_handle, void* args, int32_t num_args, void* result) {
  TVMFFIAny stack[7];
  void* stack_ffi_any = (void*)((void*)stack);
  if (!((num_args == 3))) {
    const char* __tvm_assert_parts[6] = {"Expected ", "3", " arguments", " when calling:\n  `", "scale_i64(x: Tensor([n], int64), y: Tensor([n], int64), k: int64)", "`"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!(!(args == NULL))) {
    const char* __tvm_assert_parts[4] = {"args pointer is NULL", " when calling:\n  `", "scale_i64(x: Tensor([n], int64), y: Tensor([n], int64), k: int64)", "`"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 4);
    return -1;
  }
  int32_t x_type_index = (((TVMFFIAny*)args)[0].type_index);
  if (!(((((x_type_index == 0) || (x_type_index == 4)) || (x_type_index == 7)) || (x_type_index >= 64)))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "0", " when calling:\n  `", "scale_i64(x: Tensor([n], int64), y: Tensor([n], int64), k: int64)", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  void* condval;
  if (x_type_index == 70) {
    condval = ((void*)((char*)(((TVMFFIAny*)args)[0].v_ptr) + 24));
  } else {
    condval = (((TVMFFIAny*)args)[0].v_ptr);
  }
  void* x_handle = (void*)condval;
  int32_t y_type_index = (((TVMFFIAny*)args)[1].type_index);
  if (!(((((y_type_index == 0) || (y_type_index == 4)) || (y_type_index == 7)) || (y_type_index >= 64)))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "1", " when calling:\n  `", "scale_i64(x: Tensor([n], int64), y: Tensor([n], int64), k: int64)", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  void* condval_1;
  if (y_type_index == 70) {
    condval_1 = ((void*)((char*)(((TVMFFIAny*)args)[1].v_ptr) + 24));
  } else {
    condval_1 = (((TVMFFIAny*)args)[1].v_ptr);
  }
  void* y_handle = (void*)condval_1;
  int32_t k_type_index = (((TVMFFIAny*)args)[2].type_index);
  if (!(((k_type_index == 1) || (k_type_index == 2)))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "2", " when calling:\n  `", "scale_i64(x: Tensor([n], int64), y: Tensor([n], int64), k: int64)", "`,\n  expected ", "int"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  int64_t k = (((TVMFFIAny*)args)[2].v_int64);
  if (!(!(x_handle == NULL))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "0", " when calling:\n  `", "scale_i64(x: Tensor([n], int64), y: Tensor([n], int64), k: int64)", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!((1 == (((DLTensor*)x_handle)[0].ndim)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "x", ".ndim on argument #", "0", " when calling:\n  `", "scale_i64(x: Tensor([n], int64), y: Tensor([n], int64), k: int64)", "`,\n  expected ", "1"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((((((DLTensor*)x_handle)[0].dtype.code) == (uint8_t)0) && ((((DLTensor*)x_handle)[0].dtype.bits) == (uint8_t)64)) && ((((DLTensor*)x_handle)[0].dtype.lanes) == (uint16_t)1)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "x", ".dtype on argument #", "0", " when calling:\n  `", "scale_i64(x: Tensor([n], int64), y: Tensor([n], int64), k: int64)", "`,\n  expected ", "int64"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 8);
    return -1;
  }
  int64_t* scale_i64_x_shape = (int64_t*)(((DLTensor*)x_handle)[0].shape);
  int64_t n = (((int64_t*)scale_i64_x_shape)[0]);
  int64_t* scale_i64_x_strides = (int64_t*)(((DLTensor*)x_handle)[0].strides);
  if (!(((((DLTensor*)x_handle)[0].device.device_type) == DEVICE_TYPE))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "x", ".device_type on argument #", "0", " when calling:\n  `", "scale_i64(x: Tensor([n], int64), y: Tensor([n], int64), k: int64)", "`,\n  expected ", DEVICE_NAME};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  int32_t dev_id = (((DLTensor*)x_handle)[0].device.device_id);
  if (!(!(y_handle == NULL))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "1", " when calling:\n  `", "scale_i64(x: Tensor([n], int64), y: Tensor([n], int64), k: int64)", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!((1 == (((DLTensor*)y_handle)[0].ndim)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "y", ".ndim on argument #", "1", " when calling:\n  `", "scale_i64(x: Tensor([n], int64), y: Tensor([n], int64), k: int64)", "`,\n  expected ", "1"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((((((DLTensor*)y_handle)[0].dtype.code) == (uint8_t)0) && ((((DLTensor*)y_handle)[0].dtype.bits) == (uint8_t)64)) && ((((DLTensor*)y_handle)[0].dtype.lanes) == (uint16_t)1)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "y", ".dtype on argument #", "1", " when calling:\n  `", "scale_i64(x: Tensor([n], int64), y: Tensor([n], int64), k: int64)", "`,\n  expected ", "int64"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 8);
    return -1;
  }
  int64_t* scale_i64_y_shape = (int64_t*)(((DLTensor*)y_handle)[0].shape);
  int64_t* scale_i64_y_strides = (int64_t*)(((DLTensor*)y_handle)[0].strides);
  if (!(((((DLTensor*)y_handle)[0].device.device_type) == DEVICE_TYPE))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "y", ".device_type on argument #", "1", " when calling:\n  `", "scale_i64(x: Tensor([n], int64), y: Tensor([n], int64), k: int64)", "`,\n  expected ", DEVICE_NAME};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(scale_i64_x_strides == NULL)) {
    if (!(((n == (int64_t)1) || ((int64_t)1 == (((int64_t*)scale_i64_x_strides)[0]))))) {
      const char* __tvm_assert_parts[7] = {"Mismatched ", "x", ".strides on argument #", "0", " when calling:\n  `", "scale_i64(x: Tensor([n], int64), y: Tensor([n], int64), k: int64)", "`,\n  expected to be compact array"};
      TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 7);
      return -1;
    }
  }
  if (!(((n == (int64_t)0) || !(((int64_t*)(((DLTensor*)x_handle)[0].data)) == NULL)))) {
    const char* __tvm_assert_parts[6] = {"x", " data pointer is NULL on argument #", "0", " when calling:\n  `", "scale_i64(x: Tensor([n], int64), y: Tensor([n], int64), k: int64)", "`,\n  expected non-NULL data pointer"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!((n == (((int64_t*)scale_i64_y_shape)[0])))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "y.shape[0]", " on argument #", "1", " when calling:\n  `", "scale_i64(x: Tensor([n], int64), y: Tensor([n], int64), k: int64)", "`,\n  expected to match ", "x.shape[0]"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(scale_i64_y_strides == NULL)) {
    if (!(((n == (int64_t)1) || ((int64_t)1 == (((int64_t*)scale_i64_y_strides)[0]))))) {
      const char* __tvm_assert_parts[7] = {"Mismatched ", "y", ".strides on argument #", "1", " when calling:\n  `", "scale_i64(x: Tensor([n], int64), y: Tensor([n], int64), k: int64)", "`,\n  expected to be compact array"};
      TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 7);
      return -1;
    }
  }
  if (!((dev_id == (((DLTensor*)y_handle)[0].device.device_id)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "y.device_id", " on argument #", "1", " when calling:\n  `", "scale_i64(x: Tensor([n], int64), y: Tensor([n], int64), k: int64)", "`,\n  expected to match ", "x.device_id"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((n == (int64_t)0) || !(((int64_t*)(((DLTensor*)y_handle)[0].data)) == NULL)))) {
    const char* __tvm_assert_parts[6] = {"y", " data pointer is NULL on argument #", "1", " when calling:\n  `", "scale_i64(x: Tensor([n], int64), y: Tensor([n], int64), k: int64)", "`,\n  expected non-NULL data pointer"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!(((uint64_t)0ULL == (((DLTensor*)x_handle)[0].byte_offset)))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "x.byte_offset", " on argument #", "0", " when calling:\n  `", "scale_i64(x: Tensor([n], int64), y: Tensor([n], int64), k: int64)", "`,\n  expected ", "0"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((uint64_t)0ULL == (((DLTensor*)y_handle)[0].byte_offset)))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "y.byte_offset", " on argument #", "1", " when calling:\n  `", "scale_i64(x: Tensor([n], int64), y: Tensor([n], int64), k: int64)", "`,\n  expected ", "0"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  int64_t* x = ((int64_t*)((int64_t*)(((DLTensor*)x_handle)[0].data)));
  int64_t* y = ((int64_t*)((int64_t*)(((DLTensor*)y_handle)[0].data)));
  (((TVMFFIAny*)stack_ffi_any)[0].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[0].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[0].v_int64) = ((int64_t)DEVICE_TYPE);
  (((TVMFFIAny*)stack_ffi_any)[1].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[1].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[1].v_int64) = ((int64_t)dev_id);
  (((TVMFFIAny*)stack_ffi_any)[2].type_index) = 0;
  (((TVMFFIAny*)stack_ffi_any)[2].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[2].v_int64) = (int64_t)0;
  if (__tvm_set_device_packed == NULL) {
    if (TVMFFIEnvModLookupFromImports(__tvm_ffi__library_ctx, "__tvm_set_device", &__tvm_set_device_packed) != 0) {
      return -1;
    }
  }
  TVMFFIAny result_1;
  result_1.type_index = kTVMFFINone;
  result_1.zero_padding = 0;
  result_1.v_int64 = 0;
  if (TVMFFIFunctionCall(__tvm_set_device_packed, (TVMFFIAny*) stack_ffi_any, 2, &result_1) != 0) {
    return -1;
  }
  if (x == NULL) {
    (((TVMFFIAny*)stack_ffi_any)[0].type_index) = 0;
  } else {
    (((TVMFFIAny*)stack_ffi_any)[0].type_index) = 4;
  }
  (((TVMFFIAny*)stack_ffi_any)[0].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[0].v_int64) = 0;
  (((TVMFFIAny*)stack_ffi_any)[0].v_ptr) = x;
  if (y == NULL) {
    (((TVMFFIAny*)stack_ffi_any)[1].type_index) = 0;
  } else {
    (((TVMFFIAny*)stack_ffi_any)[1].type_index) = 4;
  }
  (((TVMFFIAny*)stack_ffi_any)[1].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[1].v_int64) = 0;
  (((TVMFFIAny*)stack_ffi_any)[1].v_ptr) = y;
  (((TVMFFIAny*)stack_ffi_any)[2].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[2].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[2].v_int64) = k;
  (((TVMFFIAny*)stack_ffi_any)[3].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[3].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[3].v_int64) = n;
  (((TVMFFIAny*)stack_ffi_any)[4].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[4].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[4].v_int64) = ((n + (int64_t)31) >> (int64_t)5);
  (((TVMFFIAny*)stack_ffi_any)[5].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[5].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[5].v_int64) = (int64_t)32;
  (((TVMFFIAny*)stack_ffi_any)[6].type_index) = 0;
  (((TVMFFIAny*)stack_ffi_any)[6].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[6].v_int64) = (int64_t)0;
  if (scale_i64_kernel_packed == NULL) {
    if (TVMFFIEnvModLookupFromImports(__tvm_ffi__library_ctx, "scale_i64_kernel", &scale_i64_kernel_packed) != 0) {
      return -1;
    }
  }
  TVMFFIAny result_2;
  result_2.type_index = kTVMFFINone;
  result_2.zero_padding = 0;
  result_2.v_int64 = 0;
  if (TVMFFIFunctionCall(scale_i64_kernel_packed, (TVMFFIAny*) stack_ffi_any, 6, &result_2) != 0) {
    return -1;
  }
  return 0;
}
#endif

#ifdef WITH_SOFTMAX
#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t __tvm_ffi_softmax(void* self_handle, void* args, int32_t num_args, void* result) {
  TVMFFIAny stack[5];
  void* stack_ffi_any = (void*)((void*)stack);
  if (!((num_args == 2))) {
    const char* __tvm_assert_parts[6] = {"Expected ", "2", " arguments", " when calling:\n  `", "softmax(x: Tensor([32, 100], float32), y: Tensor([32, 100], float32))", "`"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!(!(args == NULL))) {
    const char* __tvm_assert_parts[4] = {"args pointer is NULL", " when calling:\n  `", "softmax(x: Tensor([32, 100], float32), y: Tensor([32, 100], float32))", "`"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 4);
    return -1;
  }
  int32_t x_type_index = (((TVMFFIAny*)args)[0].type_index);
  if (!(((((x_type_index == 0) || (x_type_index == 4)) || (x_type_index == 7)) || (x_type_index >= 64)))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "0", " when calling:\n  `", "softmax(x: Tensor([32, 100], float32), y: Tensor([32, 100], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  void* condval;
  if (x_type_index == 70) {
    condval = ((void*)((char*)(((TVMFFIAny*)args)[0].v_ptr) + 24));
  } else {
    condval = (((TVMFFIAny*)args)[0].v_ptr);
  }
  void* x_handle = (void*)condval;
  int32_t y_type_index = (((TVMFFIAny*)args)[1].type_index);
  if (!(((((y_type_index == 0) || (y_type_index == 4)) || (y_type_index == 7)) || (y_type_index >= 64)))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "1", " when calling:\n  `", "softmax(x: Tensor([32, 100], float32), y: Tensor([32, 100], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  void* condval_1;
  if (y_type_index == 70) {
    condval_1 = ((void*)((char*)(((TVMFFIAny*)args)[1].v_ptr) + 24));
  } else {
    condval_1 = (((TVMFFIAny*)args)[1].v_ptr);
  }
  void* y_handle = (void*)condval_1;
  if (!(!(x_handle == NULL))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "0", " when calling:\n  `", "softmax(x: Tensor([32, 100], float32), y: Tensor([32, 100], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!((2 == (((DLTensor*)x_handle)[0].ndim)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "x", ".ndim on argument #", "0", " when calling:\n  `", "softmax(x: Tensor([32, 100], float32), y: Tensor([32, 100], float32))", "`,\n  expected ", "2"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((((((DLTensor*)x_handle)[0].dtype.code) == (uint8_t)2) && ((((DLTensor*)x_handle)[0].dtype.bits) == (uint8_t)32)) && ((((DLTensor*)x_handle)[0].dtype.lanes) == (uint16_t)1)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "x", ".dtype on argument #", "0", " when calling:\n  `", "softmax(x: Tensor([32, 100], float32), y: Tensor([32, 100], float32))", "`,\n  expected ", "float32"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 8);
    return -1;
  }
  int64_t* softmax_x_shape = (int64_t*)(((DLTensor*)x_handle)[0].shape);
  int64_t* softmax_x_strides = (int64_t*)(((DLTensor*)x_handle)[0].strides);
  if (!(((((DLTensor*)x_handle)[0].device.device_type) == DEVICE_TYPE))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "x", ".device_type on argument #", "0", " when calling:\n  `", "softmax(x: Tensor([32, 100], float32), y: Tensor([32, 100], float32))", "`,\n  expected ", DEVICE_NAME};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  int32_t dev_id = (((DLTensor*)x_handle)[0].device.device_id);
  if (!(!(y_handle == NULL))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "1", " when calling:\n  `", "softmax(x: Tensor([32, 100], float32), y: Tensor([32, 100], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!((2 == (((DLTensor*)y_handle)[0].ndim)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "y", ".ndim on argument #", "1", " when calling:\n  `", "softmax(x: Tensor([32, 100], float32), y: Tensor([32, 100], float32))", "`,\n  expected ", "2"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((((((DLTensor*)y_handle)[0].dtype.code) == (uint8_t)2) && ((((DLTensor*)y_handle)[0].dtype.bits) == (uint8_t)32)) && ((((DLTensor*)y_handle)[0].dtype.lanes) == (uint16_t)1)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "y", ".dtype on argument #", "1", " when calling:\n  `", "softmax(x: Tensor([32, 100], float32), y: Tensor([32, 100], float32))", "`,\n  expected ", "float32"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 8);
    return -1;
  }
  int64_t* softmax_y_shape = (int64_t*)(((DLTensor*)y_handle)[0].shape);
  int64_t* softmax_y_strides = (int64_t*)(((DLTensor*)y_handle)[0].strides);
  if (!(((((DLTensor*)y_handle)[0].device.device_type) == DEVICE_TYPE))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "y", ".device_type on argument #", "1", " when calling:\n  `", "softmax(x: Tensor([32, 100], float32), y: Tensor([32, 100], float32))", "`,\n  expected ", DEVICE_NAME};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(softmax_x_strides == NULL)) {
    if (!(((1 == ((int32_t)(((int64_t*)softmax_x_strides)[1]))) && (100 == ((int32_t)(((int64_t*)softmax_x_strides)[0])))))) {
      const char* __tvm_assert_parts[7] = {"Mismatched ", "x", ".strides on argument #", "0", " when calling:\n  `", "softmax(x: Tensor([32, 100], float32), y: Tensor([32, 100], float32))", "`,\n  expected to be compact array"};
      TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 7);
      return -1;
    }
  }
  if (!(!(((float*)(((DLTensor*)x_handle)[0].data)) == NULL))) {
    const char* __tvm_assert_parts[6] = {"x", " data pointer is NULL on argument #", "0", " when calling:\n  `", "softmax(x: Tensor([32, 100], float32), y: Tensor([32, 100], float32))", "`,\n  expected non-NULL data pointer"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!(softmax_y_strides == NULL)) {
    if (!(((1 == ((int32_t)(((int64_t*)softmax_y_strides)[1]))) && (100 == ((int32_t)(((int64_t*)softmax_y_strides)[0])))))) {
      const char* __tvm_assert_parts[7] = {"Mismatched ", "y", ".strides on argument #", "1", " when calling:\n  `", "softmax(x: Tensor([32, 100], float32), y: Tensor([32, 100], float32))", "`,\n  expected to be compact array"};
      TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 7);
      return -1;
    }
  }
  if (!((dev_id == (((DLTensor*)y_handle)[0].device.device_id)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "y.device_id", " on argument #", "1", " when calling:\n  `", "softmax(x: Tensor([32, 100], float32), y: Tensor([32, 100], float32))", "`,\n  expected to match ", "x.device_id"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(!(((float*)(((DLTensor*)y_handle)[0].data)) == NULL))) {
    const char* __tvm_assert_parts[6] = {"y", " data pointer is NULL on argument #", "1", " when calling:\n  `", "softmax(x: Tensor([32, 100], float32), y: Tensor([32, 100], float32))", "`,\n  expected non-NULL data pointer"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!((((int32_t)(((int64_t*)softmax_x_shape)[0])) == 32))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "x.shape[0]", " on argument #", "0", " when calling:\n  `", "softmax(x: Tensor([32, 100], float32), y: Tensor([32, 100], float32))", "`,\n  expected ", "32"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!((((int32_t)(((int64_t*)softmax_x_shape)[1])) == 100))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "x.shape[1]", " on argument #", "0", " when calling:\n  `", "softmax(x: Tensor([32, 100], float32), y: Tensor([32, 100], float32))", "`,\n  expected ", "100"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((uint64_t)0ULL == (((DLTensor*)x_handle)[0].byte_offset)))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "x.byte_offset", " on argument #", "0", " when calling:\n  `", "softmax(x: Tensor([32, 100], float32), y: Tensor([32, 100], float32))", "`,\n  expected ", "0"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!((((int32_t)(((int64_t*)softmax_y_shape)[0])) == 32))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "y.shape[0]", " on argument #", "1", " when calling:\n  `", "softmax(x: Tensor([32, 100], float32), y: Tensor([32, 100], float32))", "`,\n  expected ", "32"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!((((int32_t)(((int64_t*)softmax_y_shape)[1])) == 100))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "y.shape[1]", " on argument #", "1", " when calling:\n  `", "softmax(x: Tensor([32, 100], float32), y: Tensor([32, 100], float32))", "`,\n  expected ", "100"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((uint64_t)0ULL == (((DLTensor*)y_handle)[0].byte_offset)))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "y.byte_offset", " on argument #", "1", " when calling:\n  `", "softmax(x: Tensor([32, 100], float32), y: Tensor([32, 100], float32))", "`,\n  expected ", "0"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  float* x = ((float*)((float*)(((DLTensor*)x_handle)[0].data)));
  float* y = ((float*)((float*)(((DLTensor*)y_handle)[0].data)));
  (((TVMFFIAny*)stack_ffi_any)[0].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[0].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[0].v_int64) = ((int64_t)DEVICE_TYPE);
  (((TVMFFIAny*)stack_ffi_any)[1].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[1].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[1].v_int64) = ((int64_t)dev_id);
  (((TVMFFIAny*)stack_ffi_any)[2].type_index) = 0;
  (((TVMFFIAny*)stack_ffi_any)[2].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[2].v_int64) = (int64_t)0;
  if (__tvm_set_device_packed == NULL) {
    if (TVMFFIEnvModLookupFromImports(__tvm_ffi__library_ctx, "__tvm_set_device", &__tvm_set_device_packed) != 0) {
      return -1;
    }
  }
  TVMFFIAny result_1;
  result_1.type_index = kTVMFFINone;
  result_1.zero_padding = 0;
  result_1.v_int64 = 0;
  if (TVMFFIFunctionCall(__tvm_set_device_packed, (TVMFFIAny*) stack_ffi_any, 2, &result_1) != 0) {
    return -1;
  }
  if (x == NULL) {
    (((TVMFFIAny*)stack_ffi_any)[0].type_index) = 0;
  } else {
    (((TVMFFIAny*)stack_ffi_any)[0].type_index) = 4;
  }
  (((TVMFFIAny*)stack_ffi_any)[0].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[0].v_int64) = 0;
  (((TVMFFIAny*)stack_ffi_any)[0].v_ptr) = x;
  if (y == NULL) {
    (((TVMFFIAny*)stack_ffi_any)[1].type_index) = 0;
  } else {
    (((TVMFFIAny*)stack_ffi_any)[1].type_index) = 4;
  }
  (((TVMFFIAny*)stack_ffi_any)[1].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[1].v_int64) = 0;
  (((TVMFFIAny*)stack_ffi_any)[1].v_ptr) = y;
  (((TVMFFIAny*)stack_ffi_any)[2].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[2].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[2].v_int64) = ((int64_t)4);
  (((TVMFFIAny*)stack_ffi_any)[3].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[3].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[3].v_int64) = ((int64_t)8);
  (((TVMFFIAny*)stack_ffi_any)[4].type_index) = 0;
  (((TVMFFIAny*)stack_ffi_any)[4].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[4].v_int64) = (int64_t)0;
  if (softmax_kernel_packed == NULL) {
    if (TVMFFIEnvModLookupFromImports(__tvm_ffi__library_ctx, "softmax_kernel", &softmax_kernel_packed) != 0) {
      return -1;
    }
  }
  TVMFFIAny result_2;
  result_2.type_index = kTVMFFINone;
  result_2.zero_padding = 0;
  result_2.v_int64 = 0;
  if (TVMFFIFunctionCall(softmax_kernel_packed, (TVMFFIAny*) stack_ffi_any, 4, &result_2) != 0) {
    return -1;
  }
  return 0;
}
#endif

