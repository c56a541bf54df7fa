/*
 * cycles.c: counts the instructions of common operations.
 *
 * Each operation runs in a loop, whose own instructions are subtracted. A call includes the callee,
 * which only returns.
 */
#include "board.h"
#include "ffi.h"
#include "print.h"

enum { ROUNDS = 256, NAMES = 16 };

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

/* ---- operations on `*subject`; 0 on success ---- */

typedef int (*Operation)(void* subject);

static int empty(void* subject) {
  (void)subject;
  return 0;
}

static TVMFFIAny argument, result; /* stays None: no callee here returns a result */

static int call(void* function) { return TVMFFIFunctionCall(function, &argument, 1, &result); }

static int call_failing(void* function) {
  TVMFFIObjectHandle error = NULL;
  if (call(function) == 0) return -1;
  TVMFFIErrorMoveFromRaised(&error);
  return error == NULL ? -1 : TVMFFIObjectDecRef(error);
}

static int count_up_and_down(void* function) {
  TVMFFIObjectIncRef(function);
  return TVMFFIObjectDecRef(function);
}

/* Names to look up alternately, since the cost of a lookup depends on the entry's position. */
static char names[NAMES][8] = {"name_", "name_", "name_", "name_", "name_", "name_", "name_", "name_",
                               "name_", "name_", "name_", "name_", "name_", "name_", "name_", "name_"};
static TVMFFIByteArray keys[NAMES];
static TVMFFIObjectHandle found;
static unsigned turn;

static int choose(void* subject) {
  (void)subject;
  ++turn;
  return 0;
}

static int look_up(void* subject) {
  (void)subject;
  return TVMFFIFunctionGetGlobal(&keys[turn++ % NAMES], &found);
}

/* ---- measuring ---- */

static uint64_t measure(Operation volatile operation, void* subject, int* status) {
  uint64_t start = board_instructions();
  int i;
  for (i = 0; i < ROUNDS; ++i) *status |= operation(subject);
  return board_instructions() - start;
}

/* Reports the instructions of `operation` minus those of `nothing`. */
static int report(const char* name, Operation nothing, Operation operation, void* subject) {
  int status = 0;
  uint64_t overhead = measure(nothing, subject, &status);
  uint64_t instructions = measure(operation, subject, &status) - overhead;
  print_row_start(name);
  print_text(status == 0 ? "ok" : "FAILED");
  print_row_end_measured((uint32_t)((instructions * 10 + ROUNDS / 2) / ROUNDS));
  return status;
}

/* Registers one function under all names. */
static int look_up_among_16(TVMFFIObjectHandle function) {
  int i, status = 0;
  for (i = 0; i < NAMES; ++i) {
    names[i][5] = (char)('a' + i);
    keys[i] = bytes_of(names[i]);
    status |= TVMFFIFunctionSetGlobal(&keys[i], function, 0);
  }
  status |= report("lookup among 16", choose, look_up, NULL);
  if (found != function) return -1;
  /* Each round returned a new reference. */
  for (i = 0; i < ROUNDS; ++i) status |= TVMFFIObjectDecRef(function);
  return status;
}

int main(void) {
  TVMFFIObjectHandle function, failing;
  int status;
  if (TVMFFIFunctionCreate(NULL, nothing, NULL, &function) != 0 ||
      TVMFFIFunctionCreate(NULL, fail, NULL, &failing) != 0) {
    print_raised();
    return 1;
  }
  status = report("packed call", empty, call, function);
  status |= report("failing call, error freed", empty, call_failing, failing);
  status |= report("count up and down", empty, count_up_and_down, function);
  status |= look_up_among_16(function);
  status |= TVMFFIObjectDecRef(function) | TVMFFIObjectDecRef(failing);
  print_stack();
  return status == 0 ? 0 : 1;
}
