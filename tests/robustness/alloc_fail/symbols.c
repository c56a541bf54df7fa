/*
 * usage: symbols objects|malloc once|onwards
 *
 * Calls every C symbol repeatedly; in the n-th round, the n-th allocation fails (with "onwards",
 * all later ones, too), until a round needs fewer than n. With "objects" the ABI's allocator record
 * fails, with "malloc" the C library, which then serves all allocations. Each round is a process of
 * its own that starts from the same state, so that a crash is detected and costs one round.
 */
#include "rounds.h"
#include "scenario.h"

#include <dlfcn.h>

/* An allocator that registers names and calls a mutator when it allocates an error: no lock may be
 * held then. */
static TVMFFICustomAllocator* builtin_record;
static TVMFFIObjectHandle registered_function;
static TVMFFIObjectHandle ask_mutator;

static void* meddle(size_t size, size_t alignment, int32_t type_index, void* context) {
  static int errors;
  (void)context;
  if (type_index == kTVMFFIError) {
    char text[64];
    TVMFFIByteArray name;
    TVMFFIAny none = any_none();
    TVMFFIAny args[2];
    sprintf(text, "alloc_fail.meddle.name_%d", errors++);
    name = bytes_of(text);
    TVMFFIFunctionSetGlobal(&name, registered_function, 0);
    nothing_raised();
    TVMFFITypeRegisterAttr(kTVMFFINone, &name, &none);
    nothing_raised();
    TVMFFITypeGetOrAllocIndex(&name, -1, 1, 0, 0, kTVMFFIObject);
    nothing_raised();
    if (told_mutator.type_index != kTVMFFINone) {
      args[0] = told_mutator;
      args[1] = told_mutator;
      CHECK_OK(TVMFFIFunctionCall(ask_mutator, args, 2, &none));
    }
  }
  return builtin_record->allocate(size, alignment, type_index, builtin_record->context);
}

static TVMFFICustomAllocator meddling_record = {meddle, NULL};

static void install_meddling(void) {
  builtin_record = TVMFFIGetCustomAllocator();
  CHECK_OK(TVMFFIFunctionCreate(NULL, sum, NULL, &registered_function));
  ask_mutator = global_function("ffi.StructuralMutatorVarRemapGet");
  CHECK(ask_mutator != NULL);
  CHECK_OK(TVMFFISetCustomAllocator(&meddling_record));
  watchdog(60); /* kills a thread that deadlocks on its own lock */
}

static int leave_nothing(long n) { return fails_and_repeats(n, walk_and_leave_nothing); }

static int registers(long n) {
  int reached;
  walk_and_register("warm");
  CHECK_INT(step_failures, 0);
  if (by_malloc) {
    install_meddling();
  }
  arm(n);
  walk_and_register("failing");
  walk_memory_of_a_mutator();
  reached = disarm();
  nothing_raised();
  step_failures = 0;
  walk_and_register("after");
  CHECK_INT(step_failures, 0);
  walk_and_leave_nothing();
  CHECK_INT(step_failures, 0);
  return verdict(reached);
}

int main(int argc, char** argv) {
  long bad;
  if (argc != 3) {
    printf("usage: symbols objects|malloc once|onwards\n");
    return 2;
  }
  choose_failures(argv[1], argv[2]);
  expect_walked_functions();
  /* Creates permanent state now. The library that the rounds load stays open, so that all of them
   * can name the frames of errors: looking them up takes longer than a round. */
  CHECK(dlopen(required("CHECK_KERNELS"), RTLD_LAZY | RTLD_LOCAL) != NULL);
  walk_and_leave_nothing();
  CHECK_INT(step_failures, 0);
  bad = run("a walk that leaves nothing", leave_nothing);
  bad += run("a walk that registers", registers);
  CHECK_INT(bad, 0);
  return check_report("symbols");
}
