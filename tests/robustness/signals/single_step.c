/*
 * A signal at every instruction: with the processor's trap flag set, a handler runs after each
 * instruction of a path, and performs the operations that c_api.h allows in handlers on the same
 * object and the same names. The paths are those that handlers may call, and those that change what
 * they read: registrations, and the death of another object.
 *
 * x86-64 only. First in a process with one thread, where counts need no locked instructions, then
 * with a second thread.
 */
#include "../../conformance/c/check.h"

#include <pthread.h>
#include <signal.h>
#include <ucontext.h>

#ifndef __x86_64__
#error "this program sets the trap flag of x86-64"
#endif

static TVMFFIObjectHandle shared;   /* retained and released by all */
static TVMFFIObjectHandle function; /* in the global table as "steps.function" */
static int32_t type_index;

static long held;  /* references to `shared` that handlers took and did not release */
static long steps; /* instructions of the present path */
static long bad;

static int retain_and_release(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self;
  (void)args;
  (void)num_args;
  *result = any_none();
  return TVMFFIObjectIncRef(shared) | TVMFFIObjectDecRef(shared);
}

/* At every other instruction, keeps a reference that the next instruction's handler releases. */
static void count_in_handler(void) {
  TVMFFIAny view = any_object(shared);
  TVMFFIAny owned = any_none();
  if (steps % 2 == 0) {
    bad += TVMFFIObjectIncRef(shared) != 0;
    held++;
  } else {
    bad += TVMFFIObjectDecRef(shared) != 0;
    held--;
  }
  bad += TVMFFIAnyViewToOwnedAny(&view, &owned) != 0 || owned.v_obj != shared;
  bad += TVMFFIObjectDecRef(shared) != 0;
}

static void look_up_in_handler(void) {
  TVMFFIByteArray name = bytes_of("steps.function");
  TVMFFIByteArray key = bytes_of("steps.Type");
  TVMFFIByteArray column = bytes_of("__steps__");
  TVMFFIObjectHandle found = NULL;
  TVMFFIAny result = any_none();
  TVMFFIVersion version;
  int32_t index = 0;
  bad += TVMFFIFunctionGetGlobal(&name, &found) != 0 || found != function;
  bad += TVMFFIFunctionCall(found, NULL, 0, &result) != 0;
  bad += TVMFFIObjectDecRef(found) != 0;
  bad += TVMFFITypeKeyToIndex(&key, &index) != 0 || index != type_index;
  bad += TVMFFIGetTypeInfo(index) == NULL || TVMFFIGetTypeAttrColumn(&column) == NULL;
  bad += TVMFFIGetCustomAllocator() == NULL;
  TVMFFIGetVersion(&version);
}

/* The kernel clears the trap flag for the handler, and sets it again on return. */
static void handle(int signal) {
  bad += signal != SIGTRAP;
  count_in_handler();
  look_up_in_handler();
  steps++;
}

/* Both spare the red zone, the 128 bytes below the stack pointer that a function may use. */
static void start_stepping(void) {
  __asm__ volatile("leaq -128(%%rsp), %%rsp; pushfq; orq $0x100, (%%rsp); popfq; leaq 128(%%rsp), %%rsp"
                   :
                   :
                   : "memory", "cc");
}

static void stop_stepping(void) {
  __asm__ volatile("leaq -128(%%rsp), %%rsp; pushfq; andq $~0x100, (%%rsp); popfq; leaq 128(%%rsp), %%rsp"
                   :
                   :
                   : "memory", "cc");
}

/* ---- paths ------------------------------------------------------------------------------- */

static void retain(void) { bad += TVMFFIObjectIncRef(shared) != 0; }

static void release(void) { bad += TVMFFIObjectDecRef(shared) != 0; }

static void call(void) {
  TVMFFIAny result = any_none();
  bad += TVMFFIFunctionCall(function, NULL, 0, &result) != 0;
}

static void own(void) {
  TVMFFIAny view = any_object(shared);
  TVMFFIAny owned = any_none();
  bad += TVMFFIAnyViewToOwnedAny(&view, &owned) != 0;
  bad += TVMFFIObjectDecRef(owned.v_obj) != 0;
}

static void look_up_function(void) {
  TVMFFIByteArray name = bytes_of("steps.function");
  TVMFFIObjectHandle found = NULL;
  bad += TVMFFIFunctionGetGlobal(&name, &found) != 0 || found != function;
  bad += TVMFFIObjectDecRef(found) != 0;
}

static void look_up_type(void) {
  TVMFFIByteArray key = bytes_of("steps.Type");
  int32_t index = 0;
  bad += TVMFFITypeKeyToIndex(&key, &index) != 0 || index != type_index;
}

