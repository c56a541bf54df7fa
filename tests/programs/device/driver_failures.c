/*
 * driver_failures.c: uses a device in every way, while the n-th call of the driver fails, for every
 * n.
 *
 *   driver_failures TYPE LIBRARY DRIVER
 *
 * DRIVER is the failing driver library of the kind, in place of the system's. A failure is an error
 * of the current call, and leaks no object of the driver and no block of the library. The next
 * attempt, without a failure, gives correct results.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <tvm/ffi/extra/c_env_api.h>

#include "counted_malloc.h"
#include "ferrite_util.h"

enum { LENGTH = 1024, MAX_OBJECTS = 32, MAX_CALLS = 2000 };

static int device_type, failures, checks;
static void (*fail_at)(long);
static long (*driver_calls)(void);
static long (*driver_live)(int);

static void check(int holds, long n, const char* what) {
  ++checks;
  if (holds) return;
  ++failures;
  printf("FAILED at call %ld: %s\n", n, what);
}

/* Objects owned by an attempt. */
static TVMFFIObjectHandle objects[MAX_OBJECTS];
static int object_count;

static TVMFFIObjectHandle keep(TVMFFIObjectHandle object) { return objects[object_count++] = object; }

static void release_all(void) {
  while (object_count > 0) ferrite_release_object(objects[--object_count]);
}

static int call(const char* name, TVMFFIAny* args, int count, TVMFFIAny* result) {
  *result = ferrite_none();
  if (ferrite_call_global(name, args, count, result) != 0) return -1;
  if (result->type_index >= kTVMFFIStaticObjectBegin) keep(result->v_obj);
  return 0;
}

static TVMFFIObjectHandle tensor_of(int ndim, int64_t rows, int64_t columns) {
  FerriteTensor prototype;
  TVMFFIObjectHandle tensor;
  int64_t shape[2];
  shape[0] = rows;
  shape[1] = columns;
  ferrite_tensor_init(&prototype, NULL, kDLFloat, 32, ndim, shape);
  prototype.dl.device.device_type = (DLDeviceType)device_type;
  return TVMFFIEnvTensorAlloc(&prototype.dl, &tensor) == 0 ? keep(tensor) : NULL;
}

static int copy(const char* name, TVMFFIObjectHandle tensor, float* data) {
  TVMFFIAny args[3], result;
  args[0] = ferrite_object(tensor);
  args[1] = ferrite_none();
  args[1].type_index = kTVMFFIOpaquePtr;
  args[1].v_ptr = data;
  args[2] = ferrite_int(LENGTH * (int)sizeof(float));
  return call(name, args, 3, &result);
}

/* Calls a function of a module with tensors. */
static int run(TVMFFIObjectHandle module, const char* name, TVMFFIObjectHandle* tensors, int count) {
  TVMFFIAny args[6], search[3], found, result;
  int i;
  search[0] = ferrite_object(module);
  search[1] = ferrite_str(name);
  search[2] = ferrite_bool(1);
  if (call("ffi.ModuleGetFunction", search, 3, &found) != 0) return -1;
  for (i = 0; i < count; ++i) args[i] = ferrite_object(tensors[i]);
  return ferrite_call(found.v_obj, args, count, &result);
}

static int attributes(void) {
  TVMFFIAny args[3], result;
  int attribute;
  args[0] = ferrite_int(device_type);
  args[1] = ferrite_int(0);
  for (attribute = 1; attribute <= 16; ++attribute) {
    args[2] = ferrite_int(attribute);
    if (call("runtime.GetDeviceAttr", args, 3, &result) != 0) return -1;
  }
  return 0;
}

static int model(TVMFFIObjectHandle module) {
  static const int64_t shapes[6][3] = {{2, 8, 64}, {2, 32, 64}, {1, 32, 0}, {2, 10, 32}, {1, 10, 0}, {2, 8, 10}};
  TVMFFIObjectHandle tensors[6];
  int i;
  for (i = 0; i < 6; ++i) {
    tensors[i] = tensor_of((int)shapes[i][0], shapes[i][1], shapes[i][2]);
    if (tensors[i] == NULL) return -1;
  }
  return run(module, "mlp", tensors, 6);
}

/* Whether attempts run a function with a workspace. TVM's host code leaks its workspace when a
 * kernel fails. */
static int has_workspace;

