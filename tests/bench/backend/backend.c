/* Measures the functions that compiled models call at run time.
 *
 *   backend SAMPLES LIBRARY [LIBRARY_TO_OPEN_FIRST...]
 *
 * LIBRARY exports the TVMBackend* functions. Prints a line for each operation: name, median and
 * 99th percentile in nanoseconds, separated by tabs. One sample is one launch, or 100 barriers of
 * one launch, or 100 workspaces.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <tvm/runtime/c_backend_api.h>

#define CPU 1
#define REPEATS 100
#define MOST_FLOATS 1000000

typedef int (*launch_function)(FTVMParallelLambda, void*, int);
typedef int (*barrier_function)(int, TVMParallelGroupEnv*);
typedef void* (*alloc_function)(int, int, uint64_t, int, int);
typedef int (*free_function)(int, int, void*);

static launch_function launch;
static barrier_function barrier;
static alloc_function alloc_workspace;
static free_function free_workspace;
static float floats[MOST_FLOATS];
static double* samples;
static int most_samples;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void require(int holds, const char* what) {
  if (!holds) {
    fprintf(stderr, "backend: %s\n", what);
    exit(1);
  }
}

/* ---- operations ---- */

static int nothing(int task_id, TVMParallelGroupEnv* env, void* data) {
  (void)task_id;
  (void)env;
  (void)data;
  return 0;
}

static int meet(int task_id, TVMParallelGroupEnv* env, void* data) {
  int i;
  (void)data;
  for (i = 0; i < REPEATS; i++) {
    if (barrier(task_id, env) != 0) return -1;
  }
  return 0;
}

static int scale(int task_id, TVMParallelGroupEnv* env, void* data) {
  const long count = *(long*)data;
  const long share = (count + env->num_task - 1) / env->num_task;
  const long end = (task_id + 1) * share < count ? (task_id + 1) * share : count;
  long i;
  for (i = task_id * share; i < end; i++) floats[i] = floats[i] * 1.0001f + 0.5f;
  return 0;
}

static void launch_nothing(long unused) {
  (void)unused;
  require(launch(nothing, NULL, 0) == 0, "a launch failed");
}

static void launch_barriers(long unused) {
  (void)unused;
  require(launch(meet, NULL, 0) == 0, "a barrier failed");
}

static void launch_scale(long count) {
  require(launch(scale, &count, 0) == 0, "a launch failed");
}

static void workspaces(long nested) {
  int i;
  for (i = 0; i < REPEATS; i++) {
    void* outer = alloc_workspace(CPU, 0, nested ? 65536 : 4096, 2, 32);
    void* inner = nested ? alloc_workspace(CPU, 0, 8192, 2, 32) : NULL;
    require(outer != NULL && (!nested || inner != NULL), "no workspace");
    if (nested) free_workspace(CPU, 0, inner);
    free_workspace(CPU, 0, outer);
  }
}

/* ---- how --------------------------------------------------------------------------------- */

typedef struct {
  const char* name;
  void (*run)(long);
  long argument;
  int every_nth;   /* divides the number of samples */
  int repeats;     /* repetitions in one sample */
  int rest;        /* sleeps for a millisecond before each sample */
} operation;

static const operation operations[] = {
    {"launch of nothing", launch_nothing, 0, 1, 1, 0},
    {"barrier", launch_barriers, 0, 10, REPEATS, 0},
    {"launch after 1 ms of rest", launch_nothing, 0, 5, 1, 1},
    {"scale 1,000 floats", launch_scale, 1000, 1, 1, 0},
    {"scale 10,000 floats", launch_scale, 10000, 1, 1, 0},
    {"scale 100,000 floats", launch_scale, 100000, 1, 1, 0},
    {"scale 1,000,000 floats", launch_scale, 1000000, 5, 1, 0},
    {"workspace of 4 KiB", workspaces, 0, 1, REPEATS, 0},
    {"workspace of 64 KiB, 8 KiB in it", workspaces, 1, 1, REPEATS, 0},
};

static int compare(const void* left, const void* right) {
  const double x = *(const double*)left, y = *(const double*)right;
  return (x > y) - (x < y);
}

static void measure(const operation* op) {
  const struct timespec millisecond = {0, 1000000};
  const int count = most_samples / op->every_nth;
  int i;
  for (i = 0; i < count / 10; i++) op->run(op->argument);
  for (i = 0; i < count; i++) {
    double start;
    if (op->rest) nanosleep(&millisecond, NULL);
    start = now();
    op->run(op->argument);
    samples[i] = (now() - start) / op->repeats;
  }
  qsort(samples, (size_t)count, sizeof *samples, compare);
  printf("%s\t%.1f\t%.1f\n", op->name, samples[count / 2], samples[count * 99 / 100]);
}

/* Stores the address of a function, to which a pointer to data cannot be cast. */
static void find(void* library, const char* name, void* place) {
  *(void**)place = dlsym(library, name);
  require(*(void**)place != NULL, name);
}

int main(int argc, char** argv) {
  void* library;
  size_t i;
  int k;
  require(argc > 2 && atoi(argv[1]) >= 100, "usage: backend SAMPLES LIBRARY [LIBRARY_TO_OPEN_FIRST...], at least 100 samples");
  most_samples = atoi(argv[1]);
  samples = (double*)malloc((size_t)most_samples * sizeof *samples);
  require(samples != NULL, "no memory");
  for (k = 3; k < argc; k++) require(dlopen(argv[k], RTLD_NOW | RTLD_GLOBAL) != NULL, argv[k]);
  library = dlopen(argv[2], RTLD_NOW | RTLD_GLOBAL);
  require(library != NULL, argv[2]);
  find(library, "TVMBackendParallelLaunch", &launch);
  find(library, "TVMBackendParallelBarrier", &barrier);
  find(library, "TVMBackendAllocWorkspace", &alloc_workspace);
  find(library, "TVMBackendFreeWorkspace", &free_workspace);
  for (i = 0; i < sizeof operations / sizeof *operations; i++) measure(&operations[i]);
  return 0;
}
