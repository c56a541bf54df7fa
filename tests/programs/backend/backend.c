/* Tests functions that code compiled by TVM calls in its runtime: workspaces, parallel loops,
 * barriers, run-once. */
#include "../../conformance/c/check.h"

#include <pthread.h>
#include <tvm/runtime/c_backend_api.h>
#include <unistd.h>

#define CPU 1
#define CUDA 2
#define MOST_TASKS 8

/* ---- workspaces -------------------------------------------------------------------------- */

static void test_workspaces(void) {
  static const uint64_t sizes[] = {1, 63, 64, 65, 4096, 1000003};
  size_t i;
  for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
    char* first = (char*)TVMBackendAllocWorkspace(CPU, 0, sizes[i], 2, 32);
    char* second = (char*)TVMBackendAllocWorkspace(CPU, 0, sizes[i], 2, 32);
    CHECK(first != NULL && second != NULL && first != second);
    CHECK_INT((uintptr_t)first % 64, 0);
    CHECK_INT((uintptr_t)second % 64, 0);
    memset(first, 1, (size_t)sizes[i]);
    memset(second, 2, (size_t)sizes[i]);
    CHECK_INT(first[sizes[i] - 1], 1);
    CHECK_OK(TVMBackendFreeWorkspace(CPU, 0, second));
    CHECK_OK(TVMBackendFreeWorkspace(CPU, 0, first));
  }
}

static void check_refused(void* workspace, const char* kind) {
  CHECK(workspace == NULL);
  CHECK_ERROR(-1, kind);
}

static void test_bad_workspaces(void) {
  check_refused(TVMBackendAllocWorkspace(CPU, 0, UINT64_MAX, 0, 8), "MemoryError");
  check_refused(TVMBackendAllocWorkspace(CPU, 0, UINT64_MAX / 2, 0, 8), "MemoryError");
  check_refused(TVMBackendAllocWorkspace(CUDA, 0, 64, 0, 8), "ValueError");
  check_refused(TVMBackendAllocWorkspace(-7, 0, 64, 0, 8), "ValueError");
  CHECK_OK(TVMBackendFreeWorkspace(CPU, 0, NULL));
}

/* ---- parallel loops ---------------------------------------------------------------------- */

typedef struct {
  int ran[MOST_TASKS];
  int seen[MOST_TASKS];
  int num_task;
  int failing; /* number of the failing task, or -1 */
} loop;

static int mark(int task_id, TVMParallelGroupEnv* env, void* data) {
  loop* all = (loop*)data;
  if (task_id == 0) {
    all->num_task = env->num_task;
  }
  if (task_id < MOST_TASKS) {
    all->ran[task_id]++;
  }
  if (task_id == all->failing) {
    TVMFFIErrorSetRaisedFromCStr("KeyError", "this task fails");
    return -1;
  }
  return 0;
}

static int sum_of_runs(const loop* all) {
  int sum = 0;
  int i;
  for (i = 0; i < MOST_TASKS; i++) {
    sum += all->ran[i];
  }
  return sum;
}

static void test_launch(void) {
  int round;
  for (round = 0; round < 100; round++) {
    loop all = {{0}, {0}, 0, -1};
    int i;
    CHECK_OK(TVMBackendParallelLaunch(mark, &all, MOST_TASKS));
    CHECK_INT(sum_of_runs(&all), all.num_task);
    for (i = 0; i < all.num_task; i++) {
      CHECK_INT(all.ran[i], 1);
    }
  }
}

static void test_as_many_tasks_as_workers(void) {
  loop all = {{0}, {0}, 0, -1};
  CHECK_OK(TVMBackendParallelLaunch(mark, &all, 0));
  CHECK(all.num_task >= 1);
  CHECK_INT(all.ran[0], 1);
}

static void test_failing_task(void) {
  loop all = {{0}, {0}, 0, 0};
  CHECK_ERROR_TEXT(TVMBackendParallelLaunch(mark, &all, 4), "KeyError", "this task fails");
  all.failing = -1;
  CHECK_OK(TVMBackendParallelLaunch(mark, &all, 4));
}

/* Each task writes before the barrier the value that its neighbour reads after it. */
static int exchange(int task_id, TVMParallelGroupEnv* env, void* data) {
  loop* all = (loop*)data;
  all->num_task = env->num_task;
  all->ran[task_id] = task_id + 1;
  if (TVMBackendParallelBarrier(task_id, env) != 0) {
    return -1;
  }
  all->seen[task_id] = all->ran[(task_id + 1) % env->num_task];
  return TVMBackendParallelBarrier(task_id, env);
}

