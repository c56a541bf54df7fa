/*
 * Resources that the system refuses: threads, file descriptors, address space. Calls give errors or
 * do with less, and work again when the system gives again. Each scenario is a process of its own.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../../conformance/c/modules.h"

#include <tvm/runtime/c_backend_api.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* Takes the raised error, without memory of its own. Returns whether there was one, of this kind
 * unless that is null. */
static int takes_error(const char* kind) {
  TVMFFIObjectHandle error = NULL;
  int matches;
  TVMFFIErrorMoveFromRaised(&error);
  if (error == NULL) {
    return 0;
  }
  matches = kind == NULL || bytes_equal(&CELL(TVMFFIErrorCell, error)->kind, kind);
  TVMFFIObjectDecRef(error);
  return matches;
}

/* ---- threads that are refused ------------------------------------------------------------ */

static struct {
  int fail_in; /* 1 refuses the next thread, 0 none */
  int onwards; /* whether all later ones are refused, too */
  int refused;
} threads;

/* Overrides that of the C library, to which it forwards. */
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*), void* argument) {
  int (*create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  void* found = dlsym(RTLD_NEXT, "pthread_create");
  if (threads.fail_in > 0 && --threads.fail_in == 0) {
    threads.fail_in = threads.onwards;
    threads.refused++;
    return EAGAIN;
  }
  memcpy(&create, &found, sizeof(create));
  return create(thread, attributes, body, argument);
}

enum { TASKS = 4 };

static int count_task(int task, TVMParallelGroupEnv* env, void* data) {
  __sync_fetch_and_add((int*)data, 1);
  CHECK(task < env->num_task);
  return 0;
}

/* Launches a loop of as many tasks as there are threads, which may be fewer than wanted. */
static void launch_default(void) {
  int ran = 0;
  CHECK_INT(TVMBackendParallelLaunch(count_task, &ran, 0), 0);
  CHECK(ran >= 1);
}

/* Launches a loop of a fixed number of tasks: all of them run, or none and there is an error. */
static int launch_fixed(void) {
  int ran = 0;
  if (TVMBackendParallelLaunch(count_task, &ran, TASKS) == 0) {
    CHECK_INT(ran, TASKS);
    return 1;
  }
  CHECK(takes_error("RuntimeError"));
  CHECK_INT(ran, 0);
  return 0;
}

static int refused_thread;
static int refused_onwards;

static void refuse_threads(void) {
  TVMFFIAny settings[2];
  TVMFFIAny result;
  settings[0] = any_int(1);
  settings[1] = any_int(TASKS);
  CHECK_OK(call_global("runtime.config_threadpool", settings, 2, &result));
  threads.fail_in = refused_thread;
  threads.onwards = refused_onwards;
  launch_default();
  launch_fixed();
  if (refused_onwards && refused_thread < TASKS) {
    CHECK(threads.refused > 0);
    CHECK_INT(launch_fixed(), 0);
  }
  threads.fail_in = 0;
  CHECK_INT(launch_fixed(), 1);
  launch_default();
}

/* ---- everything else --------------------------------------------------------------------- */

/* Uses values, errors with backtraces, registration and modules; each call gives a result, or an
 * error. */
static int use_all(void) {
  static int rounds;
  char text[60];
  TVMFFIByteArray name;
  TVMFFIAny arg = any_text("{\"a key that is long\": [1, 2.5, \"a text that is long\"]}");
  TVMFFIAny value;
  TVMFFIAny printed;
  int good = 0;
  if (call_global("ffi.json.Parse", &arg, 1, &value) == 0) {
    good++;
    if (call_global("ffi.ReprPrint", &value, 1, &printed) == 0) {
      good++;
      release_any(&printed);
    } else {
      CHECK(takes_error(NULL));
    }
    release_any(&value);
  } else {
    CHECK(takes_error(NULL));
  }
  arg = any_int(1);
  CHECK_INT(call_global("ffi.ArraySize", &arg, 1, &value), -1);
  CHECK(takes_error(NULL));
  sprintf(text, "resources.name_%d", rounds++);
  name = bytes_of(text);
  if (TVMFFITypeGetOrAllocIndex(&name, -1, 1, 0, 1, kTVMFFIObject) >= 0) {
    good++;
  } else {
    CHECK(takes_error(NULL));
  }
  if (load(required("CHECK_KERNELS"), &value) == 0) {
    good++;
    CHECK_INT(add_one(value.v_obj, 4), 5);
    release_any(&value);
  } else {
    CHECK(takes_error(NULL));
  }
  return good;
}

enum { ALL = 4 };

static void refuse_files(void) {
  struct rlimit before;
  struct rlimit none;
  CHECK_INT(getrlimit(RLIMIT_NOFILE, &before), 0);
  none = before;
  none.rlim_cur = 0;
  CHECK_INT(setrlimit(RLIMIT_NOFILE, &none), 0);
  CHECK_INT(use_all(), ALL - 1); /* all but the module */
  CHECK_INT(launch_fixed(), 1);
  CHECK_INT(setrlimit(RLIMIT_NOFILE, &before), 0);
  CHECK_INT(use_all(), ALL);
}

/* Returns the size of the address space in bytes. */
static size_t address_space(void) {
  unsigned long pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  CHECK(file != NULL && fscanf(file, "%lu", &pages) == 1);
  if (file != NULL) {
    fclose(file);
  }
  return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Fills a List with ever longer values until memory runs out. Returns the number of bytes that
 * fitted. */
static size_t fill(TVMFFIAny* list) {
  static char text[1 << 16];
  TVMFFIAny args[2];
  TVMFFIAny result;
  size_t bytes = 0;
  memset(text, 'x', sizeof(text) - 1);
  args[0] = *list;
  args[1] = any_text(text);
  while (call_global("ffi.ListAppend", args, 2, &result) == 0) {
    bytes += sizeof(text);
    if (!CHECK(bytes < (size_t)1 << 30)) {
      return bytes;
    }
  }
  CHECK(takes_error("MemoryError"));
  return bytes;
}

static void refuse_address_space(void) {
  struct rlimit before;
  struct rlimit limited;
  TVMFFIAny list;
  TVMFFIAny result;
  int i;
  CHECK_OK(call_global("ffi.List", NULL, 0, &list));
  CHECK_OK(call_global("ffi.ListClear", &list, 1, &result)); /* the first lookup allocates */
  CHECK_INT(getrlimit(RLIMIT_AS, &before), 0);
  limited = before;
  limited.rlim_cur = address_space() + (32u << 20);
  CHECK_INT(setrlimit(RLIMIT_AS, &limited), 0);
  for (i = 0; i < 3; i++) {
    size_t bytes = fill(&list);
    CHECK(bytes > 0);
    use_all();
    launch_default();
    CHECK_OK(call_global("ffi.ListClear", &list, 1, &result));
  }
  CHECK(use_all() > 0);
  CHECK_INT(setrlimit(RLIMIT_AS, &before), 0);
  CHECK_INT(use_all(), ALL);
  CHECK_INT(launch_fixed(), 1);
  release_any(&list);
}

/* Runs a scenario in a child. */
static void run(const char* name, void (*scenario)(void)) {
  int status = 0;
  pid_t child;
  fflush(stdout);
  child = fork();
  if (child == 0) {
    watchdog(60);
    checks_failed = 0;
    scenario();
    CHECK(nothing_raised());
    fflush(stdout);
    _exit(checks_failed == 0 ? 0 : 1);
  }
  CHECK_INT(wait_for_watched(child, &status), child);
  if (!CHECK_INT(status, 0)) {
    printf("  %s\n", name);
  }
}

int main(void) {
  for (refused_onwards = 0; refused_onwards < 2; refused_onwards++) {
    for (refused_thread = 1; refused_thread <= TASKS; refused_thread++) {
      char name[60];
      sprintf(name, "thread %d is refused%s", refused_thread, refused_onwards ? ", and all later ones" : "");
      run(name, refuse_threads);
    }
  }
  run("no file can be opened", refuse_files);
  run("the address space is full", refuse_address_space);
  return check_report("resources");
}
