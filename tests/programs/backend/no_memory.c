/* Runs parallel loops while the library's n-th and all later allocations fail, for every n: each in
 * a process of its own, which completes with fewer threads or an error, and recovers when memory is
 * available. */
#include "../../robustness/alloc_fail/failing_malloc.h"

#include "../../conformance/c/check.h"

#include <sys/wait.h>
#include <tvm/runtime/c_backend_api.h>
#include <unistd.h>

static int nothing(int task_id, TVMParallelGroupEnv* env, void* data) {
  (void)task_id;
  (void)env;
  (void)data;
  return 0;
}

/* Exits with 0, or with 42 if no allocation failed. */
static void launch_with(long allocations, int num_task) {
  TVMFFIObjectHandle error = NULL;
  int status;
  int refused;
  heap.fail_in = allocations;
  heap.from_there = 1;
  status = TVMBackendParallelLaunch(nothing, NULL, num_task);
  refused = heap.failed;
  heap.fail_in = 0;
  TVMFFIErrorMoveFromRaised(&error);
  CHECK_INT(status, error == NULL ? 0 : -1);
  if (error != NULL) {
    TVMFFIObjectDecRef(error);
  }
  CHECK_OK(TVMBackendParallelLaunch(nothing, NULL, 4));
  fflush(stdout);
  _exit(checks_failed != 0 ? 1 : refused > 0 ? 0 : 42);
}

static void test_launches_of(int num_task, int may_be_alone) {
  long n;
  int status = 0;
  for (n = 1; n < 1000; n++) {
    pid_t child;
    fflush(stdout);
    child = fork();
    if (child == 0) {
      launch_with(n, num_task);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
      perror("fork");
      exit(2);
    }
    if (WIFSIGNALED(status)) {
      printf("%d tasks, allocation %ld fails: killed by signal %d\n", num_task, n, WTERMSIG(status));
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      break;
    }
  }
  CHECK(n > 1 || may_be_alone);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 42);
}

int main(int argc, char** argv) {
  if (argc < 2) {
    printf("usage: no_memory NUMBER_OF_TASKS [alone]   alone: the calling thread may do it all, without an allocation\n");
    return 2;
  }
  CHECK(watch_library());
  test_launches_of(atoi(argv[1]), argc > 2);
  return check_report("no_memory");
}
