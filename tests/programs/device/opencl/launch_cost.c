/*
 * launch_cost.c: compares the time of a launch through the library with that of its driver calls.
 *
 *   launch_cost PAYLOAD [ROUNDS]
 *
 * PAYLOAD is the OpenCL module of the fixtures. Both sides launch one block of the kernel of
 * add_one, compiled from the same source, on buffers of the same size. A round queues launches and
 * waits for them. Rounds of both sides alternate, so that other load on the machine affects both.
 */
#define _POSIX_C_SOURCE 200112L
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tvm/ffi/extra/c_env_api.h>

#include "ferrite_util.h"

enum { LAUNCHES = 2000, MAX_ROUNDS = 1000 };

typedef int Status;
typedef void* Handle;

/* State of launches by plain driver calls. */
static struct {
  Handle queue, kernel, x, y;
  Status (*argument)(Handle, unsigned, size_t, const void*);
  Status (*launch)(Handle, Handle, unsigned, const size_t*, const size_t*, const size_t*, unsigned, const void*, void*);
  Status (*finish)(Handle);
} driver;

/* State of launches through the library. */
static struct {
  TVMFFIObjectHandle kernel, wait;
  TVMFFIAny args[4];
} library;

static void* symbol(void* object, const char* name) {
  void* found = dlsym(object, name);
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

static void open_driver(const char* source) {
  void* cl = dlopen("libOpenCL.so.1", RTLD_NOW);
  Status (*platforms)(unsigned, Handle*, unsigned*);
  Status (*devices)(Handle, unsigned long, unsigned, Handle*, unsigned*);
  Handle (*context)(const void*, unsigned, const Handle*, const void*, void*, Status*);
  Handle (*queue)(Handle, Handle, unsigned long, Status*);
  Handle (*buffer)(Handle, unsigned long, size_t, void*, Status*);
  Handle (*program)(Handle, unsigned, const char**, const size_t*, Status*);
  Status (*build)(Handle, unsigned, const Handle*, const char*, const void*, void*);
  Handle (*kernel)(Handle, const char*, Status*);
  Handle platform, device, c, p;
  if (cl == NULL) exit(2);
  *(void**)&platforms = symbol(cl, "clGetPlatformIDs");
  *(void**)&devices = symbol(cl, "clGetDeviceIDs");
  *(void**)&context = symbol(cl, "clCreateContext");
  *(void**)&queue = symbol(cl, "clCreateCommandQueue");
  *(void**)&buffer = symbol(cl, "clCreateBuffer");
  *(void**)&program = symbol(cl, "clCreateProgramWithSource");
  *(void**)&build = symbol(cl, "clBuildProgram");
  *(void**)&kernel = symbol(cl, "clCreateKernel");
  *(void**)&driver.argument = symbol(cl, "clSetKernelArg");
  *(void**)&driver.launch = symbol(cl, "clEnqueueNDRangeKernel");
  *(void**)&driver.finish = symbol(cl, "clFinish");
  platforms(1, &platform, NULL);
  devices(platform, 0xffffffffu, 1, &device, NULL);
  c = context(NULL, 1, &device, NULL, NULL, NULL);
  driver.queue = queue(c, device, 0, NULL);
  driver.x = buffer(c, 1, 4096, NULL, NULL);
  driver.y = buffer(c, 1, 4096, NULL, NULL);
  p = program(c, 1, &source, NULL, NULL);
  if (build(p, 1, &device, "", NULL, NULL) != 0) exit(2);
  driver.kernel = kernel(p, "add_one_kernel", NULL);
}

/* Measures a round by plain driver calls, in microseconds per launch. */
static double round_of_driver(void) {
  size_t global = 64, local = 64;
  double start = now();
  int i;
  for (i = 0; i < LAUNCHES; ++i) {
    driver.argument(driver.kernel, 0, sizeof driver.x, &driver.x);
    driver.argument(driver.kernel, 1, sizeof driver.y, &driver.y);
    if (driver.launch(driver.queue, driver.kernel, 1, NULL, &global, &local, 0, NULL, NULL) != 0) exit(2);
  }
  driver.finish(driver.queue);
  return (now() - start) / LAUNCHES;
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

/* Loads the module, and returns its source. */
static void open_library(const char* path, TVMFFIAny* source) {
  static char payload[1 << 16];
  FILE* file = fopen(path, "rb");
  TVMFFIByteArray bytes = {payload, 0}, wait = {"runtime.Device_StreamSync", 25};
  TVMFFIAny args[3], module, found;
  if (file == NULL || (bytes.size = fread(payload, 1, sizeof payload, file)) == sizeof payload) {
    fprintf(stderr, "cannot read %s\n", path);
    exit(2);
  }
  fclose(file);
  ferrite_check(TVMFFIBytesFromByteArray(&bytes, &args[0]), "TVMFFIBytesFromByteArray");
  ferrite_check(ferrite_call_global("ffi.Module.load_from_bytes.opencl", args, 1, &module), path);
  args[0] = module;
  args[1] = ferrite_str("add_one_kernel");
  args[2] = ferrite_bool(0);
  ferrite_check(ferrite_call_global("ffi.ModuleGetFunction", args, 3, &found), "ffi.ModuleGetFunction");
  library.kernel = found.v_obj;
  library.args[0] = data_of(buffer_of_4096());
  library.args[1] = data_of(buffer_of_4096());
  library.args[2] = ferrite_int(1);
  library.args[3] = ferrite_int(64);
  ferrite_check(TVMFFIFunctionGetGlobal(&wait, &library.wait), "TVMFFIFunctionGetGlobal");
  args[0] = module;
  args[1] = ferrite_str("");
  ferrite_check(ferrite_call_global("ffi.ModuleInspectSource", args, 2, source), "ffi.ModuleInspectSource");
}

/* Measures a round through the library, in microseconds per launch. */
static double round_of_library(void) {
  TVMFFIAny wait[2], result;
  double start = now();
  int i;
  for (i = 0; i < LAUNCHES; ++i) ferrite_check(ferrite_call(library.kernel, library.args, 4, &result), "add_one_kernel");
  memset(wait, 0, sizeof wait);
  wait[0].type_index = kTVMFFIDevice;
  wait[0].v_device.device_type = kDLOpenCL;
  wait[1] = ferrite_int(0);
  ferrite_check(ferrite_call(library.wait, wait, 2, &result), "runtime.Device_StreamSync");
  return (now() - start) / LAUNCHES;
}

static int compare(const void* one, const void* other) {
  double a = *(const double*)one, b = *(const double*)other;
  return (a > b) - (a < b);
}

int main(int argc, char** argv) {
  static double of_driver[MAX_ROUNDS], of_library[MAX_ROUNDS];
  int rounds = argc > 2 ? atoi(argv[2]) : 200, i;
  TVMFFIAny source;
  if (argc < 2 || rounds < 1 || rounds > MAX_ROUNDS) {
    fprintf(stderr, "usage: launch_cost PAYLOAD [ROUNDS]\n");
    return 2;
  }
  open_library(argv[1], &source);
  open_driver(((TVMFFIByteArray*)((TVMFFIObject*)source.v_obj + 1))->data);
  round_of_driver();
  round_of_library();
  for (i = 0; i < rounds; ++i) {
    of_driver[i] = round_of_driver();
    of_library[i] = round_of_library();
  }
  qsort(of_driver, (size_t)rounds, sizeof(double), compare);
  qsort(of_library, (size_t)rounds, sizeof(double), compare);
  printf("microseconds per launch, %d rounds of %d, driver library ratio\n", rounds, LAUNCHES);
  printf("shortest %.3f %.3f %.3f\n", of_driver[0], of_library[0], of_library[0] / of_driver[0]);
  printf("quarter %.3f %.3f %.3f\n", of_driver[rounds / 4], of_library[rounds / 4], of_library[rounds / 4] / of_driver[rounds / 4]);
  printf("median %.3f %.3f %.3f\n", of_driver[rounds / 2], of_library[rounds / 2], of_library[rounds / 2] / of_driver[rounds / 2]);
  return 0;
}
