/*
 * usage: alloc_fail OLD_LIBRARY TODAYS_LIBRARY
 *
 * Calls all functions of the API repeatedly; in the n-th round the n-th allocation fails, until a
 * round needs fewer. Each step either succeeds or fails with a string, and frees everything it
 * created. Each round is a process of its own that starts from the same state.
 */
#include "../../robustness/alloc_fail/failing_malloc.h"
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

enum { FINISHED = 0, FAILED = 1, NOT_REACHED = 42 };

static const char* old_library;
static const char* todays_library;
static int step_failures;

/* Returns 1 if a step succeeded; a failure must have a string. */
static int step(int status) {
  if (status == 0) return 1;
  step_failures++;
  CHECK(status == -1 && TVMGetLastError()[0] != 0);
  return 0;
}

static int echo(TVMValue* args, int* codes, int num_args, TVMRetValueHandle ret, void* resource) {
  (void)num_args;
  (void)resource;
  return TVMCFuncSetReturn(ret, args, codes, 1);
}

static int fail(TVMValue* args, int* codes, int num_args, TVMRetValueHandle ret, void* resource) {
  (void)args;
  (void)codes;
  (void)num_args;
  (void)ret;
  (void)resource;
  TVMAPISetLastError("ValueError: a text that is long enough for memory of its own");
  return -1;
}

static void free_result(TVMValue result, int code) {
  if (code == kTVMObjectHandle || code == kTVMModuleHandle || code == kTVMPackedFuncHandle) TVMObjectFree(result.v_handle);
  if (code == kTVMNDArrayHandle) TVMArrayFree((TVMArrayHandle)result.v_handle);
}

/* Calls a global function and frees what it returns. */
static void call(const char* name, TVMValue* args, int* codes, int count) {
  TVMFunctionHandle function = NULL;
  TVMValue result;
  int code = kTVMNullptr;
  if (!step(TVMFuncGetGlobal(name, &function)) || !CHECK(function != NULL)) return;
  if (step(TVMFuncCall(function, args, codes, count, &result, &code))) free_result(result, code);
  TVMFuncFree(function);
}

static void walk_functions(void) {
  TVMFunctionHandle function = NULL;
  TVMValue args[40];
  int codes[40];
  TVMValue result;
  int code;
  int i;
  const char** names;
  for (i = 0; i < 40; i++) {
    args[i] = of_int(i);
    codes[i] = kTVMArgInt;
  }
  args[0] = of_text("a text that is long enough for memory of its own");
  codes[0] = kTVMStr;
  if (step(TVMFuncCreateFromCFunc(echo, NULL, NULL, &function))) {
    step(TVMFuncCall(function, args, codes, 40, &result, &code));
    step(TVMFuncRegisterGlobal("alloc_fail.echo", function, 1));
    TVMFuncFree(function);
  }
  function = NULL;
  if (step(TVMFuncCreateFromCFunc(fail, NULL, NULL, &function))) {
    CHECK(TVMFuncCall(function, args, codes, 1, &result, &code) == -1);
    CHECK(TVMGetLastError()[0] != 0);
    TVMFuncFree(function);
  }
  step(TVMFuncListGlobalNames(&i, &names));
}

static void walk_objects(void) {
  TVMFunctionHandle function = NULL;
  TVMValue args[4];
  int codes[4] = {kTVMStr, kTVMArgInt, kTVMStr, kTVMArgInt};
  TVMValue result;
  TVMValue value;
  int code = kTVMNullptr;
  int success;
  int count;
  char* key;
  const char** names;
  args[0] = of_text("a key that is long enough for memory of its own");
  args[1] = of_int(1);
  args[2] = of_text("another key that is long enough for memory of its own");
  args[3] = of_int(2);
  call("runtime.Array", args, codes, 4);
  call("runtime.Map", args, codes, 4);
  call("runtime.String", args, codes, 1);
  call("runtime.ShapeTuple", args + 1, codes + 1, 1);
  call("runtime.Tuple", args, codes, 4);
  call("_str", args, codes, 1);
  if (step(TVMFuncGetGlobal("_str", &function))) {
    if (step(TVMFuncCall(function, args, codes, 1, &result, &code))) {
      step(TVMNodeGetAttr(result.v_handle, "value", &value, &code, &success));
      step(TVMNodeListAttrNames(result.v_handle, &count, &names));
      TVMObjectFree(result.v_handle);
    }
    TVMFuncFree(function);
  }
  if (step(TVMObjectTypeIndex2Key(71, &key))) free(key);
}

static void walk_arrays(void) {
  int64_t shape[2] = {16, 16};
  TVMArrayHandle array = NULL;
  TVMArrayHandle other = NULL;
  DLManagedTensor* managed;
  DLDevice cpu;
  DLDataType float32;
  void* data;
  cpu.device_type = kDLCPU;
  cpu.device_id = 0;
  float32.code = kDLFloat;
  float32.bits = 32;
  float32.lanes = 1;
  if (step(TVMArrayAlloc(shape, 2, kDLFloat, 32, 1, kDLCPU, 0, &array))) {
    if (step(TVMArrayToDLPack(array, &managed))) {
      if (step(TVMArrayFromDLPack(managed, &other))) {
        TVMArrayFree(other);
      } else {
        TVMDLManagedTensorCallDeleter(managed);
      }
    }
    TVMArrayFree(array);
  }
  if (step(TVMDeviceAllocDataSpace(cpu, 1000, 64, float32, &data))) TVMDeviceFreeDataSpace(cpu, data);
}

