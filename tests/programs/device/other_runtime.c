/*
 * other_runtime.c: a stand-in for libtvm_runtime, which serves one device that the library under
 * test lacks.
 *
 * Like libtvm_runtime, it registers its global functions on load without permission to override,
 * shows by `device_api.metal` that it serves metal, and registers its workspaces for the slots of
 * compiled code. Its workspace functions fail with an error for other devices, where libtvm_runtime
 * throws.
 */
#include <stdlib.h>
#include <string.h>

#include <tvm/ffi/extra/c_env_api.h>

enum { METAL = 8 };

static char workspace[64];
static long set_device_calls, attribute_calls;
static int in_use;

void* TVMBackendAllocWorkspace(int device_type, int device_id, uint64_t bytes, int code, int bits) {
  (void)device_id, (void)code, (void)bits;
  if (device_type != METAL || bytes > sizeof workspace) {
    TVMFFIErrorSetRaisedFromCStr("InternalError", "Device API is not enabled.");
    return NULL;
  }
  ++in_use;
  return workspace;
}

int TVMBackendFreeWorkspace(int device_type, int device_id, void* block) {
  (void)device_id;
  if (device_type != METAL || block != workspace) {
    TVMFFIErrorSetRaisedFromCStr("InternalError", "Device API is not enabled.");
    return -1;
  }
  --in_use;
  return 0;
}

/* Returns the number of workspaces in use; the next function returns the number of calls. */
int other_runtime_in_use(void) { return in_use; }
long other_runtime_set_device_calls(void) { return set_device_calls; }
long other_runtime_attribute_calls(void) { return attribute_calls; }

static int set_device(void* self, const TVMFFIAny* args, int count, TVMFFIAny* result) {
  (void)self, (void)args, (void)count;
  ++set_device_calls;
  memset(result, 0, sizeof *result);
  return 0;
}

static int attribute(void* self, const TVMFFIAny* args, int count, TVMFFIAny* result) {
  (void)self, (void)args, (void)count;
  ++attribute_calls;
  memset(result, 0, sizeof *result);
  result->type_index = kTVMFFIInt;
  result->v_int64 = 77;
  return 0;
}

static void add(const char* name, TVMFFISafeCallType call) {
  TVMFFIByteArray text;
  TVMFFIObjectHandle function;
  text.data = name;
  text.size = strlen(name);
  /* libtvm_runtime throws in a constructor, which aborts the process. */
  if (TVMFFIFunctionCreate(NULL, call, NULL, &function) != 0 || TVMFFIFunctionSetGlobal(&text, function, 0) != 0) abort();
  TVMFFIObjectDecRef(function);
}

__attribute__((constructor)) static void start(void) {
  add("__tvm_set_device", set_device);
  add("runtime.GetDeviceAttr", attribute);
  add("device_api.metal", attribute);
  *(volatile char*)workspace = 0;
  if (TVMFFIEnvModRegisterContextSymbol("__TVMBackendAllocWorkspace", (void*)(size_t)TVMBackendAllocWorkspace) != 0 ||
      TVMFFIEnvModRegisterContextSymbol("__TVMBackendFreeWorkspace", (void*)(size_t)TVMBackendFreeWorkspace) != 0) {
    abort();
  }
}
