/*
 * tvm/runtime/crt/stack_allocator.h: a stack of blocks in a buffer, for the workspaces of compiled
 * code.
 *
 * Copyright the Ferrite developers. SPDX-License-Identifier: Apache-2.0
 *
 * Generated from the Rust sources; change those instead. Part of the library when it is built with
 * the feature `microtvm`.
 */

#ifndef TVM_RUNTIME_CRT_STACK_ALLOCATOR_H_
#define TVM_RUNTIME_CRT_STACK_ALLOCATOR_H_

#include <stddef.h>
#include <stdint.h>
#include <tvm/runtime/c_runtime_api.h>
#include <tvm/runtime/crt/error_codes.h>

/* The alignment of blocks. */
#define TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES 16

/**
 * State of a stack allocator.
 */
typedef struct tvm_workspace_t {
  /**
   * Address of the next block to allocate.
   */
  uint8_t *next_alloc;
  /**
   * Address of the first block.
   */
  uint8_t *workspace;
  /**
   * Number of bytes from `workspace` to the end of the buffer.
   */
  size_t workspace_size;
} tvm_workspace_t;

#ifdef __cplusplus
extern "C" {
#endif /* __cplusplus */

/**
 * Initialises a stack allocator on a buffer, which need not be aligned.
 *
 * Returns kTvmErrorNoError, or kTvmErrorFunctionCallInvalidArg for a null pointer or a buffer that
 * is smaller than a block.
 *
 * The caller must ensure:
 * No other code may use the buffer as long as the allocator is in use.
 */
TVM_DLL
tvm_crt_error_t StackMemoryManager_Init(struct tvm_workspace_t *tvm_runtime_workspace,
                                        uint8_t *g_aot_memory,
                                        size_t workspace_size);

/**
 * Allocates a block from a stack allocator, aligned to 16 bytes.
 *
 * Returns kTvmErrorNoError and stores the block in `current_alloc`. Returns
 * kTvmErrorPlatformNoMemory if there is not enough free space or the size is negative, and
 * kTvmErrorFunctionCallInvalidArg for a null pointer.
 *
 * The caller must ensure:
 * `tvm_runtime_workspace` must be null or an initialised stack allocator.
 */
TVM_DLL
tvm_crt_error_t StackMemoryManager_Allocate(struct tvm_workspace_t *tvm_runtime_workspace,
                                            int32_t nbytes,
                                            void **current_alloc);

/**
 * Frees a block of a stack allocator, and all blocks allocated after it.
 *
 * Returns kTvmErrorNoError. Returns kTvmErrorPlatformStackAllocBadFree for a pointer that is not
 * an allocated block, and kTvmErrorFunctionCallInvalidArg for a null allocator.
 *
 * The caller must ensure:
 * `tvm_runtime_workspace` must be null or an initialised stack allocator.
 */
TVM_DLL
tvm_crt_error_t StackMemoryManager_Free(struct tvm_workspace_t *tvm_runtime_workspace,
                                        void *ptr);

#ifdef __cplusplus
} /* extern "C" */
#endif /* __cplusplus */

#endif  /* TVM_RUNTIME_CRT_STACK_ALLOCATOR_H_ */