/* Calls a global function, and then another one with its result. */
static void call_both(const char* name, TVMValue* args, int* codes, int count, const char* second) {
  TVMFunctionHandle function = NULL;
  TVMValue result;
  int code = kTVMNullptr;
  if (!step(TVMFuncGetGlobal(name, &function)) || !CHECK(function != NULL)) return;
  if (step(TVMFuncCall(function, args, codes, count, &result, &code))) {
    call(second, &result, &code, 1);
    free_result(result, code);
  }
  TVMFuncFree(function);
}

/* Passes an array whose data type differs from that of tvm-ffi, and writes it to bytes and JSON. */
static void walk_narrow_arrays(void) {
  int64_t shape[2] = {16, 16};
  TVMArrayHandle array = NULL;
  TVMFunctionHandle function = NULL;
  TVMValue args[2];
  TVMValue result;
  int codes[2] = {kTVMStr, kTVMNDArrayHandle};
  int code;
  DLManagedTensor* managed;
  args[0] = of_text("posit");
  args[1] = of_int(131);
  codes[1] = kTVMArgInt;
  call("runtime._datatype_register", args, codes, 2);
  if (!step(TVMArrayAlloc(shape, 2, kDLUInt, 1, 1, kDLCPU, 0, &array))) return;
  args[0] = of_text("a name that is long enough for memory of its own");
  args[1] = of_handle(array);
  codes[1] = kTVMNDArrayHandle;
  if (step(TVMFuncCreateFromCFunc(echo, NULL, NULL, &function))) {
    if (step(TVMFuncCall(function, args + 1, codes + 1, 1, &result, &code))) free_result(result, code);
    TVMFuncFree(function);
  }
  function = NULL;
  if (step(TVMFuncGetGlobal("runtime.Map", &function))) {
    if (step(TVMFuncCall(function, args, codes, 2, &result, &code))) {
      call_both("runtime.SaveParams", &result, &code, 1, "runtime.LoadParams");
      call_both("node.SaveJSON", &result, &code, 1, "node.LoadJSON");
      free_result(result, code);
    }
    TVMFuncFree(function);
  }
  if (step(TVMArrayToDLPack(array, &managed))) TVMDLManagedTensorCallDeleter(managed);
  TVMArrayFree(array);
}

static void walk_modules(void) {
  TVMModuleHandle module = NULL;
  TVMModuleHandle other = NULL;
  TVMFunctionHandle function = NULL;
  TVMValue args[3];
  TVMValue result;
  int codes[3] = {kTVMArgInt, kTVMArgInt, kTVMArgInt};
  int code;
  args[0] = of_int(1);
  args[1] = args[2] = args[0];
  if (step(TVMModLoadFromFile(old_library, "", &module))) {
    if (step(TVMModLoadFromFile(todays_library, "so", &other))) {
      step(TVMModImport(module, other));
      TVMModFree(other);
    }
    if (step(TVMModGetFunction(module, "add", 1, &function)) && CHECK(function != NULL)) {
      CHECK(TVMFuncCall(function, args, codes, 3, &result, &code) == -1);
      TVMFuncFree(function);
    }
    TVMModFree(module);
  }
}

static void walk(void) {
  walk_functions();
  walk_objects();
  walk_arrays();
  walk_narrow_arrays();
  walk_modules();
  TVMAPISetLastError("");
}

static int leave_nothing(long n) {
  long before;
  long allocations;
  int reached;
  walk(); /* fills caches that a fork clears */
  before = heap.live;
  allocations = heap.count;
  heap.fail_in = n;
  walk();
  reached = heap.failed > 0;
  heap.fail_in = 0;
  step_failures = 0;
  walk();
  CHECK(step_failures == 0);
  if (!CHECK(heap.live == before)) print_blocks_after(allocations);
  fflush(stdout);
  if (checks_failed != 0) return FAILED;
  return reached ? FINISHED : NOT_REACHED;
}

int main(int argc, char** argv) {
  long n;
  long bad = 0;
  if (argc != 3) return 2;
  old_library = argv[1];
  todays_library = argv[2];
  if (!watch_library()) return 2;
  /* The first round creates tables, types and thread slots. The second one fills the lists of freed
   * blocks, which are kept. */
  walk();
  CHECK(TVMFuncGetGlobal(NULL, NULL) == -1 && TVMGetLastError()[0] != 0); /* initialises backtraces */
  walk();
  CHECK(step_failures == 0);
  for (n = 1; n < 20000 && bad < 10; n++) {
    int status = 0;
    pid_t child;
    fflush(stdout);
    child = fork();
    if (child == 0) _exit(leave_nothing(n));
    if (child < 0 || waitpid(child, &status, 0) != child) return 2;
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_REACHED) break;
    if (!CHECK(WIFEXITED(status) && WEXITSTATUS(status) == FINISHED)) {
      printf("  allocation %ld: status %d\n", n, status);
      bad++;
    }
  }
  CHECK(n > 20);
  printf("alloc_fail: %ld allocations failed, one after the other\n", n - 1);
  return check_report("alloc_fail");
}
