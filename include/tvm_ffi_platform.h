/*
 * tvm_ffi_platform.h: the seam between libtvm_ffi.a and a board.
 *
 * Copyright the Ferrite developers. SPDX-License-Identifier: Apache-2.0
 *
 * Generated from the Rust sources; change those instead. The rules of tvm/ffi/c_api.h hold here too.
 *
 * Part of the library when it is built with the feature `panic-handler` and without `std`, as the profiles `core` and `full` are. A
 * board need define nothing: the library asks for no symbol but memcpy, memmove, memset, memcmp and strlen, which its archive
 * has under weak names, beside most of math.h. The rest of what TVM's code generator calls (acosh, asinh, atanh, exp10, nearbyint,
 * nextafter, for float and double) comes with the feature `libm`. So firmware links with -nostdlib.
 *
 * Hooks, FerritePlatform*: firmware may define them, and they are used then. Otherwise the linker takes the default from the
 * archive, and only then is it in the program. There are none on WebAssembly, which has neither interrupts nor weak symbols:
 * there the library asks for abort(). The profile `minimal` has none either: it masks interrupts itself, and has no other header than
 * tvm_ffi_minimal.h.
 *
 * In interrupt handlers, in the profiles `core` and `full`, on one core without the feature `spin` (with it: nothing):
 *
 *   functions                                            in a handler
 *   ---------------------------------------------------  ------------------------------------------------------------
 *   calls, references, views, lookups                    safe, if what is called and what is deleted is
 *   what makes objects or registers names and types      safe, if a custom allocator is; interrupts are masked for a time that
 *                                                        grows with the free blocks of the pool and the names in a table
 *   what raises errors or takes the raised one           safe, if the handler takes the errors of its calls before it returns and
 *                                                        no error is waiting in the code that it interrupts; or else with a slot
 *                                                        of its own: FerritePlatformRaisedSlot
 *   TVMFFIHandleInitOnce, TVMBackendRunOnce              safe; RuntimeError when the interrupted code runs the same function
 *   TVMBackendAllocWorkspace, TVMBackendFreeWorkspace    safe, if the handler gives back what it takes
 *   TVMBackendParallelLaunch, TVMBackendParallelBarrier  safe: there is one task
 *   the functions of this header                         safe
 */

#ifndef TVM_FFI_PLATFORM_H_
#define TVM_FFI_PLATFORM_H_

#include <stddef.h>
#include <stdint.h>

/**
 * Takes a line of the log: `size` bytes without a zero at the end, the last of which is a newline. UTF-8, unless a name in it is
 * not, or the line was too long and was cut.
 *
 * Runs on the stack of the call that had something to tell, in an interrupt handler too; no lock is held meanwhile.
 */
typedef void (*FerriteLogSink)(const char *text, size_t size);