static int round_number;

/* Registers enough names for the index to grow, and replaces the function of one. */
static void register_functions(void) {
  char text[60];
  TVMFFIByteArray name;
  int i;
  for (i = 0; i < 6; i++) {
    sprintf(text, "steps.other_%d_%d", round_number, i);
    name = bytes_of(text);
    bad += TVMFFIFunctionSetGlobal(&name, function, 0) != 0;
    bad += TVMFFIFunctionSetGlobal(&name, shared, 1) != 0;
  }
}

static void register_type(void) {
  char text[60];
  TVMFFIByteArray name;
  TVMFFIByteArray column;
  TVMFFIAny one = any_int(1);
  int32_t index;
  sprintf(text, "steps.Type_%d", round_number);
  name = bytes_of(text);
  column = bytes_of("__steps__");
  index = TVMFFITypeGetOrAllocIndex(&name, -1, 1, 0, 1, kTVMFFIObject);
  bad += index <= 0;
  bad += TVMFFITypeRegisterAttr(index, &column, &one) != 0;
}

static int deleted;

static void count_deleted(void* self) {
  (void)self;
  deleted++;
}

/* Creates and destroys a function beside the one that handlers count. */
static void create_and_destroy(void) {
  TVMFFIObjectHandle other = NULL;
  int before = deleted;
  bad += TVMFFIFunctionCreate(NULL, retain_and_release, count_deleted, &other) != 0;
  bad += TVMFFIObjectDecRef(other) != 0;
  bad += deleted != before + 1;
}

static void raise_and_take(void) {
  TVMFFIObjectHandle error = NULL;
  TVMFFIErrorSetRaisedFromCStr("ValueError", "a message of more than seven bytes");
  TVMFFIErrorMoveFromRaised(&error);
  bad += error == NULL;
  TVMFFIObjectDecRef(error);
}

/* Runs a path with a signal at each instruction. Returns the number of instructions. */
static void step(const char* name, void (*path)(void)) {
  long references = (long)strong_count(shared) - held;
  path(); /* what is registered once is registered, and symbols are bound */
  round_number++;
  steps = 0;
  start_stepping();
  path();
  stop_stepping();
  round_number++;
  printf("  %s: a signal at each of %ld instructions\n", name, steps);
  CHECK(steps > 5);
  CHECK_INT(bad, 0);
  if (path != retain && path != release && path != register_functions) {
    CHECK_INT((long)strong_count(shared) - held, references);
  }
  bad = 0;
}

static void step_all(const char* where) {
  long before = (long)strong_count(shared) - held;
  printf("%s:\n", where);
  step("retain", retain);
  CHECK_INT((long)strong_count(shared) - held, before + 2);
  step("release", release);
  CHECK_INT((long)strong_count(shared) - held, before);
  step("call", call);
  step("own a view", own);
  step("look up a function", look_up_function);
  step("look up a type", look_up_type);
  step("register functions", register_functions);
  step("register a type", register_type);
  step("create and destroy", create_and_destroy);
  step("raise and take", raise_and_take);
}

static void* wait_for_end(void* gate) {
  pthread_mutex_lock((pthread_mutex_t*)gate);
  pthread_mutex_unlock((pthread_mutex_t*)gate);
  return NULL;
}

int main(void) {
  static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
  TVMFFIByteArray name = bytes_of("steps.function");
  TVMFFIByteArray key = bytes_of("steps.Type");
  TVMFFIByteArray column = bytes_of("__steps__");
  TVMFFIAny one = any_int(1);
  struct sigaction action;
  pthread_t thread;
  CHECK_OK(TVMFFIFunctionCreate(NULL, retain_and_release, NULL, &shared));
  CHECK_OK(TVMFFIFunctionCreate(NULL, retain_and_release, NULL, &function));
  CHECK_OK(TVMFFIFunctionSetGlobal(&name, function, 0));
  type_index = TVMFFITypeGetOrAllocIndex(&key, -1, 1, 0, 1, kTVMFFIObject);
  CHECK(type_index > 0);
  CHECK_OK(TVMFFITypeRegisterAttr(type_index, &column, &one));
  memset(&action, 0, sizeof(action));
  action.sa_handler = handle;
  CHECK_INT(sigaction(SIGTRAP, &action, NULL), 0);
  look_up_in_handler(); /* once outside: binds symbols */
  step_all("one thread");
  pthread_mutex_lock(&gate);
  CHECK_INT(pthread_create(&thread, NULL, wait_for_end, &gate), 0);
  step_all("two threads");
  pthread_mutex_unlock(&gate);
  pthread_join(thread, NULL);
  CHECK_INT(bad, 0);
  return check_report("single_step");
}
