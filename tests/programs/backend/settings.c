/* usage: settings bound|free
 *
 * Checks on which processors environment variables put the worker threads: a worker runs on one
 * processor (bound), or on all that the process may use (free). */
#define _GNU_SOURCE
#include "../../conformance/c/check.h"

#include <sched.h>
#include <tvm/runtime/c_backend_api.h>

static int processors(void) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CHECK_INT(sched_getaffinity(0, sizeof(set), &set), 0);
  return CPU_COUNT(&set);
}

/* The barrier forces both tasks to separate threads. */
static int count_processors(int task_id, TVMParallelGroupEnv* env, void* counts) {
  ((int*)counts)[task_id] = processors();
  return TVMBackendParallelBarrier(task_id, env);
}

int main(int argc, char** argv) {
  int is_bound = argc == 2 && strcmp(argv[1], "bound") == 0;
  int counts[2] = {0, 0};
  int all = processors();
  int attempts = 0;
  CHECK(is_bound || (argc == 2 && strcmp(argv[1], "free") == 0));
  if (all == 1) {
    printf("one processor: bound threads cannot be told from others\n");
  }
  /* A worker may be moving to another processor, which restricts its affinity briefly. */
  do {
    CHECK_OK(TVMBackendParallelLaunch(count_processors, counts, 2));
  } while (!is_bound && counts[1] != all && ++attempts < 100);
  CHECK_INT(counts[0], all);
  CHECK_INT(counts[1], is_bound ? 1 : all);
  return check_report("settings");
}
