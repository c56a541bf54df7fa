/*
 * tvm_ffi_platform.h: the board-specific interface of libtvm_ffi.a.
 *
 * Copyright the Ferrite developers. SPDX-License-Identifier: Apache-2.0
 *
 * Generated from the Rust sources; change those instead. The rules of tvm/ffi/c_api.h hold here
 * too.
 *
 * Part of the library when it is built with the feature of a profile, `core` or `full`, and without
 * `host`. A board does not have to define anything: the library needs no symbols but memcpy,
 * memmove, memset, memcmp and strlen, and its archive defines those as weak symbols, with most of
 * math.h. The other functions that TVM's code generator calls (acosh, asinh, atanh, exp10,
 * nearbyint, nextafter, for float and double) come with the feature `libm`. Firmware can thus link
 * with -nostdlib.
 *
 * Firmware may define the hooks, FerritePlatform*. The archive has a default for each hook; the
 * linker takes it only where the firmware defines none. WebAssembly has neither interrupts nor weak
 * symbols, hence no hooks: there the library needs abort(). The profile `minimal` has no hooks
 * either: it masks interrupts itself, and its header is tvm_ffi_minimal.h.
 *
 * What interrupt handlers may do in the profiles `core` and `full`, on one core without the feature
 * `ferrite-ffi-core/spin` (with it: nothing):
 *
 *   functions                                            in a handler
 *   ---------------------------------------------------  ------------------------------------------------------------
 *   calls, references, views, lookups                    safe, if the called function and the deleter are
 *   object allocation, registration of names and types   safe, if a custom allocator is; the time with interrupts masked grows
 *                                                        with the free blocks of the pool and the names in a table
 *   raising an error, taking the raised error            safe, if the handler takes the errors of its calls before it returns and
 *                                                        the interrupted code has no pending error; otherwise the handler needs
 *                                                        a separate slot: FerritePlatformRaisedSlot
 *   TVMFFIHandleInitOnce, TVMBackendRunOnce              safe; RuntimeError when the interrupted code runs the same function
 *   TVMBackendAllocWorkspace, TVMBackendFreeWorkspace    safe, if the handler frees its workspaces
 *   TVMBackendParallelLaunch, TVMBackendParallelBarrier  safe: there is one task
 *   the functions of this header                         safe
 */

#ifndef TVM_FFI_PLATFORM_H_
#define TVM_FFI_PLATFORM_H_

#include <stddef.h>
#include <stdint.h>

/**
 * Callback that receives one line of the log. `text` has `size` bytes, ends with a newline and is
 * not null-terminated. It may be invalid UTF-8: names are copied as they are, and a long line may
 * be truncated in the middle of a character.
 *
 * It is called in the context of the logging code, which may be an interrupt handler. No lock is
 * held during the call.
 */
typedef void (*FerriteLogSink)(const char *text, size_t size);

