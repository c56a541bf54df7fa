/*
 * Small stacks: everything works on a thread whose stack has 16 KiB, and on coroutines, whose
 * stacks the system knows nothing about: calls and callbacks, errors with backtraces, deep values,
 * and switches in the middle of a callback.
 *
 * Each stack lies between pages that may not be touched, so that an overflow ends the program.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../../conformance/c/modules.h"

#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { STACK_BYTES = 16 * 1024, GUARD_BYTES = 64 * 1024, DEPTH = 100000 };

/* Returns a stack between two guards. */
static char* make_stack(void) {
  size_t all = STACK_BYTES + 2 * GUARD_BYTES;
  char* block = (char*)mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED || mprotect(block + GUARD_BYTES, STACK_BYTES, PROT_READ | PROT_WRITE) != 0) {
    perror("a stack");
    exit(2);
  }
  return block + GUARD_BYTES;
}

static void free_stack(char* stack) { munmap(stack - GUARD_BYTES, STACK_BYTES + 2 * GUARD_BYTES); }

/* ---- what runs on them ------------------------------------------------------------------- */

static int add(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self;
  if (num_args != 2 || args[0].type_index != kTVMFFIInt || args[1].type_index != kTVMFFIInt) {
    TVMFFIErrorSetRaisedFromCStr("TypeError", "add takes two integers");
    return -1;
  }
  *result = any_int(args[0].v_int64 + args[1].v_int64);
  return 0;
}

static void call_functions(void) {
  TVMFFIObjectHandle function = NULL;
  TVMFFIAny args[2];
  TVMFFIAny result = any_none();
  args[0] = any_int(1);
  args[1] = any_int(2);
  CHECK_OK(TVMFFIFunctionCreate(NULL, add, NULL, &function));
  CHECK_OK(TVMFFIFunctionCall(function, args, 2, &result));
  CHECK_INT(result.v_int64, 3);
  CHECK_ERROR(TVMFFIFunctionCall(function, args, 1, &result), "TypeError");
  TVMFFIObjectDecRef(function);
}

/* Raises errors of the library and of a callback; each has a backtrace. */
static void raise_errors(void) {
  TVMFFIAny arg = any_int(1);
  TVMFFIAny result;
  TVMFFIObjectHandle error = NULL;
  const TVMFFIByteArray* backtrace;
  CHECK_INT(call_global("ffi.ArraySize", &arg, 1, &result), -1);
  TVMFFIErrorMoveFromRaised(&error);
  if (CHECK(error != NULL)) {
    CHECK(CELL(TVMFFIErrorCell, error)->backtrace.size > 0);
    TVMFFIObjectDecRef(error);
  }
  backtrace = TVMFFIBacktrace("file.c", 3, "function", 0);
  CHECK(backtrace->size > 0);
  arg = any_text("[1, 2");
  CHECK_ERROR(call_global("ffi.json.Parse", &arg, 1, &result), "ValueError");
}

/* Makes an Array in an Array, and so on, around an integer. */
static TVMFFIAny make_deep(int depth) {
  TVMFFIAny inner = any_int(7);
  TVMFFIAny outer;
  int i;
  for (i = 0; i < depth; i++) {
    CHECK_OK(call_global("ffi.Array", &inner, 1, &outer));
    release_any(&inner);
    inner = outer;
  }
  return inner;
}

/* An operation on a deep value gives a result or an error. */
static void try_deep(const char* name, TVMFFIAny* args, int32_t count) {
  TVMFFIAny result;
  if (call_global(name, args, count, &result) == 0) {
    release_any(&result);
  } else {
    CHECK(raised_is(NULL, NULL));
  }
}

static void use_deep_values(void) {
  TVMFFIAny args[4];
  TVMFFIAny deep = make_deep(DEPTH);
  TVMFFIAny copy = make_deep(DEPTH);
  args[0] = deep;
  args[1] = copy;
  args[2] = any_bool(0);
  args[3] = any_bool(0);
  try_deep("ffi.StructuralEqual", args, 4);
  try_deep("ffi.RecursiveEq", args, 2);
  args[1] = any_bool(0);
  try_deep("ffi.StructuralHash", args, 3);
  try_deep("ffi.RecursiveHash", args, 1);
  try_deep("ffi.ReprPrint", args, 1);
  try_deep("ffi.DeepCopy", args, 1);
  args[1] = any_none();
  try_deep("ffi.ToJSONGraphString", args, 2);
  try_deep("ffi.json.Stringify", args, 2);
  release_any(&copy);
  release_any(&deep);
}

static void parse_deep_text(void) {
  static char text[2 * DEPTH + 1];
  TVMFFIAny arg;
  memset(text, '[', DEPTH);
  memset(text + DEPTH, ']', DEPTH);
  arg = any_text(text);
  try_deep("ffi.json.Parse", &arg, 1);
}

static void register_names(void) {
  static int rounds;
  char text[40];
  TVMFFIByteArray name;
  TVMFFIObjectHandle function = NULL;
  sprintf(text, "stacks.name_%d", rounds++);
  name = bytes_of(text);
  CHECK_OK(TVMFFIFunctionCreate(NULL, add, NULL, &function));
  CHECK_OK(TVMFFIFunctionSetGlobal(&name, function, 0));
  TVMFFIObjectDecRef(function);
  CHECK(TVMFFITypeGetOrAllocIndex(&name, -1, 1, 0, 1, kTVMFFIObject) > 0);
}

