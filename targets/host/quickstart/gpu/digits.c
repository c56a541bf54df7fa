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
static void* digits_kernel_packed = NULL;
static void* digits_kernel_1_packed = NULL;
static void* digits_kernel_2_packed = NULL;
#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t __tvm_ffi_digits(void* self_handle, void* args, int32_t num_args, void* result);
#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t __tvm_ffi_digits(void* self_handle, void* args, int32_t num_args, void* result) {
  TVMFFIAny stack[7];
  void* stack_ffi_any = (void*)((void*)stack);
  if (!((num_args == 6))) {
    const char* __tvm_assert_parts[6] = {"Expected ", "6", " arguments", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!(!(args == NULL))) {
    const char* __tvm_assert_parts[4] = {"args pointer is NULL", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 4);
    return -1;
  }
  int32_t x_type_index = (((TVMFFIAny*)args)[0].type_index);
  if (!(((((x_type_index == 0) || (x_type_index == 4)) || (x_type_index == 7)) || (x_type_index >= 64)))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "0", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "Tensor"};
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
  int32_t wc_type_index = (((TVMFFIAny*)args)[1].type_index);
  if (!(((((wc_type_index == 0) || (wc_type_index == 4)) || (wc_type_index == 7)) || (wc_type_index >= 64)))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "1", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  void* condval_1;
  if (wc_type_index == 70) {
    condval_1 = ((void*)((char*)(((TVMFFIAny*)args)[1].v_ptr) + 24));
  } else {
    condval_1 = (((TVMFFIAny*)args)[1].v_ptr);
  }
  void* wc_handle = (void*)condval_1;
  int32_t bc_type_index = (((TVMFFIAny*)args)[2].type_index);
  if (!(((((bc_type_index == 0) || (bc_type_index == 4)) || (bc_type_index == 7)) || (bc_type_index >= 64)))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "2", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  void* condval_2;
  if (bc_type_index == 70) {
    condval_2 = ((void*)((char*)(((TVMFFIAny*)args)[2].v_ptr) + 24));
  } else {
    condval_2 = (((TVMFFIAny*)args)[2].v_ptr);
  }
  void* bc_handle = (void*)condval_2;
  int32_t wd_type_index = (((TVMFFIAny*)args)[3].type_index);
  if (!(((((wd_type_index == 0) || (wd_type_index == 4)) || (wd_type_index == 7)) || (wd_type_index >= 64)))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "3", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  void* condval_3;
  if (wd_type_index == 70) {
    condval_3 = ((void*)((char*)(((TVMFFIAny*)args)[3].v_ptr) + 24));
  } else {
    condval_3 = (((TVMFFIAny*)args)[3].v_ptr);
  }
  void* wd_handle = (void*)condval_3;
  int32_t bd_type_index = (((TVMFFIAny*)args)[4].type_index);
  if (!(((((bd_type_index == 0) || (bd_type_index == 4)) || (bd_type_index == 7)) || (bd_type_index >= 64)))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "4", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  void* condval_4;
  if (bd_type_index == 70) {
    condval_4 = ((void*)((char*)(((TVMFFIAny*)args)[4].v_ptr) + 24));
  } else {
    condval_4 = (((TVMFFIAny*)args)[4].v_ptr);
  }
  void* bd_handle = (void*)condval_4;
  int32_t out_type_index = (((TVMFFIAny*)args)[5].type_index);
  if (!(((((out_type_index == 0) || (out_type_index == 4)) || (out_type_index == 7)) || (out_type_index >= 64)))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "5", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "Tensor"};
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
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "0", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!((4 == (((DLTensor*)x_handle)[0].ndim)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "x", ".ndim on argument #", "0", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "4"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((((((DLTensor*)x_handle)[0].dtype.code) == (uint8_t)2) && ((((DLTensor*)x_handle)[0].dtype.bits) == (uint8_t)32)) && ((((DLTensor*)x_handle)[0].dtype.lanes) == (uint16_t)1)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "x", ".dtype on argument #", "0", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "float32"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 8);
    return -1;
  }
  int64_t* digits_x_shape = (int64_t*)(((DLTensor*)x_handle)[0].shape);
  int64_t* digits_x_strides = (int64_t*)(((DLTensor*)x_handle)[0].strides);
  if (!(((((DLTensor*)x_handle)[0].device.device_type) == DEVICE_TYPE))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "x", ".device_type on argument #", "0", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", DEVICE_NAME};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  int32_t dev_id = (((DLTensor*)x_handle)[0].device.device_id);
  if (!(!(wc_handle == NULL))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "1", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!((4 == (((DLTensor*)wc_handle)[0].ndim)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "wc", ".ndim on argument #", "1", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "4"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((((((DLTensor*)wc_handle)[0].dtype.code) == (uint8_t)2) && ((((DLTensor*)wc_handle)[0].dtype.bits) == (uint8_t)32)) && ((((DLTensor*)wc_handle)[0].dtype.lanes) == (uint16_t)1)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "wc", ".dtype on argument #", "1", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "float32"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 8);
    return -1;
  }
  int64_t* digits_wc_shape = (int64_t*)(((DLTensor*)wc_handle)[0].shape);
  int64_t* digits_wc_strides = (int64_t*)(((DLTensor*)wc_handle)[0].strides);
  if (!(((((DLTensor*)wc_handle)[0].device.device_type) == DEVICE_TYPE))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "wc", ".device_type on argument #", "1", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", DEVICE_NAME};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(!(bc_handle == NULL))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "2", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!((1 == (((DLTensor*)bc_handle)[0].ndim)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "bc", ".ndim on argument #", "2", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "1"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((((((DLTensor*)bc_handle)[0].dtype.code) == (uint8_t)2) && ((((DLTensor*)bc_handle)[0].dtype.bits) == (uint8_t)32)) && ((((DLTensor*)bc_handle)[0].dtype.lanes) == (uint16_t)1)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "bc", ".dtype on argument #", "2", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "float32"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 8);
    return -1;
  }
  int64_t* digits_bc_shape = (int64_t*)(((DLTensor*)bc_handle)[0].shape);
  int64_t* digits_bc_strides = (int64_t*)(((DLTensor*)bc_handle)[0].strides);
  if (!(((((DLTensor*)bc_handle)[0].device.device_type) == DEVICE_TYPE))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "bc", ".device_type on argument #", "2", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", DEVICE_NAME};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(!(wd_handle == NULL))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "3", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!((2 == (((DLTensor*)wd_handle)[0].ndim)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "wd", ".ndim on argument #", "3", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "2"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((((((DLTensor*)wd_handle)[0].dtype.code) == (uint8_t)2) && ((((DLTensor*)wd_handle)[0].dtype.bits) == (uint8_t)32)) && ((((DLTensor*)wd_handle)[0].dtype.lanes) == (uint16_t)1)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "wd", ".dtype on argument #", "3", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "float32"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 8);
    return -1;
  }
  int64_t* digits_wd_shape = (int64_t*)(((DLTensor*)wd_handle)[0].shape);
  int64_t* digits_wd_strides = (int64_t*)(((DLTensor*)wd_handle)[0].strides);
  if (!(((((DLTensor*)wd_handle)[0].device.device_type) == DEVICE_TYPE))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "wd", ".device_type on argument #", "3", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", DEVICE_NAME};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(!(bd_handle == NULL))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "4", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!((1 == (((DLTensor*)bd_handle)[0].ndim)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "bd", ".ndim on argument #", "4", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "1"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((((((DLTensor*)bd_handle)[0].dtype.code) == (uint8_t)2) && ((((DLTensor*)bd_handle)[0].dtype.bits) == (uint8_t)32)) && ((((DLTensor*)bd_handle)[0].dtype.lanes) == (uint16_t)1)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "bd", ".dtype on argument #", "4", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "float32"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 8);
    return -1;
  }
  int64_t* digits_bd_shape = (int64_t*)(((DLTensor*)bd_handle)[0].shape);
  int64_t* digits_bd_strides = (int64_t*)(((DLTensor*)bd_handle)[0].strides);
  if (!(((((DLTensor*)bd_handle)[0].device.device_type) == DEVICE_TYPE))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "bd", ".device_type on argument #", "4", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", DEVICE_NAME};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(!(out_handle == NULL))) {
    const char* __tvm_assert_parts[6] = {"Mismatched type on argument #", "5", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "Tensor"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!((2 == (((DLTensor*)out_handle)[0].ndim)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "out", ".ndim on argument #", "5", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "2"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((((((DLTensor*)out_handle)[0].dtype.code) == (uint8_t)2) && ((((DLTensor*)out_handle)[0].dtype.bits) == (uint8_t)32)) && ((((DLTensor*)out_handle)[0].dtype.lanes) == (uint16_t)1)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "out", ".dtype on argument #", "5", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "float32"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", __tvm_assert_parts, 8);
    return -1;
  }
  int64_t* digits_out_shape = (int64_t*)(((DLTensor*)out_handle)[0].shape);
  int64_t* digits_out_strides = (int64_t*)(((DLTensor*)out_handle)[0].strides);
  if (!(((((DLTensor*)out_handle)[0].device.device_type) == DEVICE_TYPE))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "out", ".device_type on argument #", "5", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", DEVICE_NAME};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(digits_x_strides == NULL)) {
    if (!(((1 == ((int32_t)(((int64_t*)digits_x_strides)[3]))) && (8 == ((int32_t)(((int64_t*)digits_x_strides)[2])))))) {
      const char* __tvm_assert_parts[7] = {"Mismatched ", "x", ".strides on argument #", "0", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected to be compact array"};
      TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 7);
      return -1;
    }
  }
  if (!(!(((float*)(((DLTensor*)x_handle)[0].data)) == NULL))) {
    const char* __tvm_assert_parts[6] = {"x", " data pointer is NULL on argument #", "0", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected non-NULL data pointer"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!(digits_wc_strides == NULL)) {
    if (!((((1 == ((int32_t)(((int64_t*)digits_wc_strides)[3]))) && (3 == ((int32_t)(((int64_t*)digits_wc_strides)[2])))) && (9 == ((int32_t)(((int64_t*)digits_wc_strides)[0])))))) {
      const char* __tvm_assert_parts[7] = {"Mismatched ", "wc", ".strides on argument #", "1", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected to be compact array"};
      TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 7);
      return -1;
    }
  }
  if (!((dev_id == (((DLTensor*)wc_handle)[0].device.device_id)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "wc.device_id", " on argument #", "1", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected to match ", "x.device_id"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(!(((float*)(((DLTensor*)wc_handle)[0].data)) == NULL))) {
    const char* __tvm_assert_parts[6] = {"wc", " data pointer is NULL on argument #", "1", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected non-NULL data pointer"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!(digits_bc_strides == NULL)) {
    if (!((1 == ((int32_t)(((int64_t*)digits_bc_strides)[0]))))) {
      const char* __tvm_assert_parts[7] = {"Mismatched ", "bc", ".strides on argument #", "2", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected to be compact array"};
      TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 7);
      return -1;
    }
  }
  if (!((dev_id == (((DLTensor*)bc_handle)[0].device.device_id)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "bc.device_id", " on argument #", "2", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected to match ", "x.device_id"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(!(((float*)(((DLTensor*)bc_handle)[0].data)) == NULL))) {
    const char* __tvm_assert_parts[6] = {"bc", " data pointer is NULL on argument #", "2", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected non-NULL data pointer"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!(digits_wd_strides == NULL)) {
    if (!(((1 == ((int32_t)(((int64_t*)digits_wd_strides)[1]))) && (128 == ((int32_t)(((int64_t*)digits_wd_strides)[0])))))) {
      const char* __tvm_assert_parts[7] = {"Mismatched ", "wd", ".strides on argument #", "3", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected to be compact array"};
      TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 7);
      return -1;
    }
  }
  if (!((dev_id == (((DLTensor*)wd_handle)[0].device.device_id)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "wd.device_id", " on argument #", "3", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected to match ", "x.device_id"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(!(((float*)(((DLTensor*)wd_handle)[0].data)) == NULL))) {
    const char* __tvm_assert_parts[6] = {"wd", " data pointer is NULL on argument #", "3", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected non-NULL data pointer"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!(digits_bd_strides == NULL)) {
    if (!((1 == ((int32_t)(((int64_t*)digits_bd_strides)[0]))))) {
      const char* __tvm_assert_parts[7] = {"Mismatched ", "bd", ".strides on argument #", "4", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected to be compact array"};
      TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 7);
      return -1;
    }
  }
  if (!((dev_id == (((DLTensor*)bd_handle)[0].device.device_id)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "bd.device_id", " on argument #", "4", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected to match ", "x.device_id"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(!(((float*)(((DLTensor*)bd_handle)[0].data)) == NULL))) {
    const char* __tvm_assert_parts[6] = {"bd", " data pointer is NULL on argument #", "4", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected non-NULL data pointer"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!(digits_out_strides == NULL)) {
    if (!((1 == ((int32_t)(((int64_t*)digits_out_strides)[1]))))) {
      const char* __tvm_assert_parts[7] = {"Mismatched ", "out", ".strides on argument #", "5", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected to be compact array"};
      TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 7);
      return -1;
    }
  }
  if (!((dev_id == (((DLTensor*)out_handle)[0].device.device_id)))) {
    const char* __tvm_assert_parts[8] = {"Mismatched ", "out.device_id", " on argument #", "5", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected to match ", "x.device_id"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(!(((float*)(((DLTensor*)out_handle)[0].data)) == NULL))) {
    const char* __tvm_assert_parts[6] = {"out", " data pointer is NULL on argument #", "5", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected non-NULL data pointer"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 6);
    return -1;
  }
  if (!((((int32_t)(((int64_t*)digits_x_shape)[0])) == 1))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "x.shape[0]", " on argument #", "0", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "1"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!((((int32_t)(((int64_t*)digits_x_shape)[1])) == 1))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "x.shape[1]", " on argument #", "0", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "1"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!((((int32_t)(((int64_t*)digits_x_shape)[2])) == 8))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "x.shape[2]", " on argument #", "0", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "8"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!((((int32_t)(((int64_t*)digits_x_shape)[3])) == 8))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "x.shape[3]", " on argument #", "0", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "8"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((uint64_t)0ULL == (((DLTensor*)x_handle)[0].byte_offset)))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "x.byte_offset", " on argument #", "0", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "0"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!((((int32_t)(((int64_t*)digits_wc_shape)[0])) == 8))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "wc.shape[0]", " on argument #", "1", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "8"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!((((int32_t)(((int64_t*)digits_wc_shape)[1])) == 1))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "wc.shape[1]", " on argument #", "1", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "1"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!((((int32_t)(((int64_t*)digits_wc_shape)[2])) == 3))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "wc.shape[2]", " on argument #", "1", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "3"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!((((int32_t)(((int64_t*)digits_wc_shape)[3])) == 3))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "wc.shape[3]", " on argument #", "1", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "3"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((uint64_t)0ULL == (((DLTensor*)wc_handle)[0].byte_offset)))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "wc.byte_offset", " on argument #", "1", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "0"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!((((int32_t)(((int64_t*)digits_bc_shape)[0])) == 8))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "bc.shape[0]", " on argument #", "2", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "8"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((uint64_t)0ULL == (((DLTensor*)bc_handle)[0].byte_offset)))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "bc.byte_offset", " on argument #", "2", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "0"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!((((int32_t)(((int64_t*)digits_wd_shape)[0])) == 10))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "wd.shape[0]", " on argument #", "3", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "10"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!((((int32_t)(((int64_t*)digits_wd_shape)[1])) == 128))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "wd.shape[1]", " on argument #", "3", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "128"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((uint64_t)0ULL == (((DLTensor*)wd_handle)[0].byte_offset)))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "wd.byte_offset", " on argument #", "3", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "0"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!((((int32_t)(((int64_t*)digits_bd_shape)[0])) == 10))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "bd.shape[0]", " on argument #", "4", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "10"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((uint64_t)0ULL == (((DLTensor*)bd_handle)[0].byte_offset)))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "bd.byte_offset", " on argument #", "4", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "0"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!((((int32_t)(((int64_t*)digits_out_shape)[0])) == 1))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "out.shape[0]", " on argument #", "5", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "1"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!((((int32_t)(((int64_t*)digits_out_shape)[1])) == 10))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "out.shape[1]", " on argument #", "5", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "10"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  if (!(((uint64_t)0ULL == (((DLTensor*)out_handle)[0].byte_offset)))) {
    const char* __tvm_assert_parts[8] = {"Invalid ", "out.byte_offset", " on argument #", "5", " when calling:\n  `", "digits(x: Tensor([1, 1, 8, 8], float32), wc: Tensor([8, 1, 3, 3], float32), bc: Tensor([8], float32), wd: Tensor([10, 128], float32), bd: Tensor([10], float32), out: Tensor([1, 10], float32))", "`,\n  expected ", "0"};
    TVMFFIErrorSetRaisedFromCStrParts("ValueError", __tvm_assert_parts, 8);
    return -1;
  }
  float* x = ((float*)((float*)(((DLTensor*)x_handle)[0].data)));
  float* wc = ((float*)((float*)(((DLTensor*)wc_handle)[0].data)));
  float* bc = ((float*)((float*)(((DLTensor*)bc_handle)[0].data)));
  float* wd = ((float*)((float*)(((DLTensor*)wd_handle)[0].data)));
  float* bd = ((float*)((float*)(((DLTensor*)bd_handle)[0].data)));
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
  float* relu = ((float*)((float*)TVMBackendAllocWorkspace(DEVICE_TYPE, dev_id, (uint64_t)2048ULL, 2, 32)));
  if (relu == NULL) {
    return -1;
  }
  float* pool_max = ((float*)((float*)TVMBackendAllocWorkspace(DEVICE_TYPE, dev_id, (uint64_t)512ULL, 2, 32)));
  if (pool_max == NULL) {
    return -1;
  }
  if (bc == NULL) {
    (((TVMFFIAny*)stack_ffi_any)[0].type_index) = 0;
  } else {
    (((TVMFFIAny*)stack_ffi_any)[0].type_index) = 4;
  }
  (((TVMFFIAny*)stack_ffi_any)[0].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[0].v_int64) = 0;
  (((TVMFFIAny*)stack_ffi_any)[0].v_ptr) = bc;
  if (relu == NULL) {
    (((TVMFFIAny*)stack_ffi_any)[1].type_index) = 0;
  } else {
    (((TVMFFIAny*)stack_ffi_any)[1].type_index) = 4;
  }
  (((TVMFFIAny*)stack_ffi_any)[1].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[1].v_int64) = 0;
  (((TVMFFIAny*)stack_ffi_any)[1].v_ptr) = relu;
  if (wc == NULL) {
    (((TVMFFIAny*)stack_ffi_any)[2].type_index) = 0;
  } else {
    (((TVMFFIAny*)stack_ffi_any)[2].type_index) = 4;
  }
  (((TVMFFIAny*)stack_ffi_any)[2].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[2].v_int64) = 0;
  (((TVMFFIAny*)stack_ffi_any)[2].v_ptr) = wc;
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
  (((TVMFFIAny*)stack_ffi_any)[5].v_int64) = ((int64_t)64);
  (((TVMFFIAny*)stack_ffi_any)[6].type_index) = 0;
  (((TVMFFIAny*)stack_ffi_any)[6].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[6].v_int64) = (int64_t)0;
  if (digits_kernel_packed == NULL) {
    if (TVMFFIEnvModLookupFromImports(__tvm_ffi__library_ctx, "digits_kernel", &digits_kernel_packed) != 0) {
      return -1;
    }
  }
  TVMFFIAny result_2;
  result_2.type_index = kTVMFFINone;
  result_2.zero_padding = 0;
  result_2.v_int64 = 0;
  if (TVMFFIFunctionCall(digits_kernel_packed, (TVMFFIAny*) stack_ffi_any, 6, &result_2) != 0) {
    return -1;
  }
  if (pool_max == NULL) {
    (((TVMFFIAny*)stack_ffi_any)[0].type_index) = 0;
  } else {
    (((TVMFFIAny*)stack_ffi_any)[0].type_index) = 4;
  }
  (((TVMFFIAny*)stack_ffi_any)[0].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[0].v_int64) = 0;
  (((TVMFFIAny*)stack_ffi_any)[0].v_ptr) = pool_max;
  if (relu == NULL) {
    (((TVMFFIAny*)stack_ffi_any)[1].type_index) = 0;
  } else {
    (((TVMFFIAny*)stack_ffi_any)[1].type_index) = 4;
  }
  (((TVMFFIAny*)stack_ffi_any)[1].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[1].v_int64) = 0;
  (((TVMFFIAny*)stack_ffi_any)[1].v_ptr) = relu;
  (((TVMFFIAny*)stack_ffi_any)[2].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[2].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[2].v_int64) = ((int64_t)2);
  (((TVMFFIAny*)stack_ffi_any)[3].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[3].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[3].v_int64) = ((int64_t)64);
  (((TVMFFIAny*)stack_ffi_any)[4].type_index) = 0;
  (((TVMFFIAny*)stack_ffi_any)[4].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[4].v_int64) = (int64_t)0;
  if (digits_kernel_1_packed == NULL) {
    if (TVMFFIEnvModLookupFromImports(__tvm_ffi__library_ctx, "digits_kernel_1", &digits_kernel_1_packed) != 0) {
      return -1;
    }
  }
  TVMFFIAny result_3;
  result_3.type_index = kTVMFFINone;
  result_3.zero_padding = 0;
  result_3.v_int64 = 0;
  if (TVMFFIFunctionCall(digits_kernel_1_packed, (TVMFFIAny*) stack_ffi_any, 4, &result_3) != 0) {
    return -1;
  }
  if (bd == NULL) {
    (((TVMFFIAny*)stack_ffi_any)[0].type_index) = 0;
  } else {
    (((TVMFFIAny*)stack_ffi_any)[0].type_index) = 4;
  }
  (((TVMFFIAny*)stack_ffi_any)[0].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[0].v_int64) = 0;
  (((TVMFFIAny*)stack_ffi_any)[0].v_ptr) = bd;
  if (out == NULL) {
    (((TVMFFIAny*)stack_ffi_any)[1].type_index) = 0;
  } else {
    (((TVMFFIAny*)stack_ffi_any)[1].type_index) = 4;
  }
  (((TVMFFIAny*)stack_ffi_any)[1].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[1].v_int64) = 0;
  (((TVMFFIAny*)stack_ffi_any)[1].v_ptr) = out;
  if (pool_max == NULL) {
    (((TVMFFIAny*)stack_ffi_any)[2].type_index) = 0;
  } else {
    (((TVMFFIAny*)stack_ffi_any)[2].type_index) = 4;
  }
  (((TVMFFIAny*)stack_ffi_any)[2].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[2].v_int64) = 0;
  (((TVMFFIAny*)stack_ffi_any)[2].v_ptr) = pool_max;
  if (wd == NULL) {
    (((TVMFFIAny*)stack_ffi_any)[3].type_index) = 0;
  } else {
    (((TVMFFIAny*)stack_ffi_any)[3].type_index) = 4;
  }
  (((TVMFFIAny*)stack_ffi_any)[3].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[3].v_int64) = 0;
  (((TVMFFIAny*)stack_ffi_any)[3].v_ptr) = wd;
  (((TVMFFIAny*)stack_ffi_any)[4].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[4].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[4].v_int64) = ((int64_t)1);
  (((TVMFFIAny*)stack_ffi_any)[5].type_index) = 1;
  (((TVMFFIAny*)stack_ffi_any)[5].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[5].v_int64) = ((int64_t)10);
  (((TVMFFIAny*)stack_ffi_any)[6].type_index) = 0;
  (((TVMFFIAny*)stack_ffi_any)[6].zero_padding) = 0;
  (((TVMFFIAny*)stack_ffi_any)[6].v_int64) = (int64_t)0;
  if (digits_kernel_2_packed == NULL) {
    if (TVMFFIEnvModLookupFromImports(__tvm_ffi__library_ctx, "digits_kernel_2", &digits_kernel_2_packed) != 0) {
      return -1;
    }
  }
  TVMFFIAny result_4;
  result_4.type_index = kTVMFFINone;
  result_4.zero_padding = 0;
  result_4.v_int64 = 0;
  if (TVMFFIFunctionCall(digits_kernel_2_packed, (TVMFFIAny*) stack_ffi_any, 6, &result_4) != 0) {
    return -1;
  }
  if (TVMBackendFreeWorkspace(DEVICE_TYPE, dev_id, pool_max) != 0) {
    return -1;
  }
  if (TVMBackendFreeWorkspace(DEVICE_TYPE, dev_id, relu) != 0) {
    return -1;
  }
  return 0;
}

// CodegenC: NOTE: Auto-generated entry function
#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t __tvm_ffi_main(void* self, void* args,int num_args, void* result) {
  return __tvm_ffi_digits(self, args, num_args, result);
}