static void test_barrier(void) {
  int round;
  for (round = 0; round < 100; round++) {
    loop all = {{0}, {0}, 0, -1};
    int i;
    CHECK_OK(TVMBackendParallelLaunch(exchange, &all, 4));
    for (i = 0; i < all.num_task; i++) {
      CHECK_INT(all.seen[i], (i + 1) % all.num_task + 1);
    }
  }
}

/* An object in an error, whose deleter uses the launch, as any user callback may. */
static TVMParallelGroupEnv env_of_launch;
static int under_way;
static int let_go;

static void meet_again(void* self) {
  (void)self;
  let_go++;
  if (under_way) {
    CHECK_FAILS(TVMBackendParallelBarrier(0, &env_of_launch));
  }
}

static int fail_with_luggage(int task_id, TVMParallelGroupEnv* env, void* data) {
  const TVMFFIByteArray kind = bytes_of("KeyError");
  const TVMFFIByteArray none = {NULL, 0};
  TVMFFIObjectHandle luggage = NULL;
  TVMFFIObjectHandle error = NULL;
  (void)data;
  if (TVMBackendParallelBarrier(task_id, env) != 0) {
    return 0;
  }
  if (task_id == 0) {
    env_of_launch = *env;
  }
  if (TVMBackendParallelBarrier(task_id, env) != 0) {
    return 0;
  }
  if (TVMFFIObjectCreateOpaque(&under_way, kTVMFFIOpaquePyObject, meet_again, &luggage) != 0 ||
      TVMFFIErrorCreateWithCauseAndExtraContext(&kind, &kind, &none, NULL, luggage, &error) != 0) {
    return 0;
  }
  TVMFFIErrorSetRaised(error);
  TVMFFIObjectDecRef(error);
  TVMFFIObjectDecRef(luggage);
  return -1;
}

static void test_errors_die_without_a_lock(void) {
  let_go = 0;
  under_way = 1;
  watchdog(60); /* kills a thread that deadlocks on its own lock */
  CHECK_INT(TVMBackendParallelLaunch(fail_with_luggage, NULL, 2), -1);
  watchdog(60);
  under_way = 0;
  CHECK_INT(let_go, 1);
  CHECK_ERROR(-1, "KeyError");
  CHECK_INT(let_go, 2);
}

/* Uses about this many bytes of the stack. Frames are too small to skip a guard page. Each call
 * reads the previous frame, so that no compiler turns the recursion into a loop. */
static int descend(size_t bytes, const volatile char* above) {
  volatile char frame[1 << 11];
  frame[0] = *above;
  return bytes > sizeof(frame) ? descend(bytes - sizeof(frame), frame) + frame[0] : 1;
}

static int use_stack(int task_id, TVMParallelGroupEnv* env, void* data) {
  (void)task_id;
  (void)env;
  return descend(*(size_t*)data, "") > 0 ? 0 : -1;
}

static void test_workers_have_the_usual_stack(void) {
  pthread_attr_t usual;
  size_t bytes = 0;
  CHECK_INT(pthread_attr_init(&usual), 0);
  CHECK_INT(pthread_attr_getstacksize(&usual, &bytes), 0);
  CHECK_INT(pthread_attr_destroy(&usual), 0);
  bytes /= 2;
  CHECK_OK(TVMBackendParallelLaunch(use_stack, &bytes, 2));
}

static int nest(int task_id, TVMParallelGroupEnv* env, void* data) {
  loop inner = {{0}, {0}, 0, -1};
  (void)task_id;
  (void)env;
  (void)data;
  return TVMBackendParallelLaunch(mark, &inner, 3) == 0 && sum_of_runs(&inner) == inner.num_task ? 0 : -1;
}

static void test_nested_launch(void) {
  CHECK_OK(TVMBackendParallelLaunch(nest, NULL, 4));
}

static void test_bad_launches(void) {
  loop all = {{0}, {0}, 0, -1};
  CHECK_ERROR(TVMBackendParallelLaunch(NULL, &all, 2), "ValueError");
  CHECK_ERROR(TVMBackendParallelLaunch(mark, &all, -1), "ValueError");
  CHECK_FAILS(TVMBackendParallelLaunch(mark, &all, INT32_MAX));
  CHECK_INT(sum_of_runs(&all), 0);
  CHECK_ERROR(TVMBackendParallelBarrier(0, NULL), "ValueError");
}

/* ---- settings ---------------------------------------------------------------------------- */