static void use_module(void) {
  TVMFFIAny module;
  if (CHECK_OK(load(required("CHECK_KERNELS"), &module))) {
    CHECK_INT(add_one(module.v_obj, 4), 5);
    release_any(&module);
  }
}

static void everything(void) {
  call_functions();
  raise_errors();
  register_names();
  use_deep_values();
  parse_deep_text();
  use_module();
}

/* ---- threads ----------------------------------------------------------------------------- */

static void* run_thread(void* body) {
  void (*run)(void);
  memcpy(&run, &body, sizeof(run));
  run();
  return NULL;
}

static void on_thread(const char* name, void (*body)(void)) {
  char* stack = make_stack();
  pthread_attr_t attributes;
  pthread_t thread;
  printf("thread: %s\n", name);
  fflush(stdout);
  CHECK_INT(pthread_attr_init(&attributes), 0);
  CHECK_INT(pthread_attr_setstack(&attributes, stack, STACK_BYTES), 0);
  if (CHECK_INT(pthread_create(&thread, &attributes, run_thread, address_of_function((check_any_function)body)), 0)) {
    pthread_join(thread, NULL);
  }
  pthread_attr_destroy(&attributes);
  free_stack(stack);
}

/* ---- coroutines -------------------------------------------------------------------------- */

static ucontext_t main_context;
static ucontext_t coroutines[2];
static void (*coroutine_body)(void);

static void run_coroutine(void) { coroutine_body(); }

static void on_coroutine(const char* name, void (*body)(void)) {
  char* stack = make_stack();
  printf("coroutine: %s\n", name);
  fflush(stdout);
  coroutine_body = body;
  getcontext(&coroutines[0]);
  coroutines[0].uc_stack.ss_sp = stack;
  coroutines[0].uc_stack.ss_size = STACK_BYTES;
  coroutines[0].uc_link = &main_context;
  makecontext(&coroutines[0], run_coroutine, 0);
  swapcontext(&main_context, &coroutines[0]);
  free_stack(stack);
}

static int switches;
static int finished;

/* Switches to the other coroutine, in the middle of a call of the library. */
static int switch_in_callback(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  int here = *(int*)self;
  (void)num_args;
  switches++;
  if (finished == 0) {
    swapcontext(&coroutines[here], &coroutines[1 - here]);
  }
  *result = any_int(args[0].v_int64 + 100 * here);
  return 0;
}

/* Maps an Array by a callback that switches; raises and takes an error between two switches. */
static void alternate(int here) {
  TVMFFIObjectHandle function = NULL;
  TVMFFIAny args[4];
  TVMFFIAny numbers[3];
  TVMFFIAny entry[2];
  TVMFFIAny result;
  TVMFFIAny all[2];
  int i;
  CHECK_OK(TVMFFIFunctionCreate(&here, switch_in_callback, NULL, &function));
  for (i = 0; i < 3; i++) {
    numbers[i] = any_int(i);
  }
  CHECK_OK(call_global("ffi.List", numbers, 3, &args[0]));
  entry[0] = any_int(kTVMFFIInt);
  entry[1] = any_object(function);
  CHECK_OK(call_global("ffi.Array", entry, 2, &all[0]));
  CHECK_OK(call_global("ffi.Array", all, 1, &args[1]));
  CHECK_OK(call_global("ffi.Array", NULL, 0, &args[2]));
  args[3] = any_int(0);
  for (i = 0; i < 3; i++) {
    TVMFFIAny text;
    CHECK_OK(call_global("ffi.StructuralMap", args, 4, &result));
    CHECK_OK(call_global("ffi.ReprPrint", &result, 1, &text));
    CHECK(any_is_string(&text, here == 0 ? "[0, 1, 2]" : "[100, 101, 102]"));
    release_any(&text);
    release_any(&result);
    raise_errors();
  }
  for (i = 0; i < 3; i++) {
    release_any(&args[i]);
  }
  release_any(&all[0]);
  TVMFFIObjectDecRef(function);
  finished++;
}

static void alternate_first(void) { alternate(0); }
static void alternate_second(void) { alternate(1); }

/* Two coroutines, each of which switches to the other in callbacks; the second finishes without the
 * first. */
static void switch_between_two(void) {
  char* stacks[2];
  int i;
  for (i = 0; i < 2; i++) {
    stacks[i] = make_stack();
    getcontext(&coroutines[i]);
    coroutines[i].uc_stack.ss_sp = stacks[i];
    coroutines[i].uc_stack.ss_size = STACK_BYTES;
    coroutines[i].uc_link = i == 0 ? &coroutines[1] : &main_context;
  }
  makecontext(&coroutines[0], alternate_first, 0);
  makecontext(&coroutines[1], alternate_second, 0);
  swapcontext(&main_context, &coroutines[0]);
  CHECK_INT(finished, 2);
  CHECK(switches >= 18);
  printf("two coroutines: %d switches in callbacks\n", switches);
  for (i = 0; i < 2; i++) {
    free_stack(stacks[i]);
  }
}

int main(void) {
  on_thread("functions", call_functions);
  on_thread("errors", raise_errors);
  on_thread("registration", register_names);
  on_thread("deep values", use_deep_values);
  on_thread("deep text", parse_deep_text);
  on_thread("everything", everything);
  on_coroutine("functions", call_functions);
  on_coroutine("errors", raise_errors);
  on_coroutine("registration", register_names);
  on_coroutine("deep values", use_deep_values);
  on_coroutine("deep text", parse_deep_text);
  on_coroutine("everything", everything);
  switch_between_two();
  CHECK(nothing_raised());
  return check_report("small_stacks");
}
