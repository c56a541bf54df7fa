/*
 * tvm_ffi_minimal.h: what the profile `minimal` offers to firmware beside TVM's own headers.
 *
 * Copyright the Ferrite developers. SPDX-License-Identifier: Apache-2.0
 *
 * Generated from the Rust sources; change those instead. The rules of tvm/ffi/c_api.h hold here too.
 */

#ifndef TVM_FFI_MINIMAL_H_
#define TVM_FFI_MINIMAL_H_

#include <tvm/ffi/c_api.h>

#ifdef __cplusplus
extern "C" {
#endif /* __cplusplus */

/**
 * Hands over the memory that `TVMBackendAllocWorkspace` gives to compiled functions, and starts the high-water mark again.
 *
 * Until then there is none. Each workspace takes its bytes, rounded up to the alignment of workspaces, and one such unit more.
 * Null with size 0 takes the buffer back. Returns 0; or -1 with an error raised: ValueError for null with a size, RuntimeError
 * while a workspace is in use.
 *
 * The caller sees to it:
 * Nobody else uses the buffer until another one is set.
 */
TVM_FFI_DLL
int FerriteWorkspaceSet(void *buffer,
                        size_t size);

/**
 * Tells the most bytes of the workspace buffer that were in use at once: what the buffer needs to have.
 */
TVM_FFI_DLL
size_t FerriteWorkspaceHighWater(void);

#ifdef __cplusplus
} /* extern "C" */
#endif /* __cplusplus */

#endif  /* TVM_FFI_MINIMAL_H_ */
