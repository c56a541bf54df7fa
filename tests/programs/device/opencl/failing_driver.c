/*
 * failing_driver.c: a driver library that forwards to the system's, counts live objects, and fails
 * at one call.
 *
 * Built as libOpenCL.so.1, with the system's library linked as SYSTEM_DRIVER. Functions that are
 * not here come directly from that library.
 */
#include <dlfcn.h>
#include <stddef.h>

typedef int Status;
typedef unsigned Count;
typedef void* Handle;

enum { OUT_OF_MEMORY = -4, OUT_OF_RESOURCES = -5 };

enum { CONTEXTS, QUEUES, BUFFERS, PROGRAMS, KERNELS, KINDS };

static long calls, failing;
static long live[KINDS];

/* Makes the n-th call from now fail; 0 lets all succeed. */
void failing_driver_fail_at(long n) {
  calls = 0;
  failing = n;
}

/* Returns the number of calls since then. */
long failing_driver_calls(void) { return calls; }

/* Returns the number of live objects of a kind. */
long failing_driver_live(int kind) { return live[kind]; }

static int fails(void) { return ++calls == failing; }

static Status failure(void) { return failing % 2 == 0 ? OUT_OF_MEMORY : OUT_OF_RESOURCES; }

static void* system_function(const char* name) {
  static void* library;
  if (library == NULL) library = dlopen(SYSTEM_DRIVER, RTLD_NOW);
  return dlsym(library, name);
}

/* Forwards a function that returns a status. */
#define FORWARD(name, parameters, arguments)            \
  Status name parameters {                              \
    static Status(*function) parameters;                \
    if (fails()) return failure();                      \
    *(void**)&function = system_function(#name);        \
    return function arguments;                          \
  }

/* Forwards a function that creates an object. */
#define CREATE(kind, name, parameters, arguments)       \
  Handle name parameters {                              \
    static Handle(*function) parameters;                \
    Handle created;                                     \
    if (fails()) {                                      \
      *status = failure();                              \
      return NULL;                                      \
    }                                                   \
    *(void**)&function = system_function(#name);        \
    created = function arguments;                       \
    live[kind] += created != NULL;                      \
    return created;                                     \
  }

/* Forwards a function that retains or releases an object. It never fails, since its effect cannot
 * be undone. */
#define OWN(kind, change, name)                         \
  Status name(Handle object) {                          \
    static Status (*function)(Handle);                  \
    *(void**)&function = system_function(#name);        \
    live[kind] += change;                               \
    return function(object);                            \
  }

FORWARD(clGetPlatformIDs, (Count count, Handle* platforms, Count* found), (count, platforms, found))
FORWARD(clGetPlatformInfo, (Handle platform, Count name, size_t size, void* value, size_t* written),
        (platform, name, size, value, written))
FORWARD(clGetDeviceIDs, (Handle platform, unsigned long kind, Count count, Handle* devices, Count* found),
        (platform, kind, count, devices, found))
FORWARD(clGetDeviceInfo, (Handle device, Count name, size_t size, void* value, size_t* written),
        (device, name, size, value, written))
CREATE(CONTEXTS, clCreateContext,
       (const void* properties, Count count, const Handle* devices, const void* notify, void* data, Status* status),
       (properties, count, devices, notify, data, status))
OWN(CONTEXTS, -1, clReleaseContext)
CREATE(QUEUES, clCreateCommandQueue, (Handle context, Handle device, unsigned long properties, Status* status),
       (context, device, properties, status))
OWN(QUEUES, -1, clReleaseCommandQueue)
CREATE(BUFFERS, clCreateBuffer, (Handle context, unsigned long flags, size_t size, void* host, Status* status),
       (context, flags, size, host, status))
OWN(BUFFERS, -1, clReleaseMemObject)
FORWARD(clEnqueueReadBuffer,
        (Handle queue, Handle buffer, Count blocking, size_t offset, size_t size, void* to, Count count, const Handle* wait,
         Handle* event),
        (queue, buffer, blocking, offset, size, to, count, wait, event))
FORWARD(clEnqueueWriteBuffer,
        (Handle queue, Handle buffer, Count blocking, size_t offset, size_t size, const void* from, Count count,
         const Handle* wait, Handle* event),
        (queue, buffer, blocking, offset, size, from, count, wait, event))
FORWARD(clEnqueueCopyBuffer,
        (Handle queue, Handle from, Handle to, size_t from_offset, size_t to_offset, size_t size, Count count,
         const Handle* wait, Handle* event),
        (queue, from, to, from_offset, to_offset, size, count, wait, event))
FORWARD(clFinish, (Handle queue), (queue))
CREATE(PROGRAMS, clCreateProgramWithSource,
       (Handle context, Count count, const char** texts, const size_t* lengths, Status* status),
       (context, count, texts, lengths, status))
CREATE(PROGRAMS, clCreateProgramWithBinary,
       (Handle context, Count count, const Handle* devices, const size_t* lengths, const unsigned char** binaries,
        Status* binary_status, Status* status),
       (context, count, devices, lengths, binaries, binary_status, status))
FORWARD(clBuildProgram,
        (Handle program, Count count, const Handle* devices, const char* options, const void* notify, void* data),
        (program, count, devices, options, notify, data))
FORWARD(clGetProgramBuildInfo, (Handle program, Handle device, Count name, size_t size, void* value, size_t* written),
        (program, device, name, size, value, written))
FORWARD(clGetProgramInfo, (Handle program, Count name, size_t size, void* value, size_t* written),
        (program, name, size, value, written))
OWN(PROGRAMS, 1, clRetainProgram)
OWN(PROGRAMS, -1, clReleaseProgram)
CREATE(KERNELS, clCreateKernel, (Handle program, const char* name, Status* status), (program, name, status))
OWN(KERNELS, -1, clReleaseKernel)
FORWARD(clSetKernelArg, (Handle kernel, Count index, size_t size, const void* value), (kernel, index, size, value))
FORWARD(clEnqueueNDRangeKernel,
        (Handle queue, Handle kernel, Count dimensions, const size_t* offset, const size_t* global, const size_t* local,
         Count count, const Handle* wait, Handle* event),
        (queue, kernel, dimensions, offset, global, local, count, wait, event))