static TVMFFIObjectHandle global(const char* name) {
  const TVMFFIByteArray bytes = bytes_of(name);
  TVMFFIObjectHandle function = NULL;
  CHECK_OK(TVMFFIFunctionGetGlobal(&bytes, &function));
  return function;
}

static TVMFFIAny int_of(int64_t value) {
  TVMFFIAny any;
  memset(&any, 0, sizeof(any));
  any.type_index = kTVMFFIInt;
  any.v_int64 = value;
  return any;
}

static int64_t num_threads(void) {
  TVMFFIObjectHandle function = global("runtime.NumThreads");
  TVMFFIAny result = int_of(-1);
  result.type_index = kTVMFFINone;
  CHECK_OK(TVMFFIFunctionCall(function, NULL, 0, &result));
  CHECK_INT(result.type_index, kTVMFFIInt);
  TVMFFIObjectDecRef(function);
  return result.v_int64;
}

static int configure(int64_t mode, int64_t threads) {
  TVMFFIObjectHandle function = global("runtime.config_threadpool");
  TVMFFIAny args[2];
  TVMFFIAny result = int_of(0);
  int status;
  args[0] = int_of(mode);
  args[1] = int_of(threads);
  result.type_index = kTVMFFINone;
  status = TVMFFIFunctionCall(function, args, 2, &result);
  TVMFFIObjectDecRef(function);
  return status;
}

static void test_number_of_tasks(void) {
  const int64_t usual = num_threads();
  loop all = {{0}, {0}, 0, -1};
  CHECK_OK(configure(0, 1));
  CHECK_INT(num_threads(), 1);
  CHECK_OK(TVMBackendParallelLaunch(mark, &all, 0));
  CHECK_INT(all.num_task, 1);
  CHECK_ERROR(configure(0, -1), "ValueError");
  CHECK_OK(configure(0, 0));
  CHECK_INT(num_threads(), usual);
}

static int answer(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self;
  (void)args;
  (void)num_args;
  *result = int_of(42);
  return 0;
}

/* Registers names like TVM's runtime when it is loaded: it aborts if a name is taken. */
static void test_another_runtime_takes_the_names(void) {
  const TVMFFIByteArray name = bytes_of("runtime.NumThreads");
  TVMFFIObjectHandle theirs = NULL;
  TVMFFIObjectHandle other = NULL;
  CHECK_OK(TVMFFIFunctionCreate(NULL, answer, NULL, &theirs));
  CHECK_OK(TVMFFIFunctionCreate(&other, answer, NULL, &other));
  CHECK_OK(TVMFFIFunctionSetGlobal(&name, theirs, 0));
  CHECK_INT(num_threads(), 42);
  CHECK_ERROR(TVMFFIFunctionSetGlobal(&name, other, 0), "RuntimeError");
  TVMFFIObjectDecRef(theirs);
  TVMFFIObjectDecRef(other);
}

/* ---- run once ---------------------------------------------------------------------------- */

static int runs;

static int once(void* cdata) {
  runs++;
  return *(int*)cdata;
}

static void test_run_once(void) {
  void* handle = NULL;
  int status = -1;
  CHECK_FAILS(TVMBackendRunOnce(&handle, once, &status, (int)sizeof(status)));
  CHECK(handle == NULL);
  status = 0;
  CHECK_OK(TVMBackendRunOnce(&handle, once, &status, (int)sizeof(status)));
  CHECK(handle != NULL);
  CHECK_OK(TVMBackendRunOnce(&handle, once, &status, (int)sizeof(status)));
  CHECK_INT(runs, 2);
  CHECK_ERROR(TVMBackendRunOnce(NULL, once, &status, 0), "ValueError");
  handle = NULL;
  CHECK_ERROR(TVMBackendRunOnce(&handle, NULL, &status, 0), "ValueError");
  CHECK(handle == NULL);
}

int main(void) {
  census_install();
  RUN_BALANCED(test_workspaces);
  RUN_BALANCED(test_bad_workspaces);
  RUN_BALANCED(test_launch);
  RUN_BALANCED(test_as_many_tasks_as_workers);
  RUN_BALANCED(test_failing_task);
  RUN_BALANCED(test_barrier);
  RUN_BALANCED(test_errors_die_without_a_lock);
  RUN_BALANCED(test_workers_have_the_usual_stack);
  RUN_BALANCED(test_nested_launch);
  RUN_BALANCED(test_bad_launches);
  RUN_BALANCED(test_run_once);
  (void)num_threads(); /* creates the functions, which are permanent */
  (void)configure(0, 0);
  RUN_BALANCED(test_number_of_tasks);
  test_another_runtime_takes_the_names();
  return check_report("backend");
}
