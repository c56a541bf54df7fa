/*
 * A library in the form of TVM's C generator up to 0.6: functions of three arguments under their
 * own names. Written by hand, since no compiler of those releases is available.
 */
#include <stddef.h>
#include <stdint.h>

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
EXPORT const char __tvm_main__[] = "add";
static void (*set_last_error)(const char*);
EXPORT void* __TVMAPISetLastError = NULL; /* filled by the loader */

EXPORT int32_t add(void* args, void* codes, int32_t num_args) {
  TVMValue* values = (TVMValue*)args;
  int32_t* type_codes = (int32_t*)codes;
  int64_t i;
  *(void**)&set_last_error = __TVMAPISetLastError;
  for (i = 0; i < 3; i++) {
    if (num_args != 3 || !(type_codes[i] == 3 || type_codes[i] == 4 || type_codes[i] == 7 || type_codes[i] == 13)) {
      set_last_error("Assert fail: add takes three arrays");
      return -1;
    }
  }
  {
    Array *a = values[0].v_handle, *b = values[1].v_handle, *c = values[2].v_handle;
    for (i = 0; i < c->shape[0]; i++) {
      ((float*)c->data)[i] = ((float*)a->data)[i] + ((float*)b->data)[i];
    }
  }
  return 0;
}

EXPORT int32_t fail(void* args, void* codes, int32_t num_args) {
  (void)args;
  (void)codes;
  (void)num_args;
  *(void**)&set_last_error = __TVMAPISetLastError;
  set_last_error("ValueError: the kernel says no");
  return -1;
}
