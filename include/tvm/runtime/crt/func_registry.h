/*
 * tvm/runtime/crt/func_registry.h: the tables of functions in code that microTVM generated.
 *
 * Copyright the Ferrite developers. SPDX-License-Identifier: Apache-2.0
 *
 * Generated from the Rust sources; change those instead. Part of the library when it is built with the feature `microtvm`.
 */

#ifndef TVM_RUNTIME_CRT_FUNC_REGISTRY_H_
#define TVM_RUNTIME_CRT_FUNC_REGISTRY_H_

#include <tvm/runtime/c_backend_api.h>
#include <tvm/runtime/c_runtime_api.h>
#include <tvm/runtime/crt/error_codes.h>

typedef uint16_t tvm_function_index_t;
typedef uint16_t tvm_module_index_t;

/**
 * A table of functions with their names.
 */
typedef struct TVMFuncRegistry {
  /**
   * Number of functions, in two bytes, the lower one first, or in one byte (0.8); then their names, each with a zero behind.
   */
  const char *names;
  /**
   * The functions in the order of their names.
   */
  const TVMBackendPackedCFunc *funcs;
} TVMFuncRegistry;

#ifdef __cplusplus
extern "C" {
#endif /* __cplusplus */

/**
 * Finds the index of a function in a table.
 *
 * Returns kTvmErrorNoError and the index in `function_index`; kTvmErrorFunctionNameNotFound; or
 * kTvmErrorFunctionCallInvalidArg for null.
 *
 * The caller must ensure:
 * The table is one of generated code.
 */
TVM_DLL
tvm_crt_error_t TVMFuncRegistry_Lookup(const struct TVMFuncRegistry *reg,
                                       const char *name,
                                       uint16_t *function_index);

/**
 * Gives the function at an index of a table.
 *
 * Returns kTvmErrorNoError and the function in `out_func`; kTvmErrorFunctionIndexInvalid; or
 * kTvmErrorFunctionCallInvalidArg for null.
 *
 * The caller must ensure:
 * The table is one of generated code.
 */
TVM_DLL
tvm_crt_error_t TVMFuncRegistry_GetByIndex(const struct TVMFuncRegistry *reg,
                                           uint16_t index,
                                           TVMBackendPackedCFunc *out_func);

#ifdef __cplusplus
} /* extern "C" */
#endif /* __cplusplus */

#endif  /* TVM_RUNTIME_CRT_FUNC_REGISTRY_H_ */
