/*
 * tvm_ffi_platform.h: the seam between libtvm_ffi.a and a board.
 *
 * Copyright the Ferrite developers. SPDX-License-Identifier: Apache-2.0
 *
 * Generated from the Rust sources; change those instead. The rules of tvm/ffi/c_api.h hold here too.
 *
 * Part of the library when it is built with the feature `panic-handler` and without `std`. A board need define nothing: the library
 * asks for no symbol but memcpy, memmove, memset, memcmp and strlen, which its archive has where no C library does.
 *
 * Hooks, FerritePlatform*: firmware may define them, and they are used then. Otherwise the linker takes the default from the
 * archive, and only then is it in the program. There are none on WebAssembly, which has neither interrupts nor weak symbols:
 * there the library asks for abort(). The profile `minimal` has none either; it masks interrupts itself.
 */

#ifndef TVM_FFI_PLATFORM_H_
#define TVM_FFI_PLATFORM_H_

#include <stddef.h>
#include <stdint.h>

/**
 * Takes a piece of the log: `size` bytes of UTF-8 without a zero at the end. A line comes in one or more
 * pieces and ends with a newline.
 *
 * Runs on the stack of the call that had something to tell, in an interrupt handler too; no lock is held meanwhile.
 */
typedef void (*FerriteLogSink)(const char *text, size_t size);

#ifdef __cplusplus
extern "C" {
#endif /* __cplusplus */

/**
 * Keeps everybody else out: interrupt handlers, and other tasks and cores where there are any. Returns what
 * `FerritePlatformUnlock` needs to know.
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

#ifdef __cplusplus
} /* extern "C" */
#endif /* __cplusplus */

#endif  /* TVM_FFI_PLATFORM_H_ */
