/* The worker: loads one library, runs one operation, and prints the measurement as a line of
 * JSON. */
#include "bench.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

Api api;
Floors floors;
Bench bench;
static void* fl_handle;
int load_mode(const char* lib, int times);
int load_child(const char* lib, int fd);

static const struct {
  const char* name;
  const Operation* operations;
} groups[] = {{"calls and errors", call_operations},
              {"counts and values", object_operations},
              {"strings and data types", string_operations},
              {"sequences", seq_operations},
              {"maps", map_operations},
              {"JSON and graphs", json_operations},
              {"whole values", walk_operations},
              {"tensors", tensor_operations},
              {"types", type_operations},
              {"modules and environment", module_operations},
              {"compiled models", backend_operations},
              {"floor", floor_operations},
              {"floor", library_floor_operations},
              {"floor", layout_floor_operations},
              {NULL, NULL}};

static void put_json_string(const char* s) {
  putchar('"');
  for (; *s; s++) {
    unsigned char c = (unsigned char)*s;
    if (c == '"' || c == '\\')
      printf("\\%c", c);
    else if (c < 32 || c > 126)
      printf("\\u%04x", c);
    else
      putchar(c);
  }
  putchar('"');
}

void fail(const char* fmt, ...) {
  char msg[600];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(msg, sizeof msg, fmt, ap);
  va_end(ap);
  printf("{\"op\": \"%s\", \"size\": %d, \"error\": ", bench.op ? bench.op : "?", bench.size);
  put_json_string(msg);
  printf("}\n");
  fflush(stdout);
  _exit(3);
}

void produced(const char* fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(bench.sig, sizeof bench.sig, fmt, ap);
  va_end(ap);
}

static void missing(void) {
  fail("call of an entry point which the library does not export");
}