/* Performs all operations up to the first failure. */
static int attempt(const char* path, float* found) {
  static float ones[LENGTH];
  TVMFFIObjectHandle module, tensors[3];
  TVMFFIAny args[2], result;
  int i;
  for (i = 0; i < LENGTH; ++i) ones[i] = 1.0f;
  for (i = 0; i < 3; ++i) {
    if ((tensors[i] = tensor_of(1, LENGTH, 0)) == NULL) return -1;
  }
  if (copy("runtime.TVMTensorCopyFromBytes", tensors[0], ones) != 0) return -1;
  args[0] = ferrite_str(path);
  if (call("ffi.ModuleLoadFromFile", args, 1, &result) != 0) return -1;
  module = result.v_obj;
  for (i = 0; i < 2; ++i) {
    if (run(module, "add_one", &tensors[i], 2) != 0) return -1;
  }
  if ((has_workspace && model(module) != 0) || attributes() != 0) return -1;
  args[0] = ferrite_object(tensors[2]);
  args[1] = ferrite_object(tensors[1]);
  if (call("runtime.TVMTensorCopyFromTo", args, 2, &result) != 0) return -1;
  memset(args, 0, sizeof args);
  args[0].type_index = kTVMFFIDevice;
  args[0].v_device.device_type = (DLDeviceType)device_type;
  args[1] = ferrite_int(0);
  if (call("runtime.Device_StreamSync", args, 2, &result) != 0) return -1;
  return copy("runtime.TVMTensorCopyToBytes", tensors[1], found);
}

/* Makes an attempt whose n-th driver call fails; returns 1 if there were fewer calls. */
static int attempt_at(const char* path, long n) {
  static float found[LENGTH];
  TVMFFIObjectHandle error;
  TVMFFIErrorCell* cell;
  int status, i;
  memset(found, 0, sizeof found);
  fail_at(n);
  status = attempt(path, found);
  if (status == 0) {
    check(driver_calls() < n || n == 0, n, "the failure is an error");
    for (i = 0; i < LENGTH && found[i] == 3.0f; ++i) {
    }
    check(i == LENGTH, n, "the results are right");
  } else {
    TVMFFIErrorMoveFromRaised(&error);
    check(error != NULL, n, "an error is raised");
    if (error != NULL) {
      cell = (TVMFFIErrorCell*)((TVMFFIObject*)error + 1);
      check(memcmp(cell->kind.data, "InternalErr", 11) == 0 || memcmp(cell->kind.data, "MemoryError", 11) == 0, n,
            cell->message.data);
      ferrite_release_object(error);
    }
  }
  fail_at(0);
  release_all();
  return status == 0;
}

static void compare(const long* before, long n) {
  static const char* names[] = {"contexts", "queues", "buffers", "programs", "kernels"};
  int kind;
  for (kind = 0; kind < 5; ++kind) check(driver_live(kind) == before[kind], n, names[kind]);
}

/* Makes attempts that fail at each call, then one without a failure. */
static void fail_at_every_call(const char* path) {
  long live[5], n, blocks = counted_live;
  int kind;
  for (kind = 0; kind < 5; ++kind) live[kind] = driver_live(kind);
  check(live[3] == 0 && live[4] == 0, 0, "no program and no kernel outlives its module");
  for (n = 1; n < MAX_CALLS && !attempt_at(path, n); ++n) {
    if (has_workspace) {
      check(driver_live(2) - live[2] <= 1, n, "buffers beside the workspace");
      live[2] = driver_live(2);
    } else {
      check(counted_live == blocks, n, "blocks of the library");
    }
    compare(live, n);
  }
  check(n > 20 && n < MAX_CALLS, n, "every call was met");
  printf("%ld calls failed, %s workspaces\n", n - 1, has_workspace ? "with" : "without");
}

static void* symbol(void* library, const char* name) {
  void* found = dlsym(library, name);
  if (found == NULL) {
    fprintf(stderr, "no %s: this is not the failing driver\n", name);
    exit(2);
  }
  return found;
}

int main(int argc, char** argv) {
  void* library;
  long n;
  if (argc != 4 || (library = dlopen(argv[3], RTLD_NOW)) == NULL) {
    fprintf(stderr, "usage: driver_failures TYPE LIBRARY DRIVER\n");
    return 2;
  }
  *(void**)&fail_at = symbol(library, "failing_driver_fail_at");
  *(void**)&driver_calls = symbol(library, "failing_driver_calls");
  *(void**)&driver_live = symbol(library, "failing_driver_live");
  device_type = atoi(argv[1]);
  counted_find_library();
  /* The first attempts open the driver, each from scratch, until one succeeds. */
  for (n = 1; driver_live(0) == 0 && n < MAX_CALLS; ++n) attempt_at(argv[2], n);
  printf("%ld calls open the driver\n", n - 1);
  check(attempt_at(argv[2], 0), 0, "an attempt without failures");
  check(driver_live(0) == 1 && driver_live(1) == 1, 0, "failed openings leave nothing");
  attempt_at(argv[2], 0);
  fail_at_every_call(argv[2]);
  has_workspace = 1;
  attempt_at(argv[2], 0);
  fail_at_every_call(argv[2]);
  printf("total: %d checks, %d failed\n", checks, failures);
  return failures != 0;
}
