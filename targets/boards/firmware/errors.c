/*
 * errors.c: checks that failures on a small core are errors with kind and message, and leave the
 * library usable.
 *
 * After each mistake the network classifies its pictures, to show that nothing was lost.
 */
#include <tvm/runtime/c_backend_api.h>
#include <tvm_ffi_platform.h>

#include "board.h"
#include "mistakes.h"
#include "print.h"
#include "profile.h"
#include "workspace.h"

enum { STRINGS = 256, STRING_BYTES = 24, NAMES = 512 };
enum { WORKSPACES = 16, WORKSPACE_BYTES = 1024 };

TVMFFIObjectHandle network;
static float output[16];

int call_network(Call* call) {
  TVMFFIAny result = any_none();
  return TVMFFIFunctionCall(network, call->args, call->count, &result);
}

int call_with_buffer(Call* call, void* buffer, size_t size) {
  int status;
  if (FerriteWorkspaceSet(buffer, size) != 0) return -1;
  status = call_network(call);
  return workspace_start() != 0 ? -1 : status;
}

static int empty_function(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self;
  (void)args;
  (void)num_args;
  (void)result;
  return 0;
}

/* ---- memory ---- */

/* Creates strings until the pool is out of memory. */
static int pool_full(Call* call) {
  static TVMFFIObject* strings[STRINGS];
  static const char text[STRING_BYTES];
  TVMFFIByteArray bytes;
  TVMFFIAny string;
  int made, status = 0;
  (void)call;
  bytes.data = text;
  bytes.size = sizeof(text);
  for (made = 0; made < STRINGS; ++made) {
    status = TVMFFIStringFromByteArray(&bytes, &string);
    if (status != 0) break;
    strings[made] = string.v_obj;
  }
  while (made > 0) TVMFFIObjectDecRef(strings[--made]);
  return status;
}

static void drop_raised(void) {
  TVMFFIObjectHandle error = NULL;
  TVMFFIErrorMoveFromRaised(&error);
  if (error != NULL) TVMFFIObjectDecRef(error);
}

/* The buffer is too small for the network's workspace. */
static int workspace_exhausted(Call* call) {
  void* taken[WORKSPACES];
  int count, status;
  for (count = 0; count < WORKSPACES; ++count) {
    taken[count] = TVMBackendAllocWorkspace(kDLCPU, 0, WORKSPACE_BYTES, kDLFloat, 32);
    if (taken[count] == NULL) break;
  }
  drop_raised();
  status = call_network(call);
  while (count > 0) TVMBackendFreeWorkspace(kDLCPU, 0, taken[--count]);
  return status;
}

static int workspace_too_small(Call* call) {
  static uint64_t small[64];
  return call_with_buffer(call, small, sizeof(small));
}

static int workspace_null(Call* call) {
  (void)call;
  return FerriteWorkspaceSet(NULL, 64);
}

/* Runs last, since registered names are never removed. Each name is one letter longer than the
 * previous one. */
static int names_full(Call* call) {
  static char text[NAMES];
  TVMFFIByteArray name;
  TVMFFIObjectHandle function;
  int status = 0;
  (void)call;
  if (TVMFFIFunctionCreate(NULL, empty_function, NULL, &function) != 0) return -1;
  name.data = text;
  for (name.size = 0; name.size < NAMES && status == 0;) {
    text[name.size++] = 'n';
    status = TVMFFIFunctionSetGlobal(&name, function, 0);
  }
  TVMFFIObjectDecRef(function);
  return status;
}

/* ---- names and arguments ---- */

static int wrong_dtype(Call* call) {
  call->tensors[0].dtype.bits = 16;
  return call_network(call);
}

static int wrong_shape(Call* call) {
  call->row_shapes[0][3] += 1;
  return call_network(call);
}

static int wrong_count(Call* call) {
  call->count -= 1;
  return call_network(call);
}

static int wrong_type(Call* call) {
  call->args[0] = any_int(7);
  return call_network(call);
}

static int unknown_function(Call* call) {
  TVMFFIObjectHandle function;
  (void)call;
  return get_global("no.such.function", &function);
}

static int name_taken(Call* call) {
  (void)call;
  return set_global("cnn_f32", empty_function);
}

/* Calls a null handle, as from a lookup that was forgotten. */
static int null_function(Call* call) {
  TVMFFIAny result = any_none();
  return TVMFFIFunctionCall(NULL, call->args, call->count, &result);
}

static const Mistake mistakes[] = {
    {"pool full", pool_full, "MemoryError", ""},
    {"workspace exhausted", workspace_exhausted, "MemoryError", "2048 bytes asked, "},
    {"workspace too small", workspace_too_small, "MemoryError", "2048 bytes asked, "},
    {"null workspace", workspace_null, "ValueError", ""},
    {"wrong dtype", wrong_dtype, "TypeError", "dtype"},
    {"wrong shape", wrong_shape, "ValueError", "shape"},
    {"wrong argument count", wrong_count, "TypeError", "6 arguments"},
    {"no tensor", wrong_type, "TypeError", "Tensor"},
    {"unknown function", unknown_function, "AttributeError", "no.such.function"},
    {"name taken", name_taken, "RuntimeError", ""},
    {"use before look-up", null_function, "ValueError", ""},
};

static const Mistake last_mistake = {"names full", names_full, "MemoryError", ""};

enum { MISTAKES = sizeof(mistakes) / sizeof(mistakes[0]) };

/* ---- checking ---- */

static int network_works(void) {
  Outcome outcome;
  if (fixture_run(&fixture_cnn_f32, network, output, &outcome) != 0) {
    print_raised();
    return 0;
  }
  return outcome.right == fixture_cnn_f32.rows;
}

static int check(const Mistake* mistake) {
  Call call;
  int refused, works;
  fixture_call(&fixture_cnn_f32, 0, output, &call);
  refused = mistake->make(&call) != 0;
  refused = refused && raised_is(mistake->kind, mistake->words);
  works = network_works();
  print_row_start(mistake->name);
  print_text(refused ? mistake->kind : "FAILED: not refused as it should be");
  if (!works) print_text(", FAILED: the network does not work any more");
  print_row_end();
  return refused && works;
}

int main(void) {
  int i, failures = 0;
  if (workspace_start() != 0 || set_global_compiled("cnn_f32", fixture_cnn_f32.function) != 0 ||
      get_global("cnn_f32", &network) != 0) {
    print_raised();
    return 1;
  }
  for (i = 0; i < MISTAKES; ++i) failures += !check(&mistakes[i]);
  for (i = 0; i < profile_mistakes_len; ++i) failures += !check(&profile_mistakes[i]);
  failures += !check(&last_mistake);
  print_stack();
  workspace_print();
  profile_print_pool();
  return failures == 0 ? 0 : 1;
}
