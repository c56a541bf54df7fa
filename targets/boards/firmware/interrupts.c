/*
 * interrupts.c: an interrupt handler looks functions up, calls them and counts references while the
 * program does the same and registers functions.
 *
 * The handler interrupts the program between any two instructions, so over many interrupts it
 * encounters growing tables and changing counts. A lost update shows in the final sums.
 */
#include "board.h"
#include "ffi.h"
#include "print.h"
#include "profile.h"

/* A prime, so that interrupts drift through the program's loop. */
enum { PERIOD = 4001, NAMES = 12, ROUNDS = 400, LENGTH = 2 };

static TVMFFIObjectHandle shared;
static int calls; /* by the program itself */
static volatile int interrupts, handler_failures;

static int count(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self;
  (void)num_args;
  *result = args[0];
  result->v_int64 += 1;
  return 0;
}

/* Looks `name` up, calls the function and releases the reference. */
static int look_up_and_call(const char* name, int64_t number) {
  TVMFFIObjectHandle function;
  TVMFFIAny arg = any_int(number), result = any_none();
  int status;
  if (get_global(name, &function) != 0) return -1;
  status = TVMFFIFunctionCall(function, &arg, 1, &result);
  if (TVMFFIObjectDecRef(function) != 0) return -1;
  return status == 0 && result.type_index == kTVMFFIInt && result.v_int64 == number + 1 ? 0 : -1;
}

/* Keeps the reference that it takes: a reference released in the handler could hide a lost
 * update. */
static void on_interrupt(void) {
  interrupts = interrupts + 1;
  if (TVMFFIObjectIncRef(shared) != 0 || look_up_and_call("count", interrupts) != 0) {
    handler_failures = handler_failures + 1;
  }
}

static int give_back(int references) {
  for (; references > 0; --references) {
    if (TVMFFIObjectDecRef(shared) != 0) return -1;
  }
  return 0;
}

/* Registers a name and calls it, while references are taken and released. */
static int work(int number) {
  static char names[NAMES][LENGTH]; /* static, since not every profile copies them */
  char* name = names[number];
  int round;
  name[0] = (char)('a' + number);
  if (set_global(name, count) != 0) return -1;
  for (round = 0; round < ROUNDS; ++round) {
    if (TVMFFIObjectIncRef(shared) != 0 || look_up_and_call(name, round) != 0) return -1;
    if (TVMFFIObjectDecRef(shared) != 0) return -1;
    ++calls;
  }
  return 0;
}

/* Returns the strong count, the low half of the combined count. */
static uint32_t references(TVMFFIObjectHandle object) {
  return (uint32_t)((const TVMFFIObject*)object)->combined_ref_count;
}

static int run(void) {
  int i;
  if (set_global("count", count) != 0 || get_global("count", &shared) != 0) return -1;
  if (board_every(PERIOD, on_interrupt) != 0) return 1;
  for (i = 0; i < NAMES; ++i) {
    if (work(i) != 0) return -1;
  }
  if (board_every(0, NULL) != 0) return -1;
  return give_back(interrupts);
}

int main(void) {
  int good, status = run();
  if (status < 0) print_raised();
  print_row_start("interrupts");
  if (status > 0) {
    print_text("left out: this board has no interrupts");
    print_row_end();
    return 0;
  }
  good = status == 0 && interrupts > 100 && handler_failures == 0 && calls == NAMES * ROUNDS;
  /* One reference is owned here, the other by the table. */
  good = good && references(shared) == 2;
  print_text(good ? "ok, " : "FAILED, ");
  print_number((uint32_t)interrupts);
  print_text(" interrupts during ");
  print_number((uint32_t)calls);
  print_text(" calls, ");
  print_number((uint32_t)handler_failures);
  print_text(" failed");
  print_row_end();
  print_stack();
  profile_print_pool();
  return good ? 0 : 1;
}
