/*
 * allocations.c: counts the library's allocations apart from the driver's.
 *
 *   allocations TYPE LIBRARY
 *
 * Launches allocate nothing, of kernels or through host code, with workspaces or without. Libraries
 * that are loaded, run and released repeatedly leak nothing.
 */
#include <stdlib.h>
#include <string.h>

#include <tvm/ffi/extra/c_env_api.h>

#include "counted_malloc.h"
#include "ferrite_util.h"

enum { WARM_UP = 3, LAUNCHES = 500, LOADS = 30 };

static int device_type, failures, checks;

static void check(int holds, const char* what) {
  ++checks;
  if (!holds) ++failures;
  printf("%s: %s\n", holds ? "ok" : "FAILED", what);
}

static TVMFFIObjectHandle tensor_of(int ndim, int64_t rows, int64_t columns) {
  FerriteTensor prototype;
  TVMFFIObjectHandle tensor;
  int64_t shape[2];
  shape[0] = rows;
  shape[1] = columns;
  ferrite_tensor_init(&prototype, NULL, kDLFloat, 32, ndim, shape);
  prototype.dl.device.device_type = (DLDeviceType)device_type;
  ferrite_check(TVMFFIEnvTensorAlloc(&prototype.dl, &tensor), "TVMFFIEnvTensorAlloc");
  return tensor;
}

static TVMFFIAny data_of(TVMFFIObjectHandle tensor) {
  TVMFFIAny value = ferrite_none();
  value.type_index = kTVMFFIOpaquePtr;
  value.v_ptr = ((DLTensor*)((TVMFFIObject*)tensor + 1))->data;
  return value;
}

static void wait(void) {
  TVMFFIAny args[2], result;
  memset(args, 0, sizeof args);
  args[0].type_index = kTVMFFIDevice;
  args[0].v_device.device_type = (DLDeviceType)device_type;
  args[1] = ferrite_int(0);
  ferrite_check(ferrite_call_global("runtime.Device_StreamSync", args, 2, &result), "runtime.Device_StreamSync");
}

/* Counts the calls of a function that allocate, after warm-up calls. */
static void launches(TVMFFIObjectHandle callee, TVMFFIAny* args, int count, const char* what) {
  TVMFFIAny result;
  long before = 0, before_others = 0;
  int call;
  for (call = -WARM_UP; call < LAUNCHES; ++call) {
    if (call == 0) before = counted_calls, before_others = counted_others;
    ferrite_check(ferrite_call(callee, args, count, &result), what);
  }
  printf("%s: %d launches, %ld allocations by the library, %ld by others\n", what, LAUNCHES, counted_calls - before,
         counted_others - before_others);
  check(counted_calls == before, what);
  wait();
}

static TVMFFIObjectHandle function_of(TVMFFIObjectHandle module, const char* name) {
  TVMFFIAny search[3], found;
  search[0] = ferrite_object(module);
  search[1] = ferrite_str(name);
  search[2] = ferrite_bool(1);
  ferrite_check(ferrite_call_global("ffi.ModuleGetFunction", search, 3, &found), name);
  return found.v_obj;
}

/* Loads a library, runs its functions, and releases everything. */
static void use(const char* path, int with_launches) {
  TVMFFIObjectHandle module, tensors[6], callee;
  TVMFFIAny args[6], result;
  int i;
  ferrite_check(ferrite_module_load(path, &module), path);
  tensors[0] = tensor_of(1, 1024, 0);
  tensors[1] = tensor_of(1, 1024, 0);
  for (i = 0; i < 2; ++i) args[i] = ferrite_object(tensors[i]);
  callee = function_of(module, "add_one");
  if (with_launches) launches(callee, args, 2, "add_one, by host code");
  ferrite_check(ferrite_call(callee, args, 2, &result), "add_one");
  ferrite_release_object(callee);
  callee = function_of(module, "add_one_kernel");
  for (i = 0; i < 2; ++i) args[i] = data_of(tensors[i]);
  args[2] = ferrite_int(16);
  args[3] = ferrite_int(64);
  if (with_launches) launches(callee, args, 4, "add_one_kernel");
  ferrite_check(ferrite_call(callee, args, 4, &result), "add_one_kernel");
  ferrite_release_object(callee);
  for (i = 0; i < 2; ++i) ferrite_release_object(tensors[i]);
  tensors[0] = tensor_of(2, 8, 64);  /* x */
  tensors[1] = tensor_of(2, 32, 64); /* w1 */
  tensors[2] = tensor_of(1, 32, 0);  /* b1 */
  tensors[3] = tensor_of(2, 10, 32); /* w2 */
  tensors[4] = tensor_of(1, 10, 0);  /* b2 */
  tensors[5] = tensor_of(2, 8, 10);  /* out */
  for (i = 0; i < 6; ++i) args[i] = ferrite_object(tensors[i]);
  callee = function_of(module, "mlp");
  if (with_launches) launches(callee, args, 6, "mlp, with a workspace");
  ferrite_check(ferrite_call(callee, args, 6, &result), "mlp");
  wait();
  for (i = 0; i < 6; ++i) ferrite_release_object(tensors[i]);
  ferrite_release_object(callee);
  ferrite_release_object(module);
}

int main(int argc, char** argv) {
  long before, after;
  int i;
  if (argc != 3) {
    fprintf(stderr, "usage: allocations TYPE LIBRARY\n");
    return 2;
  }
  device_type = atoi(argv[1]);
  counted_find_library();
  use(argv[2], 1);
  check(counted_calls > 0, "allocations by the library are seen");
  for (i = 0; i < WARM_UP; ++i) use(argv[2], 0);
  before = counted_live;
  for (i = 0; i < LOADS; ++i) use(argv[2], 0);
  after = counted_live;
  printf("%d loads and releases: %ld blocks of the library before, %ld after\n", LOADS, before, after);
  check(after == before, "loads and releases leave nothing");
  printf("total: %d checks, %d failed\n", checks, failures);
  return failures != 0;
}
