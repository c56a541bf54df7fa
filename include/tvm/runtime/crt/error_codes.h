/*
 * tvm/runtime/crt/error_codes.h: the statuses of microTVM's runtime: a category in the upper byte,
 * a number in the lower one.
 *
 * Copyright the Ferrite developers. SPDX-License-Identifier: Apache-2.0
 */

#ifndef TVM_RUNTIME_CRT_ERROR_CODES_H_
#define TVM_RUNTIME_CRT_ERROR_CODES_H_

typedef enum {
  kTvmErrorNoError = 0,

  /* Tables of functions. */
  kTvmErrorFunctionNameNotFound = 0x100,
  kTvmErrorFunctionIndexInvalid = 0x101,
  kTvmErrorFunctionRegistryFull = 0x102,
  kTvmErrorFunctionAlreadyDefined = 0x103,
  kTvmErrorBufferTooSmall = 0x104,

  /* The firmware's own functions, see platform.h. */
  kTvmErrorPlatformCheckFailure = 0x500,
  kTvmErrorPlatformMemoryManagerInitialized = 0x501,
  kTvmErrorPlatformShutdown = 0x502,
  kTvmErrorPlatformNoMemory = 0x503,
  kTvmErrorPlatformTimerBadState = 0x504,
  kTvmErrorPlatformStackAllocBadFree = 0x505,

  /* Generated functions. */
  kTvmErrorGeneratedInvalidStorageId = 0x600,

  /* Calls. */
  kTvmErrorFunctionCallNumArguments = 0x800,
  kTvmErrorFunctionCallWrongArgType = 0x801,
  kTvmErrorFunctionCallNotImplemented = 0x802,
  kTvmErrorFunctionCallInvalidArg = 0x803,

  /* Set in statuses of the system, which are negative. */
  kTvmErrorSystemErrorMask = 1 << (sizeof(int) * 4 - 1)
} tvm_crt_error_t;

#endif /* TVM_RUNTIME_CRT_ERROR_CODES_H_ */
