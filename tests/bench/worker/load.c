/* Cost of loading a library in a new process: time, and memory after loading. */
#include "bench.h"

#include <dlfcn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct {
  int64_t dlopen_ns, first_ns, wall_ns, cpu_ns; /* the first two in CPU time */
  long rss_kb, private_kb, base_rss_kb, base_private_kb;
  int ok;
} Load;

static int64_t at_ns(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void memory(long* rss, long* priv) {
  char line[256];
  *rss = *priv = 0;
  FILE* f = fopen("/proc/self/smaps_rollup", "r");
  if (!f) return;
  while (fgets(line, sizeof line, f)) {
    long v;
    if (sscanf(line, "Rss: %ld kB", &v) == 1) *rss = v;
    if (sscanf(line, "Private_Dirty: %ld kB", &v) == 1) *priv = v;
  }
  fclose(f);
}

/* Runs in a new process: loads the library, looks up one global function, and exits. "-" loads
 * nothing. */
int load_child(const char* lib, int fd) {
  Load r;
  memset(&r, 0, sizeof r);
  memory(&r.base_rss_kb, &r.base_private_kb);
  if (strcmp(lib, "-")) {
    int64_t t0 = at_ns(CLOCK_PROCESS_CPUTIME_ID);
    void* h = dlopen(lib, RTLD_NOW | RTLD_GLOBAL);
    int64_t t1 = at_ns(CLOCK_PROCESS_CPUTIME_ID);
    r.dlopen_ns = t1 - t0;
    if (h) {
      int (*get)(const TVMFFIByteArray*, TVMFFIObjectHandle*);
      void* p = dlsym(h, "TVMFFIFunctionGetGlobal");
      memcpy(&get, &p, sizeof p);
      if (p) {
        TVMFFIByteArray n = {"ffi.Array", 9};
        TVMFFIObjectHandle f = NULL;
        r.ok = get(&n, &f) == 0 && f != NULL;
        r.first_ns = at_ns(CLOCK_PROCESS_CPUTIME_ID) - t1;
      } else {
        r.ok = dlsym(h, "ferrite_bench_module") != NULL; /* baseline: a tiny library */
      }
    }
  } else {
    r.ok = 1;
  }
  memory(&r.rss_kb, &r.private_kb);
  if (write(fd, &r, sizeof r) != (ssize_t)sizeof r) return 4;
  return 0;
}

static int one(const char* lib, Load* r) {
  int p[2];
  if (pipe(p)) return -1;
  char fdtext[16];
  snprintf(fdtext, sizeof fdtext, "%d", p[1]);
  int64_t t0 = at_ns(CLOCK_MONOTONIC);
  pid_t pid = vfork();
  if (pid == 0) {
    execl("/proc/self/exe", "worker", "--load", lib, "--load-child-fd", fdtext, (char*)NULL);
    _exit(127);
  }
  int st = 0;
  struct rusage u;
  wait4(pid, &st, 0, &u);
  int64_t wall = at_ns(CLOCK_MONOTONIC) - t0;
  close(p[1]);
  ssize_t n = read(p[0], r, sizeof *r);
  close(p[0]);
  r->wall_ns = wall;
  r->cpu_ns = (int64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000 +
              (int64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
  return n == (ssize_t)sizeof *r && WIFEXITED(st) && WEXITSTATUS(st) == 0 && r->ok ? 0 : -1;
}

int load_mode(const char* lib, int times) {
  Load best = {0}, r;
  for (int i = 0; i < times; i++) {
    if (one(lib, &r)) {
      printf("{\"op\": \"load\", \"error\": \"the library does not load or has no ffi.Array\"}\n");
      return 3;
    }
    if (i == 0) best = r;
    if (r.wall_ns < best.wall_ns) best.wall_ns = r.wall_ns;
    if (r.cpu_ns < best.cpu_ns) best.cpu_ns = r.cpu_ns;
    if (r.dlopen_ns < best.dlopen_ns) best.dlopen_ns = r.dlopen_ns;
    if (r.first_ns < best.first_ns) best.first_ns = r.first_ns;
    if (r.rss_kb - r.base_rss_kb < best.rss_kb - best.base_rss_kb) {
      best.rss_kb = r.rss_kb;
      best.base_rss_kb = r.base_rss_kb;
    }
  }
  struct stat sb;
  long long bytes = strcmp(lib, "-") && stat(lib, &sb) == 0 ? (long long)sb.st_size : 0;
  printf(
      "{\"op\": \"load\", \"wall_ns\": %lld, \"cpu_ns\": %lld, \"dlopen_ns\": %lld, \"first_call_ns\": %lld, "
      "\"rss_kb\": %ld, \"private_dirty_kb\": %ld, \"file_bytes\": %lld}\n",
      (long long)best.wall_ns, (long long)best.cpu_ns, (long long)best.dlopen_ns, (long long)best.first_ns,
      best.rss_kb - best.base_rss_kb, best.private_kb - best.base_private_kb, bytes);
  return 0;
}
