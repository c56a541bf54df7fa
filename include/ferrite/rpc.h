/*
 * ferrite/rpc.h: a server of TVM's remote procedure calls for firmware.
 *
 * Copyright the Ferrite developers. SPDX-License-Identifier: Apache-2.0
 *
 * C89 and later, C++11 and later. The server is one C file, targets/boards/firmware/rpc_server.c,
 * over the C ABI of the profiles `core` and larger. With it, a board that has a byte stream is a
 * device of TVM: its client calls the firmware's global functions, copies tensors, measures times,
 * and tunes.
 *
 *   static uint32_t memory[256];
 *   static const FerriteRpcBoard board = {NULL, uart_read, uart_write, nanoseconds, NULL,
 *                                         memory, sizeof(memory)};
 *   for (;;) FerriteRpcServe(&board);
 *
 * Clients get handles instead of addresses: entries of a table, whose kind, generation and size are
 * checked. No packet can make the server read or write outside of what the session allocated, or
 * release something twice. Errors are answered as "KIND: message", and the session goes on.
 */
#ifndef FERRITE_RPC_H_
#define FERRITE_RPC_H_

#include <stddef.h>
#include <stdint.h>

#include <tvm/ffi/c_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the server needs of a board. The functions get `self` as their first argument. */
typedef struct FerriteRpcBoard {
  void* self;
  /* Waits for bytes, and reads at most `size` of them, which is not 0. Returns their number; 0 at
   * the end of the stream, which ends the session. */
  size_t (*read)(void* self, void* data, size_t size);
  /* Writes `size` bytes, or buffers them until the next read. Returns 0; -1 ends the session. */
  int (*write)(void* self, const void* data, size_t size);
  /* Returns the nanoseconds since a fixed moment. Only time evaluators call it. */
  uint64_t (*nanoseconds)(void* self);
  /* Returns true if clients may get the global function of this name. If it is null, they may get
   * all functions but those whose names begin with `ffi.`, except `ffi.SystemLib`. */
  int (*allows)(void* self, const TVMFFIByteArray* name);
  /* Memory for the handles of a session and for the arguments of a request, aligned for uint64_t:
   * 12 bytes for each handle, of which there are at most one for each 48 bytes, and the rest for
   * arguments. Tensors do not need it: their data comes from FerritePlatformAllocate. */
  void* memory;
  size_t memory_bytes;
} FerriteRpcBoard;

/*
 * Serves one session: returns when the client ends it, or the stream ends. All handles of the
 * session are released. Returns -1 if `memory` is smaller than 256 bytes, else 0.
 */
int FerriteRpcServe(const FerriteRpcBoard* board);

/*
 * Finds a global function that clients may get; null if there is none. Returns 0, or -1 with an
 * error raised.
 */
int FerriteRpcFindFunction(const FerriteRpcBoard* board, const char* name, TVMFFIObjectHandle* out);

/*
 * Registers the functions with which clients measure times and use modules:
 * `runtime.RPCTimeEvaluator` and `tvm.rpc.server.ModuleGetFunction`. They are another C file,
 * targets/boards/firmware/rpc_evaluator.c, which firmware may leave out. `board` must live as long
 * as the program. Returns 0, or -1 with an error raised.
 */
int FerriteRpcRegister(const FerriteRpcBoard* board);

/*
 * A link over a serial line that may lose and change bytes: frames with a checksum, which are
 * acknowledged, and sent again until they arrive. The peer is `ferrite rpc serial --framed`, which
 * has the timers: the board needs none. Firmware links targets/boards/firmware/rpc_link.c, and uses
 * FerriteRpcLinkRead and FerriteRpcLinkWrite as `read` and `write` of the server, with
 * the link as their `self`.
 */
enum { kFerriteRpcLinkPayload = 128 };

typedef struct FerriteRpcLink {
  /* Waits for a byte of the line, and returns it. */
  uint8_t (*receive)(void* self);
  /* Writes a byte to the line. */
  void (*send)(void* self, uint8_t byte);
  void* self;
  /* What follows belongs to the link, and is zero at first: the numbers of frames, what the
   * received one has left to read, and what was written. */
  uint8_t rx_next, tx_next, is_restarted;
  uint8_t session[4];
  uint16_t rx_start, rx_size, tx_size;
  uint8_t tx[kFerriteRpcLinkPayload];
  uint8_t frame[kFerriteRpcLinkPayload + 6];
} FerriteRpcLink;

size_t FerriteRpcLinkRead(void* link, void* data, size_t size);
int FerriteRpcLinkWrite(void* link, const void* data, size_t size);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* FERRITE_RPC_H_ */
