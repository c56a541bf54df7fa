/*
 * tvm_ffi_minimal.h: firmware functions of the profile `minimal` beyond TVM's own headers.
 *
 * Copyright the Ferrite developers. SPDX-License-Identifier: Apache-2.0
 *
 * Generated from the Rust sources; change those instead. The rules of tvm/ffi/c_api.h hold here
 * too.
 */

#ifndef TVM_FFI_MINIMAL_H_
#define TVM_FFI_MINIMAL_H_

#include <tvm/ffi/c_api.h>

#ifdef __cplusplus
extern "C" {
#endif /* __cplusplus */

/**
 * Sets the buffer from which `TVMBackendAllocWorkspace` allocates, and resets the high-water mark.
 *
 * Initially there is no buffer. Each workspace takes its size rounded up to a multiple of
 * `FERRITE_WORKSPACE_ALIGN`, plus `FERRITE_WORKSPACE_ALIGN` bytes of overhead. Null with size 0
 * unsets the buffer. Returns 0, or -1 with an error raised: ValueError for null with a nonzero
 * size, RuntimeError while a workspace is in use.
 *
 * The caller must ensure:
 * No other code may use the buffer until another one is set.
 */
TVM_FFI_DLL int FerriteWorkspaceSet(void *buffer, size_t size);

/**
 * Returns the high-water mark of the workspace buffer in bytes: the size that the buffer must
 * have.
 */
TVM_FFI_DLL size_t FerriteWorkspaceHighWater(void);

#ifdef __cplusplus
} /* extern "C" */
#endif /* __cplusplus */

#endif  /* TVM_FFI_MINIMAL_H_ */
