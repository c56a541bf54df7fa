/*
 * Tests a library with kernels, in a program written for the header of TVM 0.14: arrays on a device
 * by the functions of that time, host code of that time, and calls with wrong arguments.
 *
 * usage: devices DEVICE_TYPE LIBRARY BROKEN...
 */
#include "check.h"

enum { NUMBERS = 1024, BYTES = 4 * NUMBERS };

static int device_type;
static float numbers[NUMBERS];

static TVMArrayHandle array_of(int64_t extent) {
  TVMArrayHandle array = NULL;
  OK(TVMArrayAlloc(&extent, 1, kDLFloat, 32, 1, device_type, 0, &array));
  return array;
}

/* Returns an array on the device with 0, 1, 2, ... */
static TVMArrayHandle counting(void) {
  TVMArrayHandle array = array_of(NUMBERS);
  int i;
  for (i = 0; i < NUMBERS; i++) numbers[i] = (float)i;
  OK(TVMArrayCopyFromBytes(array, numbers, BYTES));
  return array;
}

/* Returns 1 if element i of the array is i + `more`, for all i. */
static int has(TVMArrayHandle array, float more) {
  int i;
  memset(numbers, 0, BYTES);
  if (!OK(TVMSynchronize(device_type, 0, NULL)) || !OK(TVMArrayCopyToBytes(array, numbers, BYTES))) return 0;
  for (i = 0; i < NUMBERS; i++) {
    if (numbers[i] != (float)i + more) return 0;
  }
  return 1;
}

static int call(TVMModuleHandle module, const char* name, TVMArrayHandle x, TVMArrayHandle y) {
  TVMFunctionHandle function = NULL;
  TVMValue values[2], result;
  int codes[2] = {kTVMNDArrayHandle, kTVMNDArrayHandle};
  int code = -1, status;
  values[0] = of_handle(x);
  values[1] = of_handle(y);
  if (!OK(TVMModGetFunction(module, name, 0, &function)) || !CHECK(function != NULL)) return -2;
  status = TVMFuncCall(function, values, codes, 2, &result, &code);
  OK(TVMFuncFree(function));
  return status;
}

static void test_arrays(void) {
  TVMArrayHandle one = counting(), two = array_of(NUMBERS), other = array_of(NUMBERS / 2);
  TVMStreamHandle stream = NULL;
  CHECK((int)one->device.device_type == device_type);
  OK(TVMArrayCopyFromTo(one, two, NULL));
  CHECK(has(two, 0));
  OK(TVMStreamCreate(device_type, 0, &stream));
  OK(TVMSetStream(device_type, 0, stream));
  OK(TVMStreamStreamSynchronize(device_type, 0, NULL, stream));
  OK(TVMSynchronize(device_type, 0, stream));
  OK(TVMSetStream(device_type, 0, NULL));
  OK(TVMStreamFree(device_type, 0, stream));
  FAILS(TVMArrayCopyFromTo(one, other, NULL), "");
  FAILS(TVMArrayCopyFromBytes(one, numbers, BYTES - 4), "");
  FAILS(TVMArrayCopyToBytes(one, numbers, BYTES + 4), "");
  FAILS(TVMSynchronize(device_type, 77, NULL), "");
  FAILS(TVMSynchronize(77, 0, NULL), "");
  OK(TVMArrayFree(one));
  OK(TVMArrayFree(two));
  OK(TVMArrayFree(other));
}

static void test_library(const char* path) {
  TVMModuleHandle module = NULL;
  TVMFunctionHandle function = NULL;
  TVMArrayHandle x = counting(), y = array_of(NUMBERS), small = array_of(3);
  TVMValue values[4], result;
  int codes[4] = {kTVMOpaqueHandle, kTVMOpaqueHandle, kTVMArgInt, kTVMArgInt};
  int code = -1;
  if (!OK(TVMModLoadFromFile(path, "so", &module))) return;
  CHECK(call(module, "add_one", x, y) == 0);
  CHECK(has(y, 1));
  CHECK(call(module, "add_two", x, y) == 0);
  CHECK(has(y, 2));
  CHECK(call(module, "add_one", y, x) == 0);
  CHECK(has(x, 3));
  FAILS(call(module, "add_one", x, small), "Assert fail: two arrays");
  /* The kernel itself, which the library imports. */
  OK(TVMModGetFunction(module, "add_one_kernel", 0, &function));
  CHECK(function == NULL);
  OK(TVMModGetFunction(module, "add_one_kernel", 1, &function));
  if (CHECK(function != NULL)) {
    values[0] = of_handle(x->data);
    values[1] = of_handle(y->data);
    values[2] = of_int(16);
    values[3] = of_int(64);
    OK(TVMFuncCall(function, values, codes, 4, &result, &code));
    CHECK(code == kTVMNullptr && has(y, 4));
    FAILS(TVMFuncCall(function, values, codes, 3, &result, &code), "");
    codes[0] = kTVMArgFloat;
    FAILS(TVMFuncCall(function, values, codes, 4, &result, &code), "");
    OK(TVMFuncFree(function));
  }
  OK(TVMModFree(module));
  OK(TVMArrayFree(x));
  OK(TVMArrayFree(y));
  OK(TVMArrayFree(small));
}

int main(int argc, char** argv) {
  TVMModuleHandle module = NULL;
  int i;
  if (argc < 3) return 2;
  device_type = atoi(argv[1]);
  test_arrays();
  test_library(argv[2]);
  for (i = 3; i < argc; i++) {
    FAILS(TVMModLoadFromFile(argv[i], "so", &module), "");
    CHECK(module == NULL && strlen(TVMGetLastError()) > 10);
    printf("%s\n", TVMGetLastError());
  }
  return check_report("devices");
}