#ifdef __cplusplus
extern "C" {
#endif /* __cplusplus */

/**
 * Gives `size` bytes at a multiple of `alignment`, a power of two, for the library to keep; null when there are none, which
 * becomes a MemoryError. All memory of the library comes from here: objects without a custom allocator, tables of names
 * and types, buffers, and workspaces without a buffer of their own.
 *
 * The alignment is 8 or less but for data of tensors and workspaces. May be called in an interrupt handler that makes
 * objects. The default takes blocks from the pool, which is not linked when this function, `FerritePlatformRelease` and
 * `FerritePlatformLargestFree` are all defined.
 */
void *FerritePlatformAllocate(size_t size,
                              size_t alignment);

/**
 * Takes back a block of `FerritePlatformAllocate`, which is not null.
 *
 * The caller sees to it:
 * Nobody uses the block any more.
 */
void FerritePlatformRelease(void *block);

/**
 * Tells the size of the largest block that could be had now, for the messages of MemoryErrors; 0 when that is not known.
 */
size_t FerritePlatformLargestFree(void);

/**
 * Gives the place where the raised error of the calling task is kept: a pointer that is null when the task starts, not null
 * when it ends with an error that nobody took. Its address also tells tasks apart.
 *
 * The default gives the same place always: without it, tasks that fail at the same time take each other's errors, and one task
 * that waits for a handle which another one makes (`TVMFFIHandleInitOnce`) gets a RuntimeError. A place of its own for interrupt
 * handlers keeps their errors apart from those of the code that they interrupt.
 */
void **FerritePlatformRaisedSlot(void);

/**
 * Lets other tasks run: called again and again while a task waits for what another one does. The default does nothing.
 */
void FerritePlatformYield(void);

/**
 * Keeps everybody else out: interrupt handlers, and other tasks where there are any. Returns what `FerritePlatformUnlock`
 * needs to know. Several cores that share the library need its feature `spin`: without it, memory is ordered for one core.
 *
 * Called by the library around a few instructions at a time, also before `main` and in interrupt handlers. Sections lie within
 * one another. The default masks the interrupts of the core (PRIMASK on Cortex-M, `mstatus.MIE` on RISC-V), which is
 * enough on one core, with or without an operating system. Other cores have no default.
 */
size_t FerritePlatformLock(void);

/**
 * Ends the section that began with the call of `FerritePlatformLock` which returned `state`: after the outermost one all
 * is as before.
 *
 * The caller sees to it:
 * Defined together with `FerritePlatformLock`, or not at all.
 */
void FerritePlatformUnlock(size_t state);

/**
 * Ends the program; does not return. Called when a check inside the library fails, which is a defect of the library; the log
 * has a line about it.
 *
 * The default masks interrupts and executes an undefined instruction, so that a debugger or the fault handler sees the place.
 * Other cores have no default.
 */
void FerritePlatformAbort(void);

/**
 * Sends the warnings of the library to `sink` from now on; null drops them, as is done until the first call.
 *
 * The caller sees to it:
 * `sink` may be called at any time until another one is set.
 */
void FerriteLogSet(FerriteLogSink sink);

/**
 * Adds `size` bytes from `region` on to the pool that all memory of the library comes from, for good. Any alignment will do.
 *
 * The pool starts with `FERRITE_POOL_BYTES`, which is chosen when the library is built, 0 being possible: what registers
 * before `main`, as system libraries do, needs some. Returns 0; or -1 with ValueError raised for null and for less memory than a
 * block takes.
 *
 * The caller sees to it:
 * Nobody else uses the memory as long as the program runs.
 */
int FerriteMemoryAdd(void *region,
                     size_t size);

/**
 * Tells the bytes of the pool that are in use, with what each block takes beside its content.
 */
size_t FerriteMemoryUsed(void);

/**
 * Tells the most bytes of the pool that were in use at once: what the pool needs to have, and some more for the gaps
 * between blocks.
 */
size_t FerriteMemoryHighWater(void);

/**
 * Tells the bytes of the pool that are not in use.
 */
size_t FerriteMemoryFree(void);

/**
 * Hands over the memory that `TVMBackendAllocWorkspace` gives to compiled functions, and starts the high-water mark again.
 *
 * Until then workspaces come from the pool. Each takes its bytes, rounded up to `FERRITE_WORKSPACE_ALIGN`, and one such unit more,
 * and is given back in the reverse order: the buffer is for one task and what interrupts it. Null with size 0 takes the buffer back.
 * Returns 0; or -1 with an error raised: ValueError for null with a size, RuntimeError while a workspace is in use.
 *
 * The caller sees to it:
 * Nobody else uses the buffer until another one is set.
 */
int FerriteWorkspaceSet(void *buffer,
                        size_t size);

/**
 * Tells the most bytes of the workspace buffer that were in use at once: what the buffer needs to have.
 */
size_t FerriteWorkspaceHighWater(void);

#ifdef __cplusplus
} /* extern "C" */
#endif /* __cplusplus */

#endif  /* TVM_FFI_PLATFORM_H_ */
