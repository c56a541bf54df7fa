/*
 * usage: exits ROUNDS
 *
 * The process exits while other threads call: by exit, by the return of main, by quick_exit, with
 * handlers of atexit that call the library, too. Each round is a process, which must end with its
 * own status: no crash, and no thread that is waited for.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../../conformance/c/modules.h"

#include <tvm/runtime/c_backend_api.h>

#include <pthread.h>
#include <sys/wait.h>
#include <time.h>

enum { THREADS = 4, STATUS = 7, WAYS = 4 };

static volatile int running;

static int give_first(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self;
  *result = num_args > 0 ? args[0] : any_none();
  return 0;
}

static void use_values(void) {
  TVMFFIAny args[2];
  TVMFFIAny value;
  TVMFFIAny text;
  args[0] = any_text("{\"a key that is long\": [1, 2.5, \"a text that is long\"]}");
  if (call_global("ffi.json.Parse", args, 1, &value) == 0) {
    if (call_global("ffi.ReprPrint", &value, 1, &text) == 0) {
      release_any(&text);
    }
    release_any(&value);
  }
}

static void raise_errors(void) {
  TVMFFIAny arg = any_int(1);
  TVMFFIAny result;
  TVMFFIObjectHandle error = NULL;
  if (call_global("ffi.ArraySize", &arg, 1, &result) != 0) {
    TVMFFIErrorMoveFromRaised(&error);
    TVMFFIObjectDecRef(error);
  }
}

static void register_names(unsigned number) {
  char text[60];
  TVMFFIByteArray name;
  TVMFFIObjectHandle function = NULL;
  sprintf(text, "exits.name_%u", number % 200);
  name = bytes_of(text);
  if (TVMFFIFunctionCreate(NULL, give_first, NULL, &function) == 0) {
    TVMFFIFunctionSetGlobal(&name, function, 1);
    TVMFFITypeGetOrAllocIndex(&name, -1, 1, 0, 1, kTVMFFIObject);
    TVMFFIObjectDecRef(function);
  }
}

static void use_module(void) {
  TVMFFIAny module;
  if (load(required("CHECK_KERNELS"), &module) == 0) {
    release_any(&module);
  }
}

static int count_task(int task, TVMParallelGroupEnv* env, void* data) {
  (void)env;
  ((char*)data)[task % 64]++;
  return 0;
}

static void launch(void) {
  char counts[64];
  memset(counts, 0, sizeof(counts));
  TVMBackendParallelLaunch(count_task, counts, 2);
}

/* Does the kind of work of this thread, again and again. */
static void* work(void* argument) {
  unsigned number = *(unsigned*)argument;
  unsigned round;
  __sync_fetch_and_add(&running, 1);
  for (round = 0;; round++) {
    switch (number % THREADS) {
      case 0: use_values(); break;
      case 1: raise_errors(); register_names(round); break;
      case 2: use_module(); break;
      default: launch(); break;
    }
  }
  return NULL;
}

/* Handlers of exit run while the threads above still call. */
static void call_at_exit(void) {
  use_values();
  raise_errors();
  launch();
}

static void wait_briefly(unsigned round) {
  struct timespec time;
  time.tv_sec = 0;
  time.tv_nsec = (long)(round * 7919 % 2000) * 1000;
  nanosleep(&time, NULL);
}

/* Starts the threads, and leaves the process in one of the ways. Returns for the last of them: to
 * main, which returns. */
static int leave(unsigned round) {
  static unsigned numbers[THREADS];
  pthread_t thread;
  unsigned i;
  watchdog(30);
  atexit(call_at_exit);
  at_quick_exit(call_at_exit);
  for (i = 0; i < THREADS; i++) {
    numbers[i] = i;
    if (pthread_create(&thread, NULL, work, &numbers[i]) != 0) {
      return 3;
    }
  }
  while (running < THREADS) {
    wait_briefly(1);
  }
  wait_briefly(round);
  switch (round % WAYS) {
    case 0: exit(STATUS);
    case 1: quick_exit(STATUS);
    case 2: _exit(STATUS);
    default: return STATUS;
  }
}

int main(int argc, char** argv) {
  unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 100;
  unsigned round;
  for (round = 0; round < rounds; round++) {
    int status = 0;
    pid_t child;
    fflush(stdout);
    child = fork();
    if (child == 0) {
      return leave(round);
    }
    if (!CHECK_INT(wait_for_watched(child, &status), child)) {
      return 2;
    }
    if (WIFSIGNALED(status)) {
      printf("round %u: killed by signal %d\n", round, WTERMSIG(status));
    }
    if (!CHECK(WIFEXITED(status) && WEXITSTATUS(status) == STATUS)) {
      printf("round %u: status %#x\n", round, (unsigned)status);
    }
  }
  printf("%u exits while %d threads call\n", rounds, THREADS);
  return check_report("exits");
}
