/*
 * packed.c: a model written by hand in the form that microTVM generated for its packed interface
 * (0.8 to 0.14): operators and entry are packed functions, errors are strings, a workspace is
 * allocated and freed, a function of another file is looked up once.
 */
// tvm target: c -keys=cpu
#define TVM_EXPORTS
#include "tvm/runtime/c_runtime_api.h"
#include "tvm/runtime/c_backend_api.h"
#include <math.h>
#include <stdbool.h>

#include "data.h"

void* __tvm_module_ctx = NULL;
static void* byhand_halve_packed = NULL;

#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t tvmgen_byhand_fused_multiply_add_relu(void* args, int32_t* arg_type_ids, int32_t num_args, void* out_ret_value, int32_t* out_ret_tcode, void* resource_handle) {
  if (!(num_args == 2)) {
    TVMAPISetLastError("tvmgen_byhand_fused_multiply_add_relu: num_args should be 2");
    return -1;
  }
  int32_t arg_x_code = arg_type_ids[0];
  int32_t arg_T_relu_code = arg_type_ids[1];
  void* arg_x = (((TVMValue*)args)[0].v_handle);
  void* arg_T_relu = (((TVMValue*)args)[1].v_handle);
  if (!((((arg_x_code == 3) || (arg_x_code == 13)) || (arg_x_code == 7)) || (arg_x_code == 4))) {
    TVMAPISetLastError("Assert fail: arg_x_code == 3 or arg_x_code == 13 or arg_x_code == 7 or arg_x_code == 4, tvmgen_byhand_fused_multiply_add_relu: Expect arg[0] to be pointer");
    return -1;
  }
  if (!((((arg_T_relu_code == 3) || (arg_T_relu_code == 13)) || (arg_T_relu_code == 7)) || (arg_T_relu_code == 4))) {
    TVMAPISetLastError("tvmgen_byhand_fused_multiply_add_relu: Expect arg[1] to be pointer");
    return -1;
  }
  void* x = (((DLTensor*)arg_x)[0].data);
  void* arg_x_shape = (((DLTensor*)arg_x)[0].shape);
  void* arg_x_strides = (((DLTensor*)arg_x)[0].strides);
  int32_t dev_id = (((DLTensor*)arg_x)[0].device.device_id);
  void* T_relu = (((DLTensor*)arg_T_relu)[0].data);
  if (!(arg_x_strides == NULL)) {
  }
  if (!(16 == ((int32_t)((int64_t*)arg_x_shape)[1]))) {
    TVMAPISetLastError("Argument arg_x.shape[1] has an unsatisfied constraint: 16 == (int32)((int64*)arg_x_shape)[1]");
    return -1;
  }
  for (int32_t ax0 = 0; ax0 < 16; ++ax0) {
    for (int32_t ax1 = 0; ax1 < 16; ++ax1) {
      float v_ = (((float*)x)[ax1] * model_a[ax0]) + model_b[ax1];
      ((float*)T_relu)[((ax0 * 16) + ax1)] = ((v_) > (0.000000e+00f) ? (v_) : (0.000000e+00f));
    }
  }
  return 0;
}

#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t tvmgen_byhand_fused_dense(void* args, int32_t* arg_type_ids, int32_t num_args, void* out_ret_value, int32_t* out_ret_tcode, void* resource_handle) {
  void* arg_p0 = (((TVMValue*)args)[0].v_handle);
  void* arg_T_dense = (((TVMValue*)args)[1].v_handle);
  void* p0 = (((DLTensor*)arg_p0)[0].data);
  void* T_dense = (((DLTensor*)arg_T_dense)[0].data);
  for (int32_t ax1 = 0; ax1 < 4; ++ax1) {
    ((float*)T_dense)[ax1] = 0.000000e+00f;
    for (int32_t k = 0; k < 256; ++k) {
      ((float*)T_dense)[ax1] = (((float*)T_dense)[ax1] + (((float*)p0)[k] * model_w[ax1][(k & 15)]));
    }
  }
  return 0;
}

