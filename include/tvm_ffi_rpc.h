/*
 * tvm_ffi_rpc.h: call functions on other machines by TVM's remote procedure calls (optional
 * feature `rpc`).
 *
 * Copyright the Ferrite developers. SPDX-License-Identifier: Apache-2.0
 *
 * Generated from the Rust sources; change those instead. The rules of tvm/ffi/c_api.h hold here
 * too.
 */

#ifndef TVM_FFI_RPC_H_
#define TVM_FFI_RPC_H_

#include <tvm/ffi/c_api.h>

/**
 * How to connect to a server of remote procedure calls. Fields that are zero or null have their
 * defaults.
 */
typedef struct FerriteRpcOptions {
  /**
   * Key of the server, a null-terminated string; empty by default. A server with another key
   * refuses.
   */
  const char *key;
  /**
   * Secret of a server that has one, a null-terminated string; none by default.
   */
  const char *token;
  /**
   * Seconds after which the server ends the session; no limit by default.
   */
  double session_timeout;
  /**
   * Longest time in seconds for the connection, and for each answer until the session has begun;
   * 30 by default.
   */
  double connect_timeout;
  /**
   * Longest time in seconds until an answer begins, which includes the time of a call; no limit
   * by default. A session that exceeds it ends.
   */
  double read_timeout;
} FerriteRpcOptions;

#ifdef __cplusplus
extern "C" {
#endif /* __cplusplus */

/**
 * Connects to a server of remote procedure calls by TCP, and begins a session.
 *
 * `host` is a name or an address, a null-terminated string. `options` may be null. Returns 0 and
 * stores the session, owned by the caller, in `out`: a module, whose functions are the global
 * functions of the server. `TVMFFIObjectDecRef` releases it; the session ends when its functions,
 * modules and tensors are released, too.
 *
 * On failure, returns -1 with an error raised: RPCError if the server cannot be reached, refuses,
 * or does not answer within the time limit; ValueError for a null pointer, a port that does not
 * exist, and invalid options; MemoryError.
 *
 * Errors that functions of the server raise have the kind that they had there. If the connection
 * breaks, each use of the session raises RPCError.
 *
 * The caller must ensure:
 * Strings must be null-terminated, or null where that is allowed.
 */
TVM_FFI_DLL
int FerriteRpcConnect(const char *host,
                      int32_t port,
                      const struct FerriteRpcOptions *options,
                      TVMFFIObjectHandle *out);

/**
 * Looks up a global function of the server of a session.
 *
 * `name` is a null-terminated string. Returns 0 and stores the function, owned by the caller, in
 * `out`. `TVMFFIFunctionCall` calls it on the server. Arguments are numbers, strings, bytes, and
 * functions, modules, objects, devices and tensors of the session.
 *
 * On failure, returns -1 with an error raised: AttributeError if the server offers no such
 * function, TypeError if the object is not a session, ValueError for a null pointer, RPCError,
 * MemoryError.
 *
 * The caller must ensure:
 * `session` must be an object; `name` must be null-terminated.
 */
TVM_FFI_DLL
int FerriteRpcGetFunction(TVMFFIObjectHandle session,
                          const char *name,
                          TVMFFIObjectHandle *out);

/**
 * Stores the device under which this process knows a device of the server: the argument of the
 * session's functions, and the place of tensors.
 *
 * `device` has the type and the id that it has there. Returns 0, or -1 with an error raised:
 * TypeError if the object is not a session, ValueError for a null pointer and for a device type
 * that does not exist.
 *
 * The caller must ensure:
 * `session` must be an object.
 */
TVM_FFI_DLL int FerriteRpcGetDevice(TVMFFIObjectHandle session, DLDevice device, DLDevice *out);

/**
 * Creates a compact row-major tensor on a device of a session, with unspecified elements.
 *
 * `shape` has `ndim` extents. Returns 0 and stores the tensor, owned by the caller, in `out`. On
 * failure, returns -1 with an error raised: ValueError for a null pointer and for a shape that no
 * tensor has, InternalError for a device whose session has ended, RPCError, the error of the
 * server, or MemoryError.
 *
 * The caller must ensure:
 * `shape` must have `ndim` extents.
 */
TVM_FFI_DLL
int FerriteRpcTensorAlloc(DLDevice device,
                          const int64_t *shape,
                          int32_t ndim,
                          DLDataType dtype,
                          TVMFFIObjectHandle *out);

/**
 * Copies the elements of a contiguous tensor to another one of the same size in bytes, and waits
 * for the copy: from this process to a device of a session, back, or between devices of a session.
 *
 * Returns 0, or -1 with an error raised: ValueError for a null pointer, for a tensor that is not
 * contiguous, and for different sizes; RuntimeError for devices of two sessions; RPCError; the
 * error of the server.
 *
 * The caller must ensure:
 * Both tensors must be valid; nothing else may access the target during the copy.
 */
TVM_FFI_DLL int FerriteRpcTensorCopy(const DLTensor *from, DLTensor *to);

#ifdef __cplusplus
} /* extern "C" */
#endif /* __cplusplus */

#endif  /* TVM_FFI_RPC_H_ */
