/* Functions that compiled models call. Upstream's library has none of them, so they are counted for
   this library alone;
   * backend/ compares their times with those of TVM's runtime.
   times with those of TVM's runtime. */
#include <dlfcn.h>
#include <tvm/runtime/c_backend_api.h>

#include "bench.h"

static __typeof__(&TVMBackendAllocWorkspace) alloc_workspace;
static __typeof__(&TVMBackendFreeWorkspace) free_workspace;
static __typeof__(&TVMBackendParallelLaunch) launch;

static void* symbol(const char* name) {
  void* found = dlsym(RTLD_DEFAULT, name); /* the library is opened globally */
  if (!found) fail("the library has no %s: build it with the feature `backend`", name);
  return found;
}

static void workspace_setup(void) {
  alloc_workspace = (__typeof__(alloc_workspace))symbol("TVMBackendAllocWorkspace");
  free_workspace = (__typeof__(free_workspace))symbol("TVMBackendFreeWorkspace");
}
static void workspace_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) {
    void* outer = alloc_workspace(kDLCPU, 0, 65536, kDLFloat, 32);
    void* inner = alloc_workspace(kDLCPU, 0, (uint64_t)bench.size, kDLFloat, 32);
    bench.sum += outer && inner && outer != inner;
    CHECK(free_workspace(kDLCPU, 0, inner) == 0);
    CHECK(free_workspace(kDLCPU, 0, outer) == 0);
  }
}

static void launch_setup(void) {
  launch = (__typeof__(launch))symbol("TVMBackendParallelLaunch");
}
static int count_task(int id, TVMParallelGroupEnv* env, void* sum) {
  *(uint64_t*)sum += id == 0 && env->num_task == 1;
  return 0;
}
static void launch_run(int64_t reps) {
  for (int64_t i = 0; i < reps; i++) CHECK(launch(count_task, &bench.sum, 1) == 0);
}

static void reps_verify(void) {
  CHECK(bench.sum == (uint64_t)bench.reps);
}

const Operation backend_operations[] = {{.name = "workspace",
                                         .what = "TVMBackendAllocWorkspace of two blocks, and both freed",
                                         .flags = COUNTED | OURS_ALONE,
                                         .sizes = {1000},
                                         .setup = workspace_setup,
                                         .run = workspace_run,
                                         .verify = reps_verify},
                                        {.name = "launch_1",
                                         .what = "TVMBackendParallelLaunch of one task",
                                         .flags = COUNTED | OURS_ALONE,
                                         .setup = launch_setup,
                                         .run = launch_run,
                                         .verify = reps_verify},
                                        {.name = NULL}};