#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t tvmgen_byhand___tvm_main__(void* args, int32_t* arg_type_ids, int32_t num_args, void* out_ret_value, int32_t* out_ret_tcode, void* resource_handle) {
  TVMValue stack[2];
  void* stack_value = stack;
  int32_t stack_1[2];
  void* stack_tcode = stack_1;
  TVMArray stack_2[1];
  void* stack_array = stack_2;
  TVMValue stack_3[2];
  void* stack_shape = stack_3;
  void* arg_input = (((TVMValue*)args)[0].v_handle);
  void* arg_output = (((TVMValue*)args)[1].v_handle);
  int32_t dev_id = (((DLTensor*)arg_input)[0].device.device_id);
  void* sid_1 = TVMBackendAllocWorkspace(1, dev_id, (uint64_t)1024, 0, 8);
  if (sid_1 == NULL) {
    return -1;
  }
  ((int64_t*)stack_shape)[0] = (int64_t)1;
  ((int64_t*)stack_shape)[1] = (int64_t)256;
  (((DLTensor*)stack_array)[0].data) = sid_1;
  (((DLTensor*)stack_array)[0].shape) = ((int64_t*)stack_shape);
  (((DLTensor*)stack_array)[0].strides) = NULL;
  (((DLTensor*)stack_array)[0].ndim) = 2;
  (((DLTensor*)stack_array)[0].dtype.code) = (uint8_t)2;
  (((DLTensor*)stack_array)[0].dtype.bits) = (uint8_t)32;
  (((DLTensor*)stack_array)[0].dtype.lanes) = (uint16_t)1;
  (((DLTensor*)stack_array)[0].byte_offset) = (uint64_t)0;
  (((DLTensor*)stack_array)[0].device.device_id) = dev_id;
  (((DLTensor*)stack_array)[0].device.device_type) = 1;
  (((TVMValue*)stack_value)[0].v_handle) = arg_input;
  ((int32_t*)stack_tcode)[0] = 7;
  (((TVMValue*)stack_value)[1].v_handle) = (((DLTensor*)stack_array) + 0);
  ((int32_t*)stack_tcode)[1] = 7;
  TVMValue ret_val;
  int32_t ret_type_code;
  if (tvmgen_byhand_fused_multiply_add_relu((TVMValue*)stack_value, (int32_t*)stack_tcode, 2, &ret_val, &ret_type_code, NULL) != 0) {
    TVMBackendFreeWorkspace(1, dev_id, sid_1);
    return -1;
  }
  (((TVMValue*)stack_value)[0].v_handle) = (((DLTensor*)stack_array) + 0);
  ((int32_t*)stack_tcode)[0] = 7;
  (((TVMValue*)stack_value)[1].v_handle) = arg_output;
  ((int32_t*)stack_tcode)[1] = 7;
  TVMValue ret_val_1;
  int32_t ret_type_code_1;
  if (tvmgen_byhand_fused_dense((TVMValue*)stack_value, (int32_t*)stack_tcode, 2, &ret_val_1, &ret_type_code_1, NULL) != 0) {
    return -1;
  }
  if (TVMBackendFreeWorkspace(1, dev_id, sid_1) != 0) {
    return -1;
  }
  return 0;
}

#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t tvmgen_byhand_halve_all(void* args, int32_t* arg_type_ids, int32_t num_args, void* out_ret_value, int32_t* out_ret_tcode, void* resource_handle) {
  TVMValue stack[1];
  void* stack_value = stack;
  int32_t stack_1[1];
  void* stack_tcode = stack_1;
  void* arg_p0 = (((TVMValue*)args)[0].v_handle);
  void* p0 = (((DLTensor*)arg_p0)[0].data);
  for (int32_t ax0 = 0; ax0 < 4; ++ax0) {
    (((TVMValue*)stack_value)[0].v_float64) = ((double)((float*)p0)[ax0]);
    ((int32_t*)stack_tcode)[0] = 2;
    if (byhand_halve_packed == NULL) {
      if (TVMBackendGetFuncFromEnv(__tvm_module_ctx, "byhand.halve", &byhand_halve_packed) != 0) {
        return -1;
      }
    }
    TVMValue ret_val;
    int ret_type_code;
    if (TVMFuncCall(byhand_halve_packed, (TVMValue*)stack_value, (int*)stack_tcode, 1, &ret_val, &ret_type_code) != 0) {
      return -1;
    }
    ((float*)p0)[ax0] = ((float)ret_val.v_float64);
  }
  return 0;
}

static int tvmgen_byhand_double_all_closure(int task_id, TVMParallelGroupEnv* penv, void* cdata) {
  void* p0 = (((TVMValue*)cdata)[0].v_handle);
  int32_t num_task = penv->num_task;
  for (int32_t ax0 = task_id; ax0 < 4; ax0 = ax0 + num_task) {
    ((float*)p0)[ax0] = (((float*)p0)[ax0] * 2.000000e+00f);
  }
  return TVMBackendParallelBarrier(task_id, penv);
}

#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t tvmgen_byhand_double_all(void* args, int32_t* arg_type_ids, int32_t num_args, void* out_ret_value, int32_t* out_ret_tcode, void* resource_handle) {
  TVMValue closure_data[1];
  (closure_data[0].v_handle) = (((DLTensor*)(((TVMValue*)args)[0].v_handle))[0].data);
  return TVMBackendParallelLaunch(tvmgen_byhand_double_all_closure, closure_data, 0);
}

#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t tvmgen_byhand_run(TVMValue* args, int* type_code, int num_args, TVMValue* out_value, int* out_type_code, void* resource_handle) {
  return tvmgen_byhand___tvm_main__(args, (int32_t*)type_code, num_args, out_value, (int32_t*)out_type_code, resource_handle);
}
