/*
 * Checks that each thread has its own streams, however the library was loaded: linked, or opened at
 * the path in argument 1 while threads run that were started before. The latter is repeated in new
 * processes, since the library stays loaded when it is closed.
 */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tvm/ffi/extra/c_env_api.h>

#define THREADS 8
#define DEVICES 3
#define ROUNDS 1000
#define TIMES 20

typedef TVMFFIStreamHandle (*get_function)(int32_t, int32_t);
typedef int (*set_function)(int32_t, int32_t, TVMFFIStreamHandle, TVMFFIStreamHandle*);

#ifdef LINKED
static get_function get = TVMFFIEnvGetStream;
static set_function set = TVMFFIEnvSetStream;
#else
static get_function get;
static set_function set;
#endif

static pthread_barrier_t start;
static char places[THREADS + 1][DEVICES][2];

static void check(int holds, const char* what) {
  if (!holds) {
    printf("FAILED: %s\n", what);
    exit(1);
  }
}

/* Uses the streams of one thread, which are addresses of its own. */
static void use_streams(char (*own)[2]) {
  TVMFFIStreamHandle before;
  int device, round;
  for (device = 0; device < DEVICES; device++) {
    check(get(2, device) == NULL, "a thread starts without streams");
    check(set(2, device, &own[device][1], &before) == 0 && before == NULL, "the first stream");
  }
  for (round = 0; round < ROUNDS; round++) {
    for (device = 0; device < DEVICES; device++) {
      check(set(2, device, &own[device][round % 2], &before) == 0, "another stream");
      check(before == &own[device][1 - round % 2], "the thread's own stream comes back");
    }
    for (device = 0; device < DEVICES; device++) {
      check(get(2, device) == &own[device][round % 2], "the thread's own stream is found");
    }
  }
}

static void* thread(void* own) {
  pthread_barrier_wait(&start);
  use_streams((char(*)[2])own);
  return NULL;
}

static void* find(void* library, const char* name) {
  void* symbol = dlsym(library, name);
  check(symbol != NULL, name);
  return symbol;
}

static void* open_library(const char* path) {
  void* library = dlopen(path, RTLD_NOW);
  void* symbol;
  if (library == NULL) {
    printf("FAILED: %s\n", dlerror());
    exit(1);
  }
  symbol = find(library, "TVMFFIEnvGetStream");
  memcpy(&get, &symbol, sizeof(get));
  symbol = find(library, "TVMFFIEnvSetStream");
  memcpy(&set, &symbol, sizeof(set));
  return library;
}

/* Uses streams on this thread and others concurrently; the others were started before the library
 * was opened. */
static void use_streams_everywhere(const char* path) {
  pthread_t threads[THREADS];
  void* library = NULL;
  int i;
  check(pthread_barrier_init(&start, NULL, THREADS + 1) == 0, "a barrier");
  for (i = 0; i < THREADS; i++) {
    check(pthread_create(&threads[i], NULL, thread, places[i]) == 0, "a thread");
  }
  if (path != NULL) library = open_library(path);
  pthread_barrier_wait(&start);
  use_streams(places[THREADS]);
  for (i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  pthread_barrier_destroy(&start);
  for (i = 0; i < DEVICES; i++) {
    check(get(2, i) == &places[THREADS][i][(ROUNDS - 1) % 2], "other threads change nothing here");
    check(set(2, i, NULL, NULL) == 0, "no stream");
  }
  if (library != NULL) {
    check(dlclose(library) == 0, "the library is closed");
    check(get(2, 0) == NULL, "its functions are there all the same");
  }
}

static void open_in_another_process(const char* path) {
  int status = 1;
  pid_t child = fork();
  check(child >= 0, "a process");
  if (child == 0) {
    use_streams_everywhere(path);
    exit(0);
  }
  check(waitpid(child, &status, 0) == child && status == 0, "what the process did");
}

int main(int argc, char** argv) {
  int i;
  for (i = 0; i < TIMES; i++) {
    if (argc > 1) {
      open_in_another_process(argv[1]);
    } else {
      use_streams_everywhere(NULL);
    }
  }
  puts("per_thread: each thread has its own");
  return 0;
}
