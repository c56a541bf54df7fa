/*
 * cycles.c: how many instructions the common operations take.
 *
 * Each is repeated; what the empty loop takes is taken off. A call includes the callee, which only returns.
 */
#include "board.h"
#include "fixture.h"
#include "print.h"

enum { ROUNDS = 256, NAMES = 16 };

static float output[16];

static int nothing(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* out) {
  (void)self;
  (void)args;
  (void)num_args;
  (void)out;
  return 0;
}

static int fail(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* out) {
  (void)self;
  (void)args;
  (void)num_args;
  (void)out;
  TVMFFIErrorSetRaisedFromCStr("ValueError", "no");
  return -1;
}

/* ---- operations, each on what `subject` points to; 0 on success ---- */

typedef int (*Operation)(void* subject);

static int empty(void* subject) {
  (void)subject;
  return 0;
}

static TVMFFIAny argument, result; /* None stays None: no callee here gives a result */

static int call(void* function) { return TVMFFIFunctionCall(function, &argument, 1, &result); }

static int call_failing(void* function) {
  TVMFFIObjectHandle error = NULL;
  if (call(function) == 0) return -1;
  TVMFFIErrorMoveFromRaised(&error);
  return error == NULL ? -1 : TVMFFIObjectDecRef(error);
}

static int count_up_and_down(void* function) { return TVMFFIObjectIncRef(function) | TVMFFIObjectDecRef(function); }

static TVMFFIObjectHandle found;

static int look_up(void* name) { return TVMFFIFunctionGetGlobal(name, &found); }

/* ---- measuring ---- */

static uint64_t measure(Operation volatile operation, void* subject, int* status) {
  uint64_t start = board_instructions();
  int i;
  for (i = 0; i < ROUNDS; ++i) *status |= operation(subject);
  return board_instructions() - start;
}

static int report(const char* name, Operation operation, void* subject) {
  int status = 0;
  uint64_t nothing_at_all = measure(empty, subject, &status);
  uint64_t instructions = measure(operation, subject, &status) - nothing_at_all;
  print_row_start(name);
  print_text(status == 0 ? "ok" : "FAILED");
  print_row_end((instructions * 10 + ROUNDS / 2) / ROUNDS);
  return status;
}

static int look_up_among_16(void) {
  char name[] = "name_a";
  TVMFFIByteArray key;
  int i, status;
  for (i = 0; i < NAMES; ++i) {
    name[5] = (char)('a' + i);
    if (set_global(name, nothing) != 0) return -1;
  }
  key = bytes_of(name);
  status = report("lookup among 16", look_up, &key);
  /* Each round handed out a reference. */
  for (i = 0; i < ROUNDS && found != NULL; ++i) status |= TVMFFIObjectDecRef(found);
  return status;
}

static int infer(void) {
  TVMFFIObjectHandle function;
  Outcome outcome;
  int good;
  if (set_global_compiled("cnn_f32", fixture_cnn_f32.function) != 0 || get_global("cnn_f32", &function) != 0 ||
      fixture_run(&fixture_cnn_f32, function, output, &outcome) != 0) {
    print_raised();
    return -1;
  }
  good = outcome.right == fixture_cnn_f32.rows;
  print_row_start("CNN inference");
  print_text(good ? "ok" : "FAILED");
  print_row_end(outcome.instructions * 10);
  return good ? 0 : -1;
}

int main(void) {
  TVMFFIObjectHandle function, failing;
  int status;
  if (TVMFFIFunctionCreate(NULL, nothing, NULL, &function) != 0 || TVMFFIFunctionCreate(NULL, fail, NULL, &failing) != 0) {
    print_raised();
    return 1;
  }
  status = report("packed call", call, function);
  status |= report("failing call, error freed", call_failing, failing);
  status |= report("count up and down", count_up_and_down, function);
  status |= look_up_among_16();
  status |= infer();
  status |= TVMFFIObjectDecRef(function) | TVMFFIObjectDecRef(failing);
  print_text("stack|");
  print_number(board_stack_used());
  print_text("\n");
  return status == 0 ? 0 : 1;
}
