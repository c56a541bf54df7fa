/*
 * unpacked.c: the model of packed.c, written by hand in the form that microTVM generated for its C
 * interface (0.8 to 0.14): arguments in structures of pointers, operators as C functions. `plain`
 * allocates its workspace at run time; that of `pools` was planned.
 */
// tvm target: c -keys=arm_cpu,cpu -mcpu=cortex-m4
#define TVM_EXPORTS
#include "tvm/runtime/c_runtime_api.h"
#include "tvm/runtime/c_backend_api.h"
#include <math.h>
#include <stdbool.h>

#include "data.h"

#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t tvmgen_plain_fused_multiply_add_relu(float* p0, float* T_relu, int32_t first, int32_t count) {
  for (int32_t i = first; i < (first + count); ++i) {
    float v_ = (p0[(i & 15)] * model_a[(i >> 4)]) + model_b[(i & 15)];
    T_relu[(i - first)] = ((v_) > (0.000000e+00f) ? (v_) : (0.000000e+00f));
  }
  return 0;
}

#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t tvmgen_plain_fused_dense(float* p0, int32_t count, float* T_dense) {
  for (int32_t ax1 = 0; ax1 < 4; ++ax1) {
    for (int32_t k = 0; k < count; ++k) {
      T_dense[ax1] = (T_dense[ax1] + (p0[k] * model_w[ax1][(k & 15)]));
    }
  }
  return 0;
}

#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t tvmgen_plain___tvm_main__(void* x_buffer_var, void* output_buffer_var) {
  void* sid_1_let = TVMBackendAllocWorkspace(1, 0, (uint64_t)1024, 0, 8);
  if (sid_1_let == NULL) {
    return -1;
  }
  for (int32_t i = 0; i < 4; ++i) {
    ((float*)output_buffer_var)[i] = 0.000000e+00f;
  }
  if (tvmgen_plain_fused_multiply_add_relu(x_buffer_var, sid_1_let, 0, 256) != 0 ) return -1;
  if (tvmgen_plain_fused_dense(sid_1_let, 256, output_buffer_var) != 0 ) return -1;
  if (TVMBackendFreeWorkspace(1, 0, sid_1_let) != 0) {
    return -1;
  }
  return 0;
}

#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t tvmgen_pools___tvm_main__(float* x_buffer_var, float* output_buffer_var, uint8_t* global_workspace_0_var, uint8_t* sram_1_var) {
  void* sid_1_let = (&(sram_1_var[0]));
  void* sid_2_let = (&(global_workspace_0_var[0]));
  for (int32_t i = 0; i < 4; ++i) {
    output_buffer_var[i] = 0.000000e+00f;
  }
  if (tvmgen_plain_fused_multiply_add_relu(x_buffer_var, sid_1_let, 0, 192) != 0 ) return -1;
  if (tvmgen_plain_fused_multiply_add_relu(x_buffer_var, sid_2_let, 192, 64) != 0 ) return -1;
  if (tvmgen_plain_fused_dense(sid_1_let, 192, output_buffer_var) != 0 ) return -1;
  if (tvmgen_plain_fused_dense(sid_2_let, 64, output_buffer_var) != 0 ) return -1;
  return 0;
}

#ifdef __cplusplus
extern "C" {
#endif
__attribute__((section(".bss.noinit.tvm"), aligned(16)))
static uint8_t global_workspace[256];
#include <tvmgen_plain.h>
int32_t tvmgen_plain_run(struct tvmgen_plain_inputs* inputs,struct tvmgen_plain_outputs* outputs) {return tvmgen_plain___tvm_main__(inputs->x,outputs->output);
}
int32_t tvmgen_pools_run(struct tvmgen_pools_inputs* inputs,struct tvmgen_pools_outputs* outputs,struct tvmgen_pools_workspace_pools* workspace_pools) {return tvmgen_pools___tvm_main__(inputs->x,outputs->output,global_workspace,workspace_pools->sram);
}
#ifdef __cplusplus
}
#endif
;
