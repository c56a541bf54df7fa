/*
 * tvm/runtime/crt/module.h: modules of code that microTVM generated.
 *
 * Copyright the Ferrite developers. SPDX-License-Identifier: Apache-2.0
 *
 * Generated from the Rust sources; change those instead. Part of the library when it is built with the feature `microtvm`.
 */

#ifndef TVM_RUNTIME_CRT_MODULE_H_
#define TVM_RUNTIME_CRT_MODULE_H_

#include <tvm/runtime/crt/func_registry.h>

#ifdef __cplusplus
extern "C" {
#endif
/* What generated code defines: the module of all that is linked into the program. */
const struct TVMModule* TVMSystemLibEntryPoint(void);
#ifdef __cplusplus
}
#endif

/**
 * A module: what `TVMSystemLibEntryPoint` of generated code returns.
 */
typedef struct TVMModule {
  /**
   * Its functions.
   */
  const TVMFuncRegistry *registry;
} TVMModule;

#ifdef __cplusplus
extern "C" {
#endif /* __cplusplus */

/**
 * Makes a handle of a module that generated code has. Nothing has to be freed.
 *
 * The caller must ensure:
 * The module stays where it is.
 */
TVM_DLL int TVMModCreateFromCModule(const struct TVMModule *mod_, TVMModuleHandle *out_handle);

#ifdef __cplusplus
} /* extern "C" */
#endif /* __cplusplus */

#endif  /* TVM_RUNTIME_CRT_MODULE_H_ */
