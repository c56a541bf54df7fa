/*
 * A library with a device module in it, in the form that TVM's C generator had from 0.7 to 0.20:
 * host code looks the kernel up among the imports, calls it with handles and work sizes, and takes
 * workspaces on the device. Written by hand in that form, since no compiler of that time can be
 * had. BLOB is the file with the embedded modules.
 */
#include <stddef.h>
#include <stdint.h>

__asm__(".section .rodata\n.balign 8\n.globl __tvm_dev_mblob\n__tvm_dev_mblob: .incbin \"" BLOB "\"\n.previous\n");

typedef union {
  int64_t v_int64;
  double v_float64;
  void* v_handle;
  const char* v_str;
} TVMValue;

typedef struct {
  void* data;
  int32_t device_type, device_id;
  int32_t ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
} Array;

#define EXPORT __attribute__((visibility("default")))

EXPORT void* __tvm_module_ctx = NULL;
EXPORT int (*__TVMFuncCall)(void*, TVMValue*, int*, int, TVMValue*, int*) = NULL;
EXPORT int (*__TVMBackendGetFuncFromEnv)(void*, const char*, void**) = NULL;
EXPORT void (*__TVMAPISetLastError)(const char*) = NULL;
EXPORT void* (*__TVMBackendAllocWorkspace)(int, int, uint64_t, int, int) = NULL;
EXPORT int (*__TVMBackendFreeWorkspace)(int, int, void*) = NULL;

static void* set_device_packed = NULL;
static void* kernel_packed = NULL;

static int set_device(int type, int id) {
  TVMValue stack_value[2], ret_val;
  int32_t stack_tcode[2] = {0, 0};
  int ret_type_code;
  stack_value[0].v_int64 = type;
  stack_value[1].v_int64 = id;
  if (set_device_packed == NULL &&
      __TVMBackendGetFuncFromEnv(__tvm_module_ctx, "__tvm_set_device", &set_device_packed) != 0) {
    return -1;
  }
  return __TVMFuncCall(set_device_packed, stack_value, stack_tcode, 2, &ret_val, &ret_type_code);
}

/* 16 blocks of 64 threads. */
static int launch(void* x, void* y) {
  TVMValue stack_value[4], ret_val;
  int32_t stack_tcode[4] = {3, 3, 0, 0};
  int ret_type_code;
  stack_value[0].v_handle = x;
  stack_value[1].v_handle = y;
  stack_value[2].v_int64 = 16;
  stack_value[3].v_int64 = 64;
  if (kernel_packed == NULL && __TVMBackendGetFuncFromEnv(__tvm_module_ctx, "add_one_kernel", &kernel_packed) != 0) return -1;
  return __TVMFuncCall(kernel_packed, stack_value, stack_tcode, 4, &ret_val, &ret_type_code);
}

static int check(const TVMValue* args, const int32_t* codes, int32_t num_args) {
  int32_t i;
  for (i = 0; i < 2; i++) {
    if (num_args != 2 || !(codes[i] == 3 || codes[i] == 7 || codes[i] == 13) || ((Array*)args[i].v_handle)->shape[0] != 1024) {
      __TVMAPISetLastError("Assert fail: two arrays of 1024 numbers");
      return -1;
    }
  }
  return set_device(((Array*)args[0].v_handle)->device_type, ((Array*)args[0].v_handle)->device_id);
}

EXPORT int32_t add_one(TVMValue* args, int32_t* codes, int32_t num_args, TVMValue* ret, int32_t* ret_code, void* resource) {
  (void)ret, (void)ret_code, (void)resource;
  if (check(args, codes, num_args) != 0) return -1;
  return launch(((Array*)args[0].v_handle)->data, ((Array*)args[1].v_handle)->data);
}

/* Adds one twice, with a workspace in between. */
EXPORT int32_t add_two(TVMValue* args, int32_t* codes, int32_t num_args, TVMValue* ret, int32_t* ret_code, void* resource) {
  const Array* x = args[0].v_handle;
  void* between;
  int status;
  (void)ret, (void)ret_code, (void)resource;
  if (check(args, codes, num_args) != 0) return -1;
  between = __TVMBackendAllocWorkspace(x->device_type, x->device_id, (uint64_t)4096, 2, 32);
  if (between == NULL) return -1;
  status = launch(x->data, between) != 0 || launch(between, ((Array*)args[1].v_handle)->data) != 0;
  if (__TVMBackendFreeWorkspace(x->device_type, x->device_id, between) != 0 || status) return -1;
  return 0;
}