static void load_library(const char* path) {
  void* h = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  if (!h) fail("dlopen: %s", dlerror());
#define X(n)                         \
  {                                  \
    void* p = dlsym(h, "TVMFFI" #n); \
    if (!p) p = (void*)missing;      \
    memcpy(&api.n, &p, sizeof p);    \
  }
  API_LIST(X)
#undef X
}

static void load_floors(const char* path) {
  if (!path || !*path) return;
  fl_handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!fl_handle) return;
#define X(n)                              \
  {                                       \
    void* p = dlsym(fl_handle, "fl_" #n); \
    if (!p) fail("floors: no fl_" #n);    \
    memcpy(&floors.n, &p, sizeof p);      \
  }
  X(json_parse)
  X(json_hold)
  X(json_write) X(map_new) X(map_get) X(map_free)
#undef X
}

void need_floors(void) {
  if (!fl_handle) fail("the Rust reference points are not built");
}

/* CPU time, which excludes other processes on a shared machine; wall time for operations with
   several threads. operations of several threads. */
static clockid_t bench_clock = CLOCK_THREAD_CPUTIME_ID;
static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(bench_clock, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* In the instruction mode, callgrind counts from entry to exit of this function. */
NOINLINE void bench_measured(const Operation* op, int64_t reps) {
  op->run(reps);
  CLOBBER();
}

static int64_t batch(const Operation* op, int64_t reps) {
  bench.reps = reps;
  bench.sum = 0;
  int64_t t0 = now_ns();
  bench_measured(op, reps);
  int64_t t = now_ns() - t0;
  if (op->verify) op->verify();
  return t > 0 ? t : 1;
}

/* Returns the bytes allocated by malloc and the resident bytes (for a library with its own
 * allocator). */
static void in_use(double* heap, double* resident) {
  *heap = *resident = 0;
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
  struct mallinfo2 m = mallinfo2();
  *heap = (double)m.uordblks + (double)m.hblkhd;
#endif
  FILE* f = fopen("/proc/self/statm", "r");
  long size, pages;
  if (f && fscanf(f, "%ld %ld", &size, &pages) == 2)
    *resident = (double)pages * (double)sysconf(_SC_PAGESIZE);
  if (f) fclose(f);
}

static int cmp_double(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return x < y ? -1 : x > y;
}

#define BATCHES 7

static void run_op(const Operation* op, int size, double ms, int64_t fixed_reps) {
  bench.op = op->name;
  bench.size = size;
  bench.per_rep = 1;
  bench.bytes = 0;
  snprintf(bench.sig, sizeof bench.sig, "-");
  if (op->flags & TWO_THREADS) bench_clock = CLOCK_MONOTONIC;
  if (op->setup) op->setup();
  int64_t reps = 1;
  double per[BATCHES];
  int n = 0;
  int least = op->flags & RUNS_ONCE ? BATCHES : 2;
  if (fixed_reps > 0) {
    if (!(op->flags & RUNS_ONCE)) {
      bench.reps = 2; /* warm up outside the counted function */
      bench.sum = 0;
      op->run(2);
    }
    reps = fixed_reps;
    per[n++] = (double)batch(op, reps) / (double)reps;
  } else {
    if (!(op->flags & RUNS_ONCE)) {
      double target = ms * 1e6 / BATCHES;
      int64_t t = batch(op, 1); /* first touch */
      if (t > 300000000) least = 1;
      if ((double)t < 4 * target) t = batch(op, reps);
      while ((double)t < target * 0.5) {
        double grow = target / (double)t;
        reps = (int64_t)((double)reps * (grow > 8 ? 8 : grow < 1.3 ? 1.3 : grow)) + 1;
        t = batch(op, reps);
      }
    }
    double heap0, res0, heap1, res1;
    in_use(&heap0, &res0);
    int64_t end = now_ns() + (int64_t)(ms * 2e6);
    while (n < BATCHES) {
      per[n++] = (double)batch(op, reps) / (double)reps;
      if (n >= least && now_ns() > end) break;
    }
    in_use(&heap1, &res1);
    double done = (double)reps * n;
    if (!(op->flags & RUNS_ONCE) &&
        (heap1 - heap0 > 8 * done + (1 << 16) || res1 - res0 > 8 * done + (1 << 26)))
      fail("memory is not released: %.0f bytes more after %.0f repetitions",
           heap1 - heap0 > res1 - res0 ? heap1 - heap0 : res1 - res0, done);
  }
  qsort(per, n, sizeof per[0], cmp_double);
  printf("{\"op\": \"%s\", \"size\": %d, \"ns\": %.4f, \"median_ns\": %.4f, ", op->name, size,
         per[0] / bench.per_rep, per[n / 2] / bench.per_rep);
  if (op->flags & PER_MEGABYTE)
    printf("\"mbs\": %.3f, \"bytes\": %.0f, ", bench.bytes / per[0] * 1e3, bench.bytes);
  printf("\"reps\": %lld, \"batches\": %d, \"per_rep\": %.0f, \"sig\": ", (long long)reps, n, bench.per_rep);
  put_json_string(bench.sig);
  printf("}\n");
  fflush(stdout);
}

static void child_of(const Operation* op, int size, double ms, int64_t reps, const char* floors, int cpu) {
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  bench.op = op->name;
  bench.size = size;
  if (cpu >= 0) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (!(op->flags & TWO_THREADS)) sched_setaffinity(0, sizeof set, &set);
  }
  alarm(120);
  if (!(op->flags & IS_FLOOR))
    load_library(bench.lib);
  else
    load_floors(floors);
  run_op(op, size, ms, reps);
}

static void forked(const Operation* op, int size, double ms, int64_t reps, const char* floors, int cpu) {
  fflush(stdout);
  pid_t pid = fork();
  if (pid < 0) {
    perror("fork");
    exit(2);
  }
  if (pid == 0) {
    child_of(op, size, ms, reps, floors, cpu);
    _exit(0);
  }
  int st = 0;
  while (waitpid(pid, &st, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(st) || (WIFEXITED(st) && WEXITSTATUS(st) != 0 && WEXITSTATUS(st) != 3)) {
    printf("{\"op\": \"%s\", \"size\": %d, \"error\": \"%s %d\"}\n", op->name, size,
           WIFSIGNALED(st) ? "killed by signal" : "exit status",
           WIFSIGNALED(st) ? WTERMSIG(st) : WEXITSTATUS(st));
  }
  fflush(stdout);
}

static void list_op(const Operation* o, const char* group) {
  printf("{\"op\": \"%s\", \"group\": \"%s\", \"what\": ", o->name, group);
  put_json_string(o->what);
  printf(", \"floors\": \"%s\", \"sizes\": [", o->floors ? o->floors : "");
  for (int i = 0; i < 6 && o->sizes[i]; i++) printf("%s%d", i ? ", " : "", o->sizes[i]);
  printf(
      "], \"floor\": %d, \"once\": %d, \"mt\": %d, \"instr\": %d, \"scale\": %d, \"mbs\": %d, "
      "\"ours_alone\": %d, \"scale_max\": %d}\n",
      !!(o->flags & IS_FLOOR), !!(o->flags & RUNS_ONCE), !!(o->flags & TWO_THREADS), !!(o->flags & COUNTED),
      !!(o->flags & SCALED), !!(o->flags & PER_MEGABYTE), !!(o->flags & OURS_ALONE), o->scale_max_log10);
}

static void usage(void) {
  fprintf(stderr,
          "usage: worker --lib LIB [--floors LIB] [--module MODULE] [--op NAME] [--size N]\n"
          "              [--ms N] [--reps N] [--cpu N] [--no-fork]\n"
          "       worker --list | --load LIB [--times N]\n");
  exit(2);
}

int main(int argc, char** argv) {
  const char *lib = NULL, *floors = NULL, *name = NULL, *load = NULL;
  int size = 0, cpu = -1, no_fork = 0, list = 0, times = 20, child_fd = -1;
  double ms = 50;
  int64_t reps = 0;
  for (int i = 1; i < argc; i++) {
    const char* a = argv[i];
    if (!strcmp(a, "--list")) {
      list = 1;
      continue;
    }
    if (!strcmp(a, "--no-fork")) {
      no_fork = 1;
      continue;
    }
    if (i + 1 >= argc) usage();
    const char* v = argv[++i];
    if (!strcmp(a, "--lib"))
      lib = v;
    else if (!strcmp(a, "--floors"))
      floors = v;
    else if (!strcmp(a, "--module"))
      bench.module = v;
    else if (!strcmp(a, "--op"))
      name = v;
    else if (!strcmp(a, "--size"))
      size = atoi(v);
    else if (!strcmp(a, "--ms"))
      ms = atof(v);
    else if (!strcmp(a, "--reps"))
      reps = atoll(v);
    else if (!strcmp(a, "--cpu"))
      cpu = atoi(v);
    else if (!strcmp(a, "--load"))
      load = v;
    else if (!strcmp(a, "--load-child-fd"))
      child_fd = atoi(v);
    else if (!strcmp(a, "--times"))
      times = atoi(v);
    else
      usage();
  }
  if (load && child_fd >= 0) return load_child(load, child_fd);
  if (load) {
    if (cpu >= 0) {
      cpu_set_t set;
      CPU_ZERO(&set);
      CPU_SET(cpu, &set);
      sched_setaffinity(0, sizeof set, &set);
    }
    return load_mode(load, times);
  }
  if (!list && !lib && !floors && !name) usage();
  bench.lib = lib;
  int seen = 0;
  for (int g = 0; groups[g].name; g++) {
    for (const Operation* o = groups[g].operations; o->name; o++) {
      if (name && strcmp(name, o->name)) continue;
      seen = 1;
      if (list) {
        list_op(o, groups[g].name);
        continue;
      }
      if (!(o->flags & IS_FLOOR) && !lib) continue;
      for (int s = 0; s == 0 || (s < 6 && o->sizes[s]); s++) {
        int n = size ? size : o->sizes[s];
        if (no_fork)
          child_of(o, n, ms, reps, floors, cpu);
        else
          forked(o, n, ms, reps, floors, cpu);
        if (size) break;
      }
    }
  }
  if (name && !seen) {
    printf("{\"op\": \"%s\", \"size\": %d, \"error\": \"no such operation\"}\n", name, size);
    return 1;
  }
  return 0;
}
