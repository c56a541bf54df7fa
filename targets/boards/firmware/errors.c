/*
 * errors.c: what goes wrong on a small core arrives as an error with kind and message, and leaves everything usable.
 *
 * After each mistake the network classifies a picture: nothing may have been lost.
 */
#include "board.h"
#include "fixture.h"
#include "print.h"

enum { BLOCKS = 48, BLOCK_BYTES = 256, BLOCKS_OF_WORKSPACE = 10, NAMES = 512 };

static float output[16];
static TVMFFIObjectHandle network;

/* ---- filling the pool ---- */

static TVMFFIAny blocks[BLOCKS];
static int taken;

/* Takes so many blocks, or until one is refused, which leaves its error raised; 0 when none was. */
static int take_blocks(int count) {
  static char text[BLOCK_BYTES];
  TVMFFIByteArray bytes;
  bytes.data = text;
  bytes.size = sizeof(text);
  for (taken = 0; taken < count; ++taken) {
    if (TVMFFIStringFromByteArray(&bytes, &blocks[taken]) != 0) return -1;
  }
  return 0;
}

static void empty_pool(void) {
  while (taken > 0) TVMFFIObjectDecRef(blocks[--taken].v_obj);
}

/* ---- mistakes, each of which has to fail ---- */

static int call_network(Call* call) {
  TVMFFIAny result = any_none();
  return TVMFFIFunctionCall(network, call->args, call->count, &result);
}

static int pool_full(Call* call) {
  int status = take_blocks(BLOCKS);
  (void)call;
  empty_pool();
  return status;
}

static int workspace_exhausted(Call* call) {
  TVMFFIObjectHandle error = NULL;
  int status = take_blocks(BLOCKS);
  TVMFFIErrorMoveFromRaised(&error);
  if (error != NULL) TVMFFIObjectDecRef(error);
  if (status != 0) status = call_network(call);
  empty_pool();
  return status;
}

static int empty_function(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self;
  (void)args;
  (void)num_args;
  (void)result;
  return 0;
}

/* Registered names stay for ever: this mistake comes last, and room for the network is kept. */
static int names_full(Call* call) {
  char name[] = "a name that takes some memory 000";
  size_t end = sizeof(name) - 2;
  int i, status = 0;
  (void)call;
  take_blocks(BLOCKS_OF_WORKSPACE);
  for (i = 0; i < NAMES && status == 0; ++i) {
    name[end] = (char)('0' + i % 10);
    name[end - 1] = (char)('0' + i / 10 % 10);
    name[end - 2] = (char)('0' + i / 100);
    status = set_global(name, empty_function);
  }
  empty_pool();
  return status;
}

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

static int unknown_in_library(Call* call) {
  TVMFFIObjectHandle function;
  (void)call;
  return get_system_library_function("no_such_function", &function);
}

static int null_function(Call* call) {
  TVMFFIAny result = any_none();
  return TVMFFIFunctionCall(NULL, call->args, call->count, &result);
}

/* A firmware's own allocator that has nothing. */
static void* refuse(size_t size, size_t alignment, int32_t type_index, void* context) {
  (void)size;
  (void)alignment;
  (void)type_index;
  (void)context;
  return NULL;
}

static int allocator_refuses(Call* call) {
  static TVMFFICustomAllocator none = {refuse, NULL};
  TVMFFIObjectHandle function;
  int status;
  (void)call;
  TVMFFISetCustomAllocator(&none);
  status = TVMFFIFunctionCreate(NULL, empty_function, NULL, &function);
  TVMFFISetCustomAllocator(NULL);
  return status;
}

typedef struct {
  const char* name;
  int (*make)(Call* call);
  const char* kind;
} Mistake;

static const Mistake mistakes[] = {
    {"pool full", pool_full, "MemoryError"},
    {"workspace exhausted", workspace_exhausted, "MemoryError"},
    {"wrong dtype", wrong_dtype, "TypeError"},
    {"wrong shape", wrong_shape, "ValueError"},
    {"wrong argument count", wrong_count, "TypeError"},
    {"no tensor", wrong_type, "TypeError"},
    {"unknown function", unknown_function, "AttributeError"},
    {"unknown in library", unknown_in_library, "AttributeError"},
    {"null function", null_function, "ValueError"},
    {"allocator gives null", allocator_refuses, "MemoryError"},
    {"names full", names_full, "MemoryError"},
};

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
  refused = refused && raised_is(mistake->kind);
  works = network_works();
  print_row_start(mistake->name);
  print_text(refused ? mistake->kind : "FAILED: not refused as it should be");
  if (!works) print_text(", FAILED: the network does not work any more");
  print_row_end(0);
  return refused && works;
}

int main(void) {
  int i, failures = 0;
  if (set_global_compiled("cnn_f32", fixture_cnn_f32.function) != 0 || get_global("cnn_f32", &network) != 0) {
    print_raised();
    return 1;
  }
  for (i = 0; i < MISTAKES; ++i) failures += !check(&mistakes[i]);
  print_text("stack|");
  print_number(board_stack_used());
  print_text("\n");
  return failures == 0 ? 0 : 1;
}