#ifdef __cplusplus
extern "C" {
#endif /* __cplusplus */

/**
 * Allocates `size` bytes at a multiple of `alignment`, a power of two. Returns null when out
 * of memory, which the library reports as a MemoryError. All memory of the library comes from
 * here: objects without a custom allocator, tables of names and types, buffers, and workspaces
 * without a separate buffer.
 *
 * The alignment is at most 8, except for tensor data and workspaces. The library calls it in
 * interrupt handlers that create objects, too. The default takes blocks from the pool, which
 * is not linked when this function, `FerritePlatformRelease` and `FerritePlatformLargestFree`
 * are all defined.
 */
void *FerritePlatformAllocate(size_t size, size_t alignment);

/**
 * Frees a block that `FerritePlatformAllocate` returned; never called with null.
 *
 * The caller must ensure:
 * The block must no longer be used.
 */
void FerritePlatformRelease(void *block);

/**
 * Returns the size in bytes of the largest block that could be allocated now, or 0 if unknown.
 * It appears in messages of MemoryErrors.
 */
size_t FerritePlatformLargestFree(void);

/**
 * Returns the address of the slot for the calling task's raised error: a pointer that must be
 * null when the task starts, and is not null if the task ends without taking its raised error.
 * The address also identifies the task.
 *
 * The default always returns the same address. With it, tasks that fail concurrently may take
 * each other's errors, and a task gets a RuntimeError if it would have to wait for a handle
 * that another task is initialising (`TVMFFIHandleInitOnce`). A separate slot for interrupt
 * handlers keeps their errors apart from the errors of the interrupted code.
 */
void **FerritePlatformRaisedSlot(void);

/**
 * Yields to other tasks. Called repeatedly while a task waits for another one. The default
 * only gives the processor a spin-loop hint.
 */
void FerritePlatformYield(void);

/**
 * Enters a critical section, in which neither interrupt handlers nor other tasks run. Returns
 * the state that `FerritePlatformUnlock` restores. If several cores share the library, the
 * feature `ferrite-ffi-core/spin` is required; without it, memory accesses are ordered for a
 * single core only.
 *
 * The library holds a critical section only for a few instructions at a time, also before
 * `main` and in interrupt handlers. Critical sections may be nested. The default masks the
 * interrupts of the core (PRIMASK on Cortex-M, `mstatus.MIE` on RISC-V), which suffices on one
 * core, with or without an operating system. Other architectures have no default.
 */
size_t FerritePlatformLock(void);

/**
 * Leaves the critical section whose `FerritePlatformLock` returned `state`.
 *
 * The caller must ensure:
 * Must be defined together with `FerritePlatformLock`, or not at all.
 */
void FerritePlatformUnlock(size_t state);

/**
 * Aborts the program; does not return. The library calls this after it has logged a failed
 * internal check, which is a bug in the library.
 *
 * The default masks interrupts and executes an undefined instruction, so that a debugger or
 * the fault handler can see the location. Other architectures have no default.
 */
void FerritePlatformAbort(void);

/**
 * Sets the callback that receives the library's log, which consists of warnings. Null, the
 * default, discards the log.
 *
 * The caller must ensure:
 * `sink` must be callable at any time until another one is set.
 */
void FerriteLogSet(FerriteLogSink sink);

/**
 * Permanently adds `size` bytes at `region` to the library's memory pool. The region need not be
 * aligned.
 *
 * The pool initially has `FERRITE_POOL_BYTES` bytes, chosen when the library is built. The initial
 * size may be 0, unless functions are registered before `main`, as system libraries do. Returns 0,
 * or -1 with ValueError raised for a null region or a region that is smaller than a block.
 *
 * The caller must ensure:
 * No other code may use the memory as long as the program runs.
 */
int FerriteMemoryAdd(void *region, size_t size);

/**
 * Returns the number of bytes in use in the memory pool, including the overhead of each block.
 */
size_t FerriteMemoryUsed(void);

/**
 * Returns the high-water mark of the memory pool in bytes. The pool must be at least this large,
 * plus a margin for fragmentation.
 */
size_t FerriteMemoryHighWater(void);

/**
 * Returns the number of free bytes in the memory pool.
 */
size_t FerriteMemoryFree(void);

/**
 * Sets the buffer from which `TVMBackendAllocWorkspace` allocates, and resets the high-water mark.
 *
 * Without a buffer, workspaces are allocated from the memory pool. Each workspace takes its size
 * rounded up to a multiple of `FERRITE_WORKSPACE_ALIGN`, plus `FERRITE_WORKSPACE_ALIGN` bytes of
 * overhead. Workspaces are freed in reverse order, so the buffer can be used by one task and its
 * interrupt handlers only. Null with size 0 unsets the buffer. Returns 0, or -1 with an error
 * raised: ValueError for null with a nonzero size, RuntimeError while a workspace is in use.
 *
 * The caller must ensure:
 * No other code may use the buffer until another one is set.
 */
int FerriteWorkspaceSet(void *buffer, size_t size);

/**
 * Returns the high-water mark of the workspace buffer in bytes: the size that the buffer must
 * have.
 */
size_t FerriteWorkspaceHighWater(void);

#ifdef __cplusplus
} /* extern "C" */
#endif /* __cplusplus */

#endif  /* TVM_FFI_PLATFORM_H_ */
