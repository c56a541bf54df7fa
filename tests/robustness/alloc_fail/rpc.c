/*
 * usage: rpc objects|malloc once|onwards PORT
 *
 * Calls every function of tvm_ffi_rpc.h, and functions of a server, while the n-th allocation
 * fails, for every n. A step gives its result or a MemoryError; then the same session must serve
 * all steps. With "malloc", the connection is made beforehand: the sockets and locks of Rust's
 * standard library end the process when memory for them is missing. The server, of
 * tests/tests/rpc_client.rs, is another process.
 */
#include "rounds.h"

#include <tvm_ffi_rpc.h>

enum { COUNT = 300 };

static int32_t port;
static TVMFFIObjectHandle session;

static int connect_to_server(void) {
  FerriteRpcOptions options;
  memset(&options, 0, sizeof options);
  options.key = "c89";
  options.token = "secret";
  options.read_timeout = 60;
  session = UNTOUCHED;
  return STEP_OUT(FerriteRpcConnect("127.0.0.1", port, &options, &session), &session);
}

static TVMFFIObjectHandle function_of_server(const char* name) {
  TVMFFIObjectHandle function = UNTOUCHED;
  return STEP_OUT(FerriteRpcGetFunction(session, name, &function), &function) ? function : NULL;
}

/* A string that is longer than the strings within a value comes back. */
static void walk_calls(void) {
  static const char text[] = "a string that no value holds within itself";
  TVMFFIObjectHandle echo = function_of_server("testing.echo");
  TVMFFIObjectHandle fail = function_of_server("test.fail");
  TVMFFIAny argument = any_none(), result = any_none();
  argument.type_index = kTVMFFIRawStr;
  argument.v_c_str = text;
  if (echo != NULL && STEP(TVMFFIFunctionCall(echo, &argument, 1, &result))) {
    CHECK(result.type_index == kTVMFFIStr);
    drop(result.v_obj);
  }
  if (fail != NULL && CHECK_INT(TVMFFIFunctionCall(fail, NULL, 0, &result), -1)) {
    expect_raised("IndexError");
  }
  drop(echo);
  drop(fail);
}

static void walk_tensors(void) {
  static const DLDataType float32 = {kDLFloat, 32, 1};
  static const DLDevice cpu = {kDLCPU, 0};
  float content[COUNT], back[COUNT];
  int64_t shape[1] = {COUNT};
  DLTensor local = {NULL, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, NULL, NULL, 0};
  DLDevice there;
  TVMFFIObjectHandle tensor = UNTOUCHED, sum;
  TVMFFIAny argument = any_none(), result = any_none();
  int i, is_sent;
  for (i = 0; i < COUNT; i++) {
    content[i] = 1;
    back[i] = 0;
  }
  local.shape = shape;
  local.data = content;
  if (!STEP(FerriteRpcGetDevice(session, cpu, &there)) ||
      !STEP_OUT(FerriteRpcTensorAlloc(there, shape, 1, float32, &tensor), &tensor)) {
    return;
  }
  is_sent = STEP(FerriteRpcTensorCopy(&local, (DLTensor*)((TVMFFIObject*)tensor + 1)));
  local.data = back;
  if (is_sent && STEP(FerriteRpcTensorCopy((DLTensor*)((TVMFFIObject*)tensor + 1), &local))) {
    CHECK(memcmp(content, back, sizeof back) == 0);
  }
  sum = function_of_server("test.sum");
  argument.type_index = kTVMFFITensor;
  argument.v_obj = (TVMFFIObject*)tensor;
  if (is_sent && sum != NULL && STEP(TVMFFIFunctionCall(sum, &argument, 1, &result))) {
    CHECK(result.type_index == kTVMFFIFloat && result.v_float64 == COUNT);
  }
  drop(sum);
  drop(tensor);
}

static void walk_session(void) {
  walk_calls();
  walk_tensors();
}

static void walk_and_connect(void) {
  if (connect_to_server()) {
    walk_session();
    drop(session);
  }
}

static int round_of_rpc(long n) {
  int outcome;
  if (!by_malloc) {
    return fails_and_repeats(n, walk_and_connect);
  }
  CHECK(connect_to_server());
  walk_session(); /* buffers of the session have their sizes then */
  CHECK_INT(step_failures, 0);
  outcome = fails_and_repeats(n, walk_session);
  drop(session);
  return checks_failed == 0 ? outcome : FAILED;
}

int main(int argc, char** argv) {
  if (argc != 4) {
    printf("usage: rpc objects|malloc once|onwards PORT\n");
    return 2;
  }
  choose_failures(argv[1], argv[2]);
  port = atoi(argv[3]);
  /* Permanent state: that of sessions, and what names the frames of errors. */
  walk_and_connect();
  CHECK_INT(FerriteRpcGetFunction(NULL, "testing.echo", &session), -1);
  expect_raised("ValueError");
  CHECK_INT(step_failures, 0);
  CHECK_INT(run("a walk through a session", round_of_rpc), 0);
  return check_report("rpc");
}
