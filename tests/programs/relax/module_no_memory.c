/*
 * module_no_memory.c: loads a model, initialises a machine and calls a function, as run_model.c
 * does, while the library's n-th allocation fails (with `onwards`, all later ones, too), for every
 * n. Each failure is a MemoryError or has no effect; afterwards the same objects give the expected
 * results, and nothing is left of what failed.
 *
 *   module_no_memory once|onwards MODEL FUNCTION TOLERANCE ARGUMENT... -- RESULT...
 *
 * Prints the numbers of allocations that failed while loading and in a call.
 */
#include "../../robustness/alloc_fail/failing_malloc.h"

#define main run_model
#include "run_model.c"
#undef main

enum { MOST = 20000 };

static char** results;
static double allowed;

static void arm(long n, int onwards) {
  heap.fail_in = n;
  heap.from_there = onwards;
  heap.failed = 0;
}

/* Lets all allocations succeed again. Returns whether one has failed. */
static int disarm(void) {
  heap.fail_in = 0;
  heap.from_there = 0;
  return heap.failed > 0;
}

static void drop(TVMFFIAny value) {
  if (value.type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectDecRef(value.v_obj);
}

/* Calls a function. Returns whether it succeeded; any error must be a MemoryError. */
static int try_call(TVMFFIObjectHandle function, TVMFFIAny* args, int count, TVMFFIAny* result) {
  TVMFFIObjectHandle error = NULL;
  TVMFFIErrorCell* cell;
  *result = none();
  if (TVMFFIFunctionCall(function, args, count, result) == 0) return 1;
  TVMFFIErrorMoveFromRaised(&error);
  if (error == NULL) fail("no error after a failed", "call");
  cell = (TVMFFIErrorCell*)((char*)error + sizeof(TVMFFIObject));
  if (cell->kind.size != 11 || memcmp(cell->kind.data, "MemoryError", 11) != 0) {
    fprintf(stderr, "%.*s: %.*s\n", (int)cell->kind.size, cell->kind.data, (int)cell->message.size, cell->message.data);
    fail("another error than", "MemoryError");
  }
  TVMFFIObjectDecRef(error);
  return 0;
}

static TVMFFIObjectHandle global_load, global_method;

/* Gets a function of a module; NULL after a MemoryError. */
static TVMFFIObjectHandle try_method(TVMFFIAny module, const char* name) {
  TVMFFIAny args[3], found;
  args[0] = module;
  args[1] = text(name);
  args[2] = integer(0);
  args[2].type_index = kTVMFFIBool;
  if (!try_call(global_method, args, 3, &found)) return NULL;
  if (found.type_index != kTVMFFIFunction) fail("no function", name);
  return found.v_obj;
}

/* Calls a function of a module. Returns whether that succeeded. */
static int try_invoke(TVMFFIAny module, const char* name, TVMFFIAny* args, int count, TVMFFIAny* result) {
  TVMFFIObjectHandle function = try_method(module, name);
  int done = function != NULL && try_call(function, args, count, result);
  if (function != NULL) TVMFFIObjectDecRef(function);
  return done;
}

static int try_initialize(TVMFFIAny machine) {
  TVMFFIAny device[3], ignored;
  device[0] = integer(CPU);
  device[1] = integer(0);
  device[2] = integer(1);
  return try_invoke(machine, "vm_initialization", device, 3, &ignored);
}

static void must_give_results(TVMFFIAny machine, const char* function, TVMFFIAny* args, int count) {
  TVMFFIAny result;
  char** expected = results;
  if (!try_invoke(machine, function, args, count, &result)) fail("failed afterwards:", function);
  check(result, &expected, allowed);
  drop(result);
}

/* Loads a model and initialises a machine with failures; then does without what was still missing,
 * on the same objects. */
static int load_and_run(const char* path, const char* function, TVMFFIAny* args, int count, long n, int onwards) {
  TVMFFIAny file = text(path), model = none(), machine = none();
  int reached, loaded, made = 0, ready = 0;
  arm(n, onwards);
  loaded = try_call(global_load, &file, 1, &model);
  if (loaded) made = try_invoke(model, "vm_load_executable", NULL, 0, &machine);
  if (made) ready = try_initialize(machine);
  reached = disarm();
  if (!loaded && !try_call(global_load, &file, 1, &model)) fail("cannot load afterwards", path);
  if (!made && !try_invoke(model, "vm_load_executable", NULL, 0, &machine)) fail("no machine afterwards of", path);
  if (!ready && !try_initialize(machine)) fail("cannot initialise afterwards", path);
  must_give_results(machine, function, args, count);
  drop(machine);
  drop(model);
  return reached;
}

/* Calls the function of a machine with failures, then without. */
static int call_and_repeat(TVMFFIAny machine, const char* function, TVMFFIAny* args, int count, long n, int onwards) {
  TVMFFIAny result;
  char** expected = results;
  int reached, done;
  arm(n, onwards);
  done = try_invoke(machine, function, args, count, &result);
  reached = disarm();
  if (done) {
    check(result, &expected, allowed);
    drop(result);
  }
  must_give_results(machine, function, args, count);
  return reached;
}

/* Does so twice on a new machine, which keeps frames and tensors of the first call. Returns whether
 * an allocation failed. */
static int call_new_machine(const char* path, const char* function, TVMFFIAny* args, int count, long n, int onwards) {
  TVMFFIAny machine = machine_of(path, 1);
  int reached = call_and_repeat(machine, function, args, count, n, onwards);
  reached |= call_and_repeat(machine, function, args, count, n, onwards);
  drop(machine);
  return reached;
}

/* Checks that as many blocks live as before. */
static void left_nothing(long live, long allocations, const char* what, long n) {
  if (heap.live == live) return;
  printf("%s, allocation %ld: %ld blocks before, %ld after\n", what, n, live, heap.live);
  print_blocks_after(allocations);
  fflush(stdout);
  fail("blocks are left after", what);
}

int main(int argc, char** argv) {
  TVMFFIAny args[MAX_VALUES];
  TVMFFIByteArray load_name = {"ffi.ModuleLoadFromFile", 22}, method_name = {"ffi.ModuleGetFunction", 21};
  int at, count = 0, onwards;
  long n, loads, calls, live, allocations;
  if (argc < 6) fail("usage:", "module_no_memory once|onwards MODEL FUNCTION TOLERANCE ARGUMENT... -- RESULT...");
  if (!watch_library()) fail("the library is not", "loaded");
  onwards = strcmp(argv[1], "onwards") == 0;
  allowed = atof(argv[4]);
  for (at = 5; at < argc && strcmp(argv[at], "--") != 0; ++at) {
    if (count == MAX_VALUES) fail("too many arguments:", argv[at]);
    args[count++] = argument(argv[at]);
  }
  results = argv + at + 1;
  must(TVMFFIFunctionGetGlobal(&load_name, &global_load), load_name.data);
  must(TVMFFIFunctionGetGlobal(&method_name, &global_method), method_name.data);
  /* The first of two equal rounds may fill what the library keeps for all machines. */
  for (n = 1; n < MOST && load_and_run(argv[2], argv[3], args, count, n, onwards); ++n) {
    live = heap.live;
    allocations = heap.count;
    load_and_run(argv[2], argv[3], args, count, n, onwards);
    left_nothing(live, allocations, "loading", n);
  }
  loads = n - 1;
  for (n = 1; n < MOST && call_new_machine(argv[2], argv[3], args, count, n, onwards); ++n) {
    live = heap.live;
    allocations = heap.count;
    call_new_machine(argv[2], argv[3], args, count, n, onwards);
    left_nothing(live, allocations, "calling", n);
  }
  calls = n - 1;
  if (n == MOST) fail("the end was not", "reached");
  printf("%ld allocations failed while loading, %ld in a call\n", loads, calls);
  return 0;
}
