/* Tests overlapping arguments of the symbols that compiled models call: which may overlap, or why
 * none can. The symbols of the C ABI are in tests/conformance/c/overlap.c. */
#include "../../conformance/c/rows.h"

#include <tvm/runtime/c_backend_api.h>

/* The pointer to a workspace is stored in the workspace. */
static void free_workspace(void) {
  void** workspace = (void**)TVMBackendAllocWorkspace(kDLCPU, 0, 64, kDLFloat, 32);
  if (CHECK(workspace != NULL)) {
    *workspace = workspace;
    CHECK_OK(TVMBackendFreeWorkspace(kDLCPU, 0, *workspace));
  }
}

/* A task's data is a variable that contains its own address. */
static int check_own_address(int task_id, TVMParallelGroupEnv* env, void* data) {
  (void)task_id;
  (void)env;
  return *(void**)data == data ? 0 : -1;
}

static void parallel_launch(void) {
  void* variable = NULL;
  variable = &variable;
  CHECK_OK(TVMBackendParallelLaunch(check_own_address, variable, 2));
}

/* The function's data is the handle, which the function reads. */
static int ran;

static int read_handle(void* data) {
  ran += 1 + (*(void**)data == (void*)&ran);
  return 0;
}

static void run_once(void) {
  void* handle = NULL;
  CHECK_OK(TVMBackendRunOnce(&handle, read_handle, &handle, (int)sizeof(handle)));
  CHECK(handle != NULL);
  CHECK_OK(TVMBackendRunOnce(&handle, read_handle, &handle, (int)sizeof(handle)));
  CHECK_INT(ran, 1);
}

static const check_row rows[] = {
    {"TVMBackendAllocWorkspace", NULL, "numbers only"},
    {"TVMBackendFreeWorkspace", free_workspace, "the workspace's variable"},
    {"TVMBackendParallelBarrier", NULL, "a number, and an environment that is the library's"},
    {"TVMBackendParallelLaunch", parallel_launch, "the data's variable, and its address"},
    {"TVMBackendRunOnce", run_once, "the data is the handle"}};

int main(void) {
  size_t count = sizeof(rows) / sizeof(rows[0]);
  census_install();
  CHECK(rows_are_those_of(getenv("CHECK_SYMBOLS"), rows, count));
  run_rows(rows, count);
  return check_report("backend overlap");
}
