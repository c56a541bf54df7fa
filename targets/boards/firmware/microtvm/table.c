/*
 * table.c: the tables of packed.c, written by hand in the form that microTVM generated with
 * `--system-lib` and the C runtime: names and functions, of 0.9 and later, and of 0.8, whose count
 * of names takes one byte; and functions with facts of the model.
 */
#include <tvm/runtime/crt/module.h>
#ifdef __cplusplus
extern "C"
#endif
TVM_DLL int32_t tvmgen_byhand_fused_multiply_add_relu(TVMValue* args, int* type_code, int num_args, TVMValue* out_value, int* out_type_code, void* resource_handle);
TVM_DLL int32_t tvmgen_byhand_fused_dense(TVMValue* args, int* type_code, int num_args, TVMValue* out_value, int* out_type_code, void* resource_handle);
TVM_DLL int32_t tvmgen_byhand_halve_all(TVMValue* args, int* type_code, int num_args, TVMValue* out_value, int* out_type_code, void* resource_handle);
TVM_DLL int32_t tvmgen_byhand_double_all(TVMValue* args, int* type_code, int num_args, TVMValue* out_value, int* out_type_code, void* resource_handle);
TVM_DLL int32_t tvmgen_byhand_run(TVMValue* args, int* type_code, int num_args, TVMValue* out_value, int* out_type_code, void* resource_handle);
TVM_DLL int32_t tvmgen_byhand_get_c_metadata(TVMValue* args, int* type_code, int num_args, TVMValue* out_value, int* out_type_code, void* resource_handle);
static TVMBackendPackedCFunc _tvm_func_array[] = {
    (TVMBackendPackedCFunc)tvmgen_byhand_fused_multiply_add_relu,
    (TVMBackendPackedCFunc)tvmgen_byhand_fused_dense,
    (TVMBackendPackedCFunc)tvmgen_byhand_halve_all,
    (TVMBackendPackedCFunc)tvmgen_byhand_double_all,
    (TVMBackendPackedCFunc)tvmgen_byhand_run,
    (TVMBackendPackedCFunc)tvmgen_byhand_get_c_metadata,
};
static const TVMFuncRegistry _tvm_func_registry = {
    "\006\000tvmgen_byhand_fused_multiply_add_relu\000tvmgen_byhand_fused_dense\000tvmgen_byhand_halve_all\000tvmgen_byhand_double_all\000tvmgen_byhand_run\000tvmgen_byhand_get_c_metadata\000",    _tvm_func_array,
};
static const TVMModule _tvm_system_lib = {
    &_tvm_func_registry,
};
const TVMModule* TVMSystemLibEntryPoint(void) {
    return &_tvm_system_lib;
}

static const TVMFuncRegistry _tvm_func_registry_of_0_8 = {
    "\005tvmgen_byhand_fused_multiply_add_relu\000tvmgen_byhand_fused_dense\000tvmgen_byhand_halve_all\000tvmgen_byhand_double_all\000tvmgen_byhand_run\000",    _tvm_func_array,
};
const TVMModule byhand_system_lib_of_0_8 = {
    &_tvm_func_registry_of_0_8,
};

#ifndef __wasm__ /* has no C library */
#include <inttypes.h>
#endif
#include <tvm/runtime/metadata_types.h>
static const int64_t kTvmgenMetadata_inputs_0_shape[2] = {
1L,
16L};
static const struct TVMTensorInfo kTvmgenMetadata_inputs[1] = {
{
"x" /* name*/,
kTvmgenMetadata_inputs_0_shape,
2L /* num_shape*/,
{2, 32, 1} /* dtype*/}
};
static const int64_t kTvmgenMetadata_outputs_0_shape[2] = {
1L,
4L};
static const struct TVMTensorInfo kTvmgenMetadata_outputs[1] = {
{
"output" /* name*/,
kTvmgenMetadata_outputs_0_shape,
2L /* num_shape*/,
{2, 32, 1} /* dtype*/}
};
static const struct TVMMetadata kTvmgenMetadata[1] = {
{
1L /* version*/,
kTvmgenMetadata_inputs,
1L /* num_inputs*/,
kTvmgenMetadata_outputs,
1L /* num_outputs*/,
NULL,
0L /* num_workspace_pools*/,
NULL,
0L /* num_constant_pools*/,
"tvmgen_byhand" /* mod_name*/}
};
TVM_DLL int32_t tvmgen_byhand_get_c_metadata(TVMValue* arg_values, int* arg_tcodes, int num_args, TVMValue* ret_values, int* ret_tcodes, void* resource_handle) {
    ret_values[0].v_handle = (void*) &kTvmgenMetadata;
    ret_tcodes[0] = kTVMOpaqueHandle;
    return 0;
};
