/*
 * client.c: uses every function of tvm_ffi_rpc.h.
 *
 *   client PORT        # of a server with the functions of tests/tests/rpc_client.rs
 *
 * Prints "ok".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tvm_ffi_rpc.h>

#define CHECK(condition) \
  do { \
    if (!(condition)) { \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      exit(1); \
    } \
  } while (0)

enum { COUNT = 3 };

/* Takes the raised error, and compares its kind, and its message unless that is null. */
static void expect_error(const char* kind, const char* message) {
  TVMFFIObjectHandle error = NULL;
  TVMFFIErrorCell* cell;
  TVMFFIErrorMoveFromRaised(&error);
  CHECK(error != NULL);
  cell = (TVMFFIErrorCell*)((TVMFFIObject*)error + 1);
  CHECK(cell->kind.size == strlen(kind) && memcmp(cell->kind.data, kind, cell->kind.size) == 0);
  if (message != NULL) {
    CHECK(cell->message.size == strlen(message));
    CHECK(memcmp(cell->message.data, message, cell->message.size) == 0);
  }
  CHECK(TVMFFIObjectDecRef(error) == 0);
}

static TVMFFIAny any(int32_t type_index) {
  TVMFFIAny value;
  memset(&value, 0, sizeof value);
  value.type_index = type_index;
  return value;
}

static void numbers_come_back(TVMFFIObjectHandle session) {
  TVMFFIObjectHandle echo = NULL;
  TVMFFIAny argument = any(kTVMFFIInt), result = any(kTVMFFINone);
  argument.v_int64 = 42;
  CHECK(FerriteRpcGetFunction(session, "testing.echo", &echo) == 0);
  CHECK(TVMFFIFunctionCall(echo, &argument, 1, &result) == 0);
  CHECK(result.type_index == kTVMFFIInt && result.v_int64 == 42);
  CHECK(TVMFFIObjectDecRef(echo) == 0);
}

static void errors_keep_their_kind(TVMFFIObjectHandle session) {
  TVMFFIObjectHandle fail = NULL;
  TVMFFIAny result = any(kTVMFFINone);
  CHECK(FerriteRpcGetFunction(session, "test.fail", &fail) == 0);
  CHECK(TVMFFIFunctionCall(fail, NULL, 0, &result) == -1);
  expect_error("IndexError", "9 of 3");
  CHECK(TVMFFIObjectDecRef(fail) == 0);
  CHECK(FerriteRpcGetFunction(session, "test.absent", &fail) == -1);
  expect_error("AttributeError", NULL);
}

static void tensors_are_copied(TVMFFIObjectHandle session) {
  static const DLDataType float32 = {kDLFloat, 32, 1};
  static const DLDevice cpu = {kDLCPU, 0};
  float content[COUNT] = {1, 2, 3}, back[COUNT] = {0, 0, 0};
  int64_t shape[1] = {COUNT};
  DLTensor local = {NULL, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, NULL, NULL, 0};
  DLDevice there;
  TVMFFIObjectHandle tensor = NULL, sum = NULL;
  TVMFFIAny argument = any(kTVMFFITensor), result = any(kTVMFFINone);
  DLTensor* remote;
  CHECK(FerriteRpcGetDevice(session, cpu, &there) == 0 && there.device_type > 128);
  CHECK(FerriteRpcTensorAlloc(there, shape, 1, float32, &tensor) == 0);
  remote = (DLTensor*)((TVMFFIObject*)tensor + 1);
  local.data = content;
  local.shape = shape;
  CHECK(FerriteRpcTensorCopy(&local, remote) == 0);
  argument.v_obj = (TVMFFIObject*)tensor;
  CHECK(FerriteRpcGetFunction(session, "test.sum", &sum) == 0);
  CHECK(TVMFFIFunctionCall(sum, &argument, 1, &result) == 0);
  CHECK(result.type_index == kTVMFFIFloat && result.v_float64 == 6);
  local.data = back;
  CHECK(FerriteRpcTensorCopy(remote, &local) == 0);
  CHECK(memcmp(content, back, sizeof back) == 0);
  shape[0] = COUNT - 1;
  CHECK(FerriteRpcTensorCopy(remote, &local) == -1);
  expect_error("ValueError", NULL);
  CHECK(TVMFFIObjectDecRef(sum) == 0);
  CHECK(TVMFFIObjectDecRef(tensor) == 0);
}

static void bad_input_is_refused(TVMFFIObjectHandle session, int port) {
  static const DLDataType float32 = {kDLFloat, 32, 1};
  static const DLDevice cpu = {kDLCPU, 0}, absent = {-1, 0};
  FerriteRpcOptions options;
  TVMFFIObjectHandle out = NULL, echo = NULL;
  DLDevice device;
  int64_t shape[1] = {-1};
  memset(&options, 0, sizeof options);
  CHECK(FerriteRpcConnect(NULL, port, NULL, &out) == -1);
  expect_error("ValueError", NULL);
  CHECK(FerriteRpcConnect("127.0.0.1", 65536, NULL, &out) == -1);
  expect_error("ValueError", "There is no port 65536");
  options.read_timeout = -1;
  CHECK(FerriteRpcConnect("127.0.0.1", port, &options, &out) == -1);
  expect_error("ValueError", NULL);
  CHECK(FerriteRpcConnect("127.0.0.1", port, NULL, NULL) == -1);
  expect_error("ValueError", NULL);
  CHECK(FerriteRpcGetFunction(NULL, "testing.echo", &out) == -1);
  expect_error("ValueError", NULL);
  CHECK(FerriteRpcGetFunction(session, "testing.echo", &echo) == 0);
  CHECK(FerriteRpcGetFunction(echo, "testing.echo", &out) == -1);
  expect_error("TypeError", NULL);
  CHECK(TVMFFIObjectDecRef(echo) == 0);
  CHECK(FerriteRpcGetDevice(session, absent, &device) == -1);
  expect_error("ValueError", NULL);
  CHECK(FerriteRpcGetDevice(session, cpu, &device) == 0);
  CHECK(FerriteRpcTensorAlloc(device, shape, 1, float32, &out) == -1);
  expect_error("ValueError", NULL);
  CHECK(FerriteRpcTensorCopy(NULL, NULL) == -1);
  expect_error("ValueError", NULL);
  CHECK(out == NULL);
}

int main(int count, char** arguments) {
  FerriteRpcOptions options;
  TVMFFIObjectHandle session = NULL;
  int port = count == 2 ? atoi(arguments[1]) : 0;
  memset(&options, 0, sizeof options);
  options.key = "c89";
  options.token = "secret";
  options.read_timeout = 60;
  CHECK(FerriteRpcConnect("127.0.0.1", port, &options, &session) == 0);
  numbers_come_back(session);
  errors_keep_their_kind(session);
  tensors_are_copied(session);
  bad_input_is_refused(session, port);
  CHECK(TVMFFIObjectDecRef(session) == 0);
  puts("ok");
  return 0;
}
