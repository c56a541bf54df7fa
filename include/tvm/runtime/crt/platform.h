/*
 * tvm/runtime/crt/platform.h: functions that firmware of microTVM defines.
 *
 * Copyright the Ferrite developers. SPDX-License-Identifier: Apache-2.0
 *
 * The library calls the two for memory, when it is built with the feature `microtvm`:
 * TVMBackendAllocWorkspace and TVMBackendFreeWorkspace are made of them. Firmware that defines
 * neither gets workspaces from the buffer of FerriteWorkspaceSet. In WebAssembly they are not
 * called, and have no default. The library calls none of the others.
 */

#ifndef TVM_RUNTIME_CRT_PLATFORM_H_
#define TVM_RUNTIME_CRT_PLATFORM_H_

#include <stdarg.h>
#include <stddef.h>
#include <tvm/runtime/c_runtime_api.h>
#include <tvm/runtime/crt/error_codes.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Allocates memory of a device: kTvmErrorNoError and the memory in out_ptr, or anything else.
 * Blocks are freed in reverse order. */
tvm_crt_error_t TVMPlatformMemoryAllocate(size_t num_bytes, DLDevice dev, void** out_ptr);

/* Frees memory of TVMPlatformMemoryAllocate. */
tvm_crt_error_t TVMPlatformMemoryFree(void* ptr, DLDevice dev);

/* Ends the program, or starts it again. */
#if defined(__GNUC__) || defined(__clang__)
__attribute__((noreturn))
#endif
void TVMPlatformAbort(tvm_crt_error_t code);

/* Formats a message as vsnprintf does. */
size_t TVMPlatformFormatMessage(char* out_buf, size_t out_buf_size_bytes, const char* fmt, va_list args);

#ifdef __cplusplus
}
#endif

#endif /* TVM_RUNTIME_CRT_PLATFORM_H_ */
