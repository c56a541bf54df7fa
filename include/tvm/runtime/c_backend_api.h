/*
 * tvm/runtime/c_backend_api.h: the runtime functions that code compiled by TVM calls.
 *
 * Copyright the Ferrite developers. SPDX-License-Identifier: Apache-2.0
 *
 * Generated from the Rust sources; change those instead. Part of the library when it is built with
 * the feature `backend`.
 */

#ifndef TVM_RUNTIME_C_BACKEND_API_H_
#define TVM_RUNTIME_C_BACKEND_API_H_

#include <tvm/runtime/base.h>

/**
 * The shared state of the tasks of one launch.
 */
typedef struct TVMParallelGroupEnv {
  /**
   * State of the launcher, used by barriers.
   */
  void *sync_handle;
  /**
   * The number of tasks, among which the work is divided.
   */
  int32_t num_task;
} TVMParallelGroupEnv;

/**
 * One task of a launch. Receives its number, the shared environment and the launch's data; returns
 * 0, or -1 with an error raised.
 */
typedef int (*FTVMParallelLambda)(int task_id, struct TVMParallelGroupEnv *env, void *data);

#ifdef __cplusplus
extern "C" {
#endif /* __cplusplus */

/**
 * Allocates memory for the duration of a kernel, aligned to 64 bytes on hosts and to
 * `FERRITE_WORKSPACE_ALIGN` on bare metal.
 *
 * On devices other than the CPU, the result is a memory handle for kernels. The type hints are
 * ignored. Returns the memory, or null with an error raised: MemoryError when out of memory, a
 * different error if the build does not support the device.
 */
TVM_RUNTIME_DLL
void *TVMBackendAllocWorkspace(int device_type,
                               int device_id,
                               uint64_t nbytes,
                               int dtype_code_hint,
                               int dtype_bits_hint);

/**
 * Frees memory allocated by `TVMBackendAllocWorkspace` for the same device. Null is ignored.
 *
 * Returns 0, or -1 with an error raised if the build does not support the device, or if `ptr` is
 * not a workspace of the device.
 *
 * The caller must ensure:
 * `ptr` must not be used afterwards.
 */
TVM_RUNTIME_DLL int TVMBackendFreeWorkspace(int device_type, int device_id, void *ptr);

/**
 * Runs a function as `num_task` tasks, in parallel if the build has threads, and waits for all of
 * them.
 *
 * If `num_task` is 0, runs one task per worker thread. A task reads the actual number of tasks
 * from its environment: nested loops, and all loops without threads, run as one task. Returns 0,
 * or -1 with an error raised: the error of the first task that failed, ValueError for invalid
 * arguments, or RuntimeError if that many tasks cannot run concurrently.
 *
 * The caller must ensure:
 * `flambda` must be callable on several threads concurrently, each with its own `task_id`.
 */
TVM_RUNTIME_DLL int TVMBackendParallelLaunch(FTVMParallelLambda flambda, void *cdata, int num_task);

/**
 * Waits until every task of the loop has reached the barrier.
 *
 * Returns 0, or -1 with an error raised: ValueError for a null environment, or RuntimeError if a
 * task ended before it reached the barrier.
 *
 * The caller must ensure:
 * `penv` must be the environment of the task.
 */
TVM_RUNTIME_DLL int TVMBackendParallelBarrier(int task_id, struct TVMParallelGroupEnv *penv);

/**
 * Runs a function once per handle. `*handle` must be null initially, and is not null afterwards.
 *
 * If several threads call this concurrently, one runs the function and the others wait. Returns 0,
 * or -1 with an error raised: the error of the function, after which a later call tries again, or
 * RuntimeError if the function itself calls this for the same handle. `nbytes`, the size of the
 * data at `cdata`, is ignored.
 *
 * The caller must ensure:
 * `handle` must only be written by this function.
 */
TVM_RUNTIME_DLL
int TVMBackendRunOnce(void **handle,
                      int (*f)(void *cdata),
                      void *cdata,
                      int nbytes);

#ifdef __cplusplus
} /* extern "C" */
#endif /* __cplusplus */

#endif  /* TVM_RUNTIME_C_BACKEND_API_H_ */
