/* rpc_system_library.h: objects from TVM's LLVM target as a module, in profiles without modules. */
#ifndef RPC_SYSTEM_LIBRARY_H_
#define RPC_SYSTEM_LIBRARY_H_

/* Registers `ffi.SystemLib` and `tvm.rpc.server.ModuleGetFunction` for the functions that
 * registered themselves before main. Returns 0, or -1 with an error raised. */
int system_library_register(void);

#endif /* RPC_SYSTEM_LIBRARY_H_ */
