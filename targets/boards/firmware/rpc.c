/* rpc.c: firmware that is a device of TVM: its client calls functions of the board over a serial
 * line. With MODULES, the functions are those of a system library that is linked; otherwise it has
 * the network of the digits. With LINK, the line may lose bytes. */
#include <ferrite/rpc.h>
#include <tvm_ffi_platform.h>

#include "board.h"
#include "ffi.h"
#include "rpc_system_library.h"
#include "serial.h"
#include "workspace.h"

/* Memory for 20 handles and the arguments of a request; memory for tensors beside the library's
 * pool. */
static uint64_t memory[1024 / 8], heap[RPC_HEAP_BYTES / 8];

/* ---- the serial line ---- */

#ifdef LINK
static uint8_t receive(void* self) {
  (void)self;
  return serial_receive();
}

static void send(void* self, uint8_t byte) {
  (void)self;
  serial_send(byte);
}

static FerriteRpcLink link;

static void line_start(void) {
  serial_start();
  link.receive = receive;
  link.send = send;
}

#define READ FerriteRpcLinkRead
#define WRITE FerriteRpcLinkWrite
#define SELF &link
#else
static size_t read_line(void* self, void* data, size_t size) {
  size_t at;
  (void)self;
  for (at = 0; at < size; ++at) ((uint8_t*)data)[at] = serial_receive();
  return size;
}

static int write_line(void* self, const void* data, size_t size) {
  size_t at;
  (void)self;
  for (at = 0; at < size; ++at) serial_send(((const uint8_t*)data)[at]);
  return 0;
}

#define line_start serial_start
#define READ read_line
#define WRITE write_line
#define SELF NULL
#endif

/* The emulator gives each instruction one nanosecond. */
static uint64_t nanoseconds(void* self) {
  (void)self;
  return board_instructions();
}

static const FerriteRpcBoard board = {SELF, READ, WRITE, nanoseconds, NULL, memory, sizeof(memory)};

/* ---- functions of the board ---- */

/* Returns its argument. */
static int echo(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self;
  if (num_args == 1) return TVMFFIAnyViewToOwnedAny(args, result);
  TVMFFIErrorSetRaisedFromCStr("TypeError", "testing.echo takes one argument");
  return -1;
}

/* Calls the global function whose name is the first argument with the others; returns its
 * instructions. */
static int count(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  TVMFFIAny ignored = any_none();
  TVMFFIObjectHandle function;
  uint64_t start;
  int status;
  (void)self;
  if (num_args < 1 || args->type_index != kTVMFFIRawStr) {
    TVMFFIErrorSetRaisedFromCStr("TypeError", "board.instructions takes a name and arguments");
    return -1;
  }
  if (get_global(args->v_c_str, &function) != 0) return -1;
  start = board_instructions();
  status = TVMFFIFunctionCall(function, (TVMFFIAny*)args + 1, num_args - 1, &ignored);
  *result = any_int((int64_t)(board_instructions() - start));
  TVMFFIObjectDecRef(function);
  return status;
}

/* Returns the maximum stack use in bytes. */
static int stack(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self;
  (void)args;
  (void)num_args;
  *result = any_int((int64_t)board_stack_used());
  return 0;
}

#ifdef MODULES
static int register_functions(void) { return system_library_register(); }
#else
int32_t __tvm_ffi_cnn_f32(void*, void*, int32_t, void*);

static int register_functions(void) { return set_global_compiled("cnn", __tvm_ffi_cnn_f32); }
#endif

int main(void) {
  line_start();
  if (FerriteMemoryAdd(heap, sizeof(heap)) != 0 || workspace_start() != 0 || register_functions() != 0 ||
      set_global("testing.echo", echo) != 0 || set_global("board.instructions", count) != 0 ||
      set_global("board.stack", stack) != 0 || FerriteRpcRegister(&board) != 0) {
    print_raised();
    return 1;
  }
  for (;;) FerriteRpcServe(&board);
}
