/*
 * coexistence.c: runs a kind of device of the library in a process with another runtime, which
 * serves metal.
 *
 *   coexistence TYPE LIBRARY OTHER ORDER
 *
 * OTHER is other_runtime.c as a library. ORDER is `before` (loaded before everything else), `after`
 * (loaded after functions were found and kernels have run), or `preloaded` (loaded before the
 * library under test, so that its symbols come first).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <tvm/ffi/extra/c_env_api.h>

#include "ferrite_util.h"

enum { METAL = 8, LENGTH = 1024 };

static int device_type, checks, failures;

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

static void copy(const char* name, TVMFFIObjectHandle tensor, float* data) {
  TVMFFIAny args[3], result;
  args[0] = ferrite_object(tensor);
  args[1] = ferrite_none();
  args[1].type_index = kTVMFFIOpaquePtr;
  args[1].v_ptr = data;
  args[2] = ferrite_int(LENGTH * (int)sizeof(float));
  ferrite_check(ferrite_call_global(name, args, 3, &result), name);
}

/* Runs a kernel, and a function with a workspace between two kernels. */
static int kernels_run(TVMFFIObjectHandle module) {
  static const int64_t shapes[6][3] = {{2, 8, 64}, {2, 32, 64}, {1, 32, 0}, {2, 10, 32}, {1, 10, 0}, {2, 8, 10}};
  static float data[LENGTH];
  TVMFFIObjectHandle tensors[6], callee;
  TVMFFIAny args[6], result;
  int i, status;
  for (i = 0; i < LENGTH; ++i) data[i] = (float)i;
  for (i = 0; i < 2; ++i) args[i] = ferrite_object(tensors[i] = tensor_of(1, LENGTH, 0));
  copy("runtime.TVMTensorCopyFromBytes", tensors[0], data);
  ferrite_check(ferrite_module_function(module, "add_one", &callee), "add_one");
  status = ferrite_call(callee, args, 2, &result);
  ferrite_release_object(callee);
  copy("runtime.TVMTensorCopyToBytes", tensors[1], data);
  for (i = 0; i < 2; ++i) ferrite_release_object(tensors[i]);
  for (i = 0; i < LENGTH; ++i) status |= data[i] != (float)(i + 1);
  for (i = 0; i < 6; ++i) {
    args[i] = ferrite_object(tensors[i] = tensor_of((int)shapes[i][0], shapes[i][1], shapes[i][2]));
  }
  ferrite_check(ferrite_module_function(module, "mlp", &callee), "mlp");
  status |= ferrite_call(callee, args, 6, &result);
  if (status != 0) ferrite_print_raised(stdout, "    ");
  ferrite_release_object(callee);
  for (i = 0; i < 6; ++i) ferrite_release_object(tensors[i]);
  return status == 0;
}

/* Returns the result of a global function for a device, or -1. */
static int64_t ask(const char* name, int of, int count) {
  TVMFFIAny args[3], result;
  args[0] = ferrite_int(of);
  args[1] = ferrite_int(0);
  args[2] = ferrite_int(0);
  if (ferrite_call_global(name, args, count, &result) != 0) return -1;
  return result.type_index == kTVMFFIInt ? result.v_int64 : 0;
}

static void* other(const char* path, const char* name) {
  void* library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  return library == NULL ? NULL : dlsym(library, name);
}

/* Uses workspaces by the symbols that a compiled library calls. */
static void workspaces(const char* path) {
  void* (*allocate)(int, int, uint64_t, int, int);
  int (*release)(int, int, void*);
  int (*in_use)(void);
  void *block, *theirs;
  TVMFFIObjectHandle error;
  *(void**)&allocate = dlsym(RTLD_DEFAULT, "TVMBackendAllocWorkspace");
  *(void**)&release = dlsym(RTLD_DEFAULT, "TVMBackendFreeWorkspace");
  *(void**)&in_use = other(path, "other_runtime_in_use");
  theirs = other(path, "TVMBackendAllocWorkspace");
  check(*(void**)&allocate != theirs, "the library's symbol comes first");
  block = allocate(device_type, 0, 100, 2, 32);
  check(block != NULL && release(device_type, 0, block) == 0, "a workspace of the library's device");
  check(in_use() == 0, "which is not the other runtime's");
  block = allocate(METAL, 0, 48, 2, 32);
  check(block != NULL && in_use() == 1, "a workspace of the other runtime's device");
  check(block != NULL && release(METAL, 0, block) == 0 && in_use() == 0, "given back to it");
  check(allocate(METAL, 0, 4096, 2, 32) == NULL, "an error of the other runtime is passed on");
  TVMFFIErrorMoveFromRaised(&error);
  check(error != NULL, "with its text");
  ferrite_release_object(error);
}

int main(int argc, char** argv) {
  TVMFFIObjectHandle module;
  TVMFFIObjectHandle error;
  void* (*allocate)(int, int, uint64_t, int, int);
  long (*calls)(void);
  int is_preloaded;
  if (argc != 5) {
    fprintf(stderr, "usage: coexistence TYPE LIBRARY OTHER before|after|preloaded\n");
    return 2;
  }
  device_type = atoi(argv[1]);
  is_preloaded = strcmp(argv[4], "preloaded") == 0;
  if (strcmp(argv[4], "before") == 0) check(dlopen(argv[3], RTLD_NOW | RTLD_GLOBAL) != NULL, "the other runtime is loaded");
  ferrite_check(ferrite_module_load(argv[2], &module), argv[2]);
  check(kernels_run(module), "kernels run");
  if (strcmp(argv[4], "after") == 0) {
    *(void**)&allocate = dlsym(RTLD_DEFAULT, "TVMBackendAllocWorkspace");
    check(allocate(METAL, 0, 48, 2, 32) == NULL, "nobody has metal yet");
    TVMFFIErrorMoveFromRaised(&error);
    ferrite_release_object(error);
    check(ask("__tvm_set_device", METAL, 2) == -1, "nor sets it as device");
    TVMFFIErrorMoveFromRaised(&error);
    ferrite_release_object(error);
    check(dlopen(argv[3], RTLD_NOW | RTLD_GLOBAL) != NULL, "the other runtime is loaded");
    check(kernels_run(module), "kernels run afterwards");
  }
  *(void**)&calls = other(argv[3], "other_runtime_set_device_calls");
  check(ask("__tvm_set_device", device_type, 2) == 0 && calls() == 0, "the library's device is set by the library");
  check(ask("__tvm_set_device", METAL, 2) == 0 && calls() == 1, "the other runtime's device by the other runtime");
  check(ask("runtime.GetDeviceAttr", device_type, 3) == 1, "attributes of the library's device");
  check(ask("runtime.GetDeviceAttr", METAL, 3) == 77, "attributes of the other runtime's device");
  if (!is_preloaded) workspaces(argv[3]);
  ferrite_release_object(module);
  ferrite_check(ferrite_module_load(argv[2], &module), argv[2]);
  check(kernels_run(module), "kernels of a library that is loaded later");
  ferrite_release_object(module);
  printf("total: %d checks, %d failed\n", checks, failures);
  return failures != 0;
}
