/*
 * launch_cost.c: the time of a launch through the library beside that of the driver calls that it makes.
 *
 *   launch_cost LIBRARY
 *
 * LIBRARY is one with the OpenCL fixtures; the kernel is that of add_one, with one block. Both sides queue the same number of
 * launches and wait for them at the end of each round; the shortest round counts.
 */
#define _POSIX_C_SOURCE 200112L
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tvm/ffi/extra/c_env_api.h>

#include "ferrite_util.h"

enum { LAUNCHES = 2000, ROUNDS = 15 };

typedef int Status;
typedef void* Handle;

static const char* source =
    "__kernel void k(__global float* x, __global float* y) { y[get_global_id(0)] = x[get_global_id(0)] + 1.0f; }";

static void* symbol(void* library, const char* name) {
  void* found = dlsym(library, name);
  if (found == NULL) {
    fprintf(stderr, "no %s\n", name);
    exit(2);
  }
  return found;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

/* Microseconds of a launch by the driver alone. */
static double of_driver(void) {
  void* cl = dlopen("libOpenCL.so.1", RTLD_NOW);
  Status (*platforms)(unsigned, Handle*, unsigned*);
  Status (*devices)(Handle, unsigned long, unsigned, Handle*, unsigned*);
  Handle (*context)(const void*, unsigned, const Handle*, const void*, void*, Status*);
  Handle (*queue)(Handle, Handle, unsigned long, Status*);
  Handle (*buffer)(Handle, unsigned long, size_t, void*, Status*);
  Handle (*program)(Handle, unsigned, const char**, const size_t*, Status*);
  Status (*build)(Handle, unsigned, const Handle*, const char*, const void*, void*);
  Handle (*kernel)(Handle, const char*, Status*);
  Status (*argument)(Handle, unsigned, size_t, const void*);
  Status (*launch)(Handle, Handle, unsigned, const size_t*, const size_t*, const size_t*, unsigned, const void*, void*);
  Status (*finish)(Handle);
  Handle platform, device, c, q, x, y, p, k;
  size_t global = 64, local = 64;
  double best = 1e30, start;
  int round, i;
  if (cl == NULL) exit(2);
  *(void**)&platforms = symbol(cl, "clGetPlatformIDs");
  *(void**)&devices = symbol(cl, "clGetDeviceIDs");
  *(void**)&context = symbol(cl, "clCreateContext");
  *(void**)&queue = symbol(cl, "clCreateCommandQueue");
  *(void**)&buffer = symbol(cl, "clCreateBuffer");
  *(void**)&program = symbol(cl, "clCreateProgramWithSource");
  *(void**)&build = symbol(cl, "clBuildProgram");
  *(void**)&kernel = symbol(cl, "clCreateKernel");
  *(void**)&argument = symbol(cl, "clSetKernelArg");
  *(void**)&launch = symbol(cl, "clEnqueueNDRangeKernel");
  *(void**)&finish = symbol(cl, "clFinish");
  platforms(1, &platform, NULL);
  devices(platform, 0xffffffffu, 1, &device, NULL);
  c = context(NULL, 1, &device, NULL, NULL, NULL);
  q = queue(c, device, 0, NULL);
  x = buffer(c, 1, 4096, NULL, NULL);
  y = buffer(c, 1, 4096, NULL, NULL);
  p = program(c, 1, &source, NULL, NULL);
  if (build(p, 1, &device, "", NULL, NULL) != 0) exit(2);
  k = kernel(p, "k", NULL);
  for (round = 0; round < ROUNDS; ++round) {
    start = now();
    for (i = 0; i < LAUNCHES; ++i) {
      argument(k, 0, sizeof x, &x);
      argument(k, 1, sizeof y, &y);
      if (launch(q, k, 1, NULL, &global, &local, 0, NULL, NULL) != 0) exit(2);
    }
    finish(q);
    if (now() - start < best) best = now() - start;
  }
  return best / LAUNCHES;
}

static TVMFFIObjectHandle buffer_of_4096(void) {
  static const int64_t shape[1] = {1024};
  FerriteTensor prototype;
  TVMFFIObjectHandle tensor;
  ferrite_tensor_init(&prototype, NULL, kDLFloat, 32, 1, shape);
  prototype.dl.device.device_type = kDLOpenCL;
  ferrite_check(TVMFFIEnvTensorAlloc(&prototype.dl, &tensor), "TVMFFIEnvTensorAlloc");
  return tensor;
}

static TVMFFIAny data_of(TVMFFIObjectHandle tensor) {
  TVMFFIAny value = ferrite_none();
  value.type_index = kTVMFFIOpaquePtr;
  value.v_ptr = ((DLTensor*)((TVMFFIObject*)tensor + 1))->data;
  return value;
}

/* Microseconds of a launch by the library. */
static double of_library(const char* path) {
  TVMFFIObjectHandle module, kernel, x, y;
  TVMFFIAny args[4], search[3], wait[2], found, result;
  double best = 1e30, start;
  int round, i;
  ferrite_check(ferrite_module_load(path, &module), path);
  search[0] = ferrite_object(module);
  search[1] = ferrite_str("add_one_kernel");
  search[2] = ferrite_bool(1);
  ferrite_check(ferrite_call_global("ffi.ModuleGetFunction", search, 3, &found), "ffi.ModuleGetFunction");
  kernel = found.v_obj;
  x = buffer_of_4096();
  y = buffer_of_4096();
  args[0] = data_of(x);
  args[1] = data_of(y);
  args[2] = ferrite_int(1);
  args[3] = ferrite_int(64);
  memset(wait, 0, sizeof wait);
  wait[0].type_index = kTVMFFIDevice;
  wait[0].v_device.device_type = kDLOpenCL;
  wait[1] = ferrite_int(0);
  for (round = 0; round < ROUNDS; ++round) {
    start = now();
    for (i = 0; i < LAUNCHES; ++i) ferrite_check(ferrite_call(kernel, args, 4, &result), "add_one_kernel");
    ferrite_check(ferrite_call_global("runtime.Device_StreamSync", wait, 2, &result), "runtime.Device_StreamSync");
    if (now() - start < best) best = now() - start;
  }
  return best / LAUNCHES;
}

int main(int argc, char** argv) {
  double driver, library;
  if (argc != 2) {
    fprintf(stderr, "usage: launch_cost LIBRARY\n");
    return 2;
  }
  driver = of_driver();
  library = of_library(argv[1]);
  printf("microseconds per launch: driver %.3f, library %.3f, ratio %.3f\n", driver, library, library / driver);
  return 0;
}
