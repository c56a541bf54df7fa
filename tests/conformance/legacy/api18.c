/*
 * A program written for the header of TVM 0.18, with modules and hostile arguments.
 *
 * usage: api18 OLD_LIBRARY TODAYS_LIBRARY
 */
#include "check.h"

static int double_it(TVMValue* args, int* codes, int num_args, TVMRetValueHandle ret, void* resource) {
  (void)resource;
  if (num_args != 1 || codes[0] != kTVMArgInt) {
    TVMAPISetLastError("double takes an int");
    return -1;
  }
  args[0].v_int64 *= 2;
  return TVMCFuncSetReturn(ret, args, codes, 1);
}

static int say_nothing(TVMValue* args, int* codes, int num_args, TVMRetValueHandle ret, void* resource) {
  (void)args;
  (void)codes;
  (void)num_args;
  (void)ret;
  (void)resource;
  return 0;
}

static void test_calls(void) {
  TVMFunctionHandle function = NULL;
  TVMValue value = of_int(21);
  TVMValue result;
  int code = kTVMArgInt;
  int got = -1;
  OK(TVMFuncCreateFromCFunc(double_it, NULL, NULL, &function));
  OK(TVMFuncCall(function, &value, &code, 1, &result, &got));
  CHECK(got == kTVMArgInt && result.v_int64 == 42);
  code = kTVMArgFloat;
  FAILS(TVMFuncCall(function, &value, &code, 1, &result, &got), "double takes an int");
  CHECK(strcmp(TVMGetLastError(), "double takes an int") == 0);
  OK(TVMFuncRegisterGlobal("front_end.called", function, 1));
  OK(TVMFuncFree(function));
  OK(TVMFuncCreateFromCFunc(say_nothing, NULL, NULL, &function));
  OK(TVMFuncCall(function, &value, &code, 0, &result, &got));
  CHECK(got == kTVMNullptr);
  OK(TVMFuncFree(function));
  OK(TVMFuncRemoveGlobal("front_end.no_such"));
}

/* Returns the number of global functions from tvm-ffi. */
static int names_of_today(void) {
  TVMFunctionHandle maker = NULL;
  TVMValue value = of_int(-1), result;
  int code = kTVMArgInt, got = -1;
  OK(TVMFuncGetGlobal("ffi.FunctionListGlobalNamesFunctor", &maker));
  OK(TVMFuncCall(maker, &value, &code, 0, &result, &got));
  OK(TVMFuncFree(maker));
  if (!CHECK(got == kTVMPackedFuncHandle)) return 0;
  maker = result.v_handle;
  OK(TVMFuncCall(maker, &value, &code, 1, &result, &got));
  OK(TVMFuncFree(maker));
  CHECK(got == kTVMArgInt);
  return (int)result.v_int64;
}

static void count_call(void* counter) { ++*(int*)counter; }

/* Tests that a resource is finalized once, also when creating its function fails. */
static void test_finalizers(void) {
  TVMFunctionHandle function = NULL;
  int ended = 0;
  FAILS(TVMFuncCreateFromCFunc(NULL, &ended, count_call, &function), "func");
  CHECK(ended == 1 && function == NULL);
  FAILS(TVMFuncCreateFromCFunc(double_it, &ended, count_call, NULL), "out");
  CHECK(ended == 2);
  OK(TVMFuncCreateFromCFunc(double_it, &ended, count_call, &function));
  CHECK(ended == 2);
  OK(TVMObjectRetain(function));
  OK(TVMFuncFree(function));
  CHECK(ended == 2);
  OK(TVMObjectFree(function));
  CHECK(ended == 3);
}

static TVMFunctionHandle kept;

static int keep_argument(TVMValue* args, int* codes, int num_args, TVMRetValueHandle ret, void* resource) {
  (void)ret;
  (void)resource;
  if (num_args != 1 || TVMCbArgToReturn(&args[0], &codes[0]) != 0) return -1;
  kept = args[0].v_handle;
  return 0;
}

/* Tests that an argument kept by a callback outlives the caller's reference. */
static void test_kept_arguments(void) {
  TVMFunctionHandle keeper = NULL, function = NULL;
  TVMValue value, result;
  int code = kTVMPackedFuncHandle, got = -1, ended = 0;
  OK(TVMFuncCreateFromCFunc(keep_argument, NULL, NULL, &keeper));
  OK(TVMFuncCreateFromCFunc(double_it, &ended, count_call, &function));
  value = of_handle(function);
  OK(TVMFuncCall(keeper, &value, &code, 1, &result, &got));
  OK(TVMFuncFree(function));
  if (CHECK(kept == function && ended == 0)) {
    value = of_int(4);
    code = kTVMArgInt;
    OK(TVMFuncCall(kept, &value, &code, 1, &result, &got));
    CHECK(result.v_int64 == 8);
    OK(TVMFuncFree(kept));
    CHECK(ended == 1);
  }
  value = of_text("text");
  code = kTVMStr;
  FAILS(TVMFuncCall(keeper, &value, &code, 1, &result, &got), "cannot be kept");
  OK(TVMFuncFree(keeper));
}

static int say_five(TVMValue* args, int* codes, int num_args, TVMRetValueHandle ret, void* resource) {
  (void)args;
  (void)codes;
  (void)num_args;
  (void)ret;
  (void)resource;
  TVMAPISetLastError("five went wrong");
  return 5;
}

static int count_nulls(TVMValue* args, int* codes, int num_args, TVMRetValueHandle ret, void* resource) {
  TVMValue nulls = of_int(0);
  int code = kTVMArgInt, i;
  (void)resource;
  for (i = 0; i < num_args; i++) nulls.v_int64 += codes[i] == kTVMNullptr && args[i].v_handle == NULL;
  return TVMCFuncSetReturn(ret, &nulls, &code, 1);
}

/* Tests that a null handle is None, whatever it would be a handle of. */
static void test_null_handles(void) {
  TVMFunctionHandle function = NULL;
  TVMValue values[4], result;
  int codes[4] = {kTVMObjectHandle, kTVMModuleHandle, kTVMPackedFuncHandle, kTVMNDArrayHandle};
  int got = -1, i;
  for (i = 0; i < 4; i++) values[i] = of_handle(NULL);
  OK(TVMFuncCreateFromCFunc(count_nulls, NULL, NULL, &function));
  OK(TVMFuncCall(function, values, codes, 4, &result, &got));
  CHECK(got == kTVMArgInt && result.v_int64 == 4);
  OK(TVMFuncFree(function));
}

/* Tests that any status but 0 is a failure. */
static void test_positive_status(void) {
  TVMFunctionHandle function = NULL;
  TVMValue value = of_int(1), result;
  int code = kTVMArgInt, got = -1;
  OK(TVMFuncCreateFromCFunc(say_five, NULL, NULL, &function));
  FAILS(TVMFuncCall(function, &value, &code, 1, &result, &got), "five went wrong");
  OK(TVMFuncFree(function));
}

/* Tests that elements have a power of two of bits, of which 1 and 4 take a byte. */
static void test_data_types(void) {
  static const int refused[][3] = {{kDLInt, 24, 1}, {kDLInt, 2, 1}, {kDLFloat, 4, 1}, {kDLFloat, 0, 1}, {kDLFloat, 32, 0}, {kDLUInt, 2, 1}};
  static const int narrow[][2] = {{kDLUInt, 1}, {kDLInt, 1}, {kDLInt, 4}, {kDLUInt, 4}};
  int64_t shape[1] = {1000};
  char bytes[1000];
  TVMArrayHandle array = NULL;
  int i;
  for (i = 0; i < 6; i++) {
    FAILS(TVMArrayAlloc(shape, 1, refused[i][0], refused[i][1], refused[i][2], kDLCPU, 0, &array), "data type with code");
  }
  CHECK(array == NULL);
  for (i = 0; i < 4; i++) {
    OK(TVMArrayAlloc(shape, 1, narrow[i][0], narrow[i][1], 1, kDLCPU, 0, &array));
    CHECK(array->dtype.code == narrow[i][0] && array->dtype.bits == narrow[i][1]);
    memset(array->data, i + 1, 1000); /* as kernels do */
    OK(TVMArrayCopyToBytes(array, bytes, 1000));
    CHECK(bytes[0] == i + 1 && bytes[999] == i + 1);
    FAILS(TVMArrayCopyToBytes(array, bytes, 125), "1000 bytes");
    OK(TVMArrayFree(array));
  }
}

/* Tests that every listed name is found, of the library and of the program, and that a removed one
 * is in neither list. */
static void test_names(void) {
  static const char* const wanted[] = {"ffi.Array", "ffi.Map", "ffi.FunctionListGlobalNamesFunctor", "runtime.ModuleLoadFromFile", "front_end.removed"};
  TVMFunctionHandle function = NULL;
  const char** names = NULL;
  int seen[5] = {0, 0, 0, 0, 0};
  int count = 0, missing = 0, i, k;
  OK(TVMFuncCreateFromCFunc(double_it, NULL, NULL, &function));
  OK(TVMFuncRegisterGlobal("front_end.removed", function, 0));
  FAILS(TVMFuncRegisterGlobal("front_end.removed", function, 0), "already registered");
  OK(TVMFuncFree(function));
  OK(TVMFuncListGlobalNames(&count, &names));
  for (i = 0; i < count; i++) {
    for (k = 0; k < 5; k++) seen[k] += strcmp(names[i], wanted[k]) == 0;
    if (TVMFuncGetGlobal(names[i], &function) != 0 || function == NULL) missing++;
    TVMFuncFree(function);
  }
  CHECK(count > 100 && missing == 0 && count == names_of_today());
  for (k = 0; k < 5; k++) CHECK(seen[k] == 1);
  OK(TVMFuncRemoveGlobal("front_end.removed"));
  OK(TVMFuncGetGlobal("front_end.removed", &function));
  CHECK(function == NULL);
  OK(TVMFuncListGlobalNames(&count, &names));
  for (i = 0; i < count; i++) CHECK(strcmp(names[i], "front_end.removed") != 0);
}

static void test_bool(void) {
  TVMFunctionHandle function = NULL;
  TVMValue value;
  TVMValue result;
  int code = kTVMArgBool;
  int got = -1;
  value.v_int64 = -1;
  value.v_bool = 1;
  OK(TVMFuncGetGlobal("runtime.Array", &function));
  OK(TVMFuncCall(function, &value, &code, 1, &result, &got));
  CHECK(got == kTVMObjectHandle);
  OK(TVMFuncFree(function));
  OK(TVMFuncGetGlobal("runtime.ArrayGetItem", &function));
  {
    TVMValue args[2];
    int codes[2] = {kTVMObjectHandle, kTVMArgInt};
    TVMObjectHandle array = result.v_handle;
    args[0] = result;
    args[1] = of_int(0);
    OK(TVMFuncCall(function, args, codes, 2, &result, &got));
    CHECK(got == kTVMArgBool && result.v_int64 == 1);
    OK(TVMObjectRetain(array));
    OK(TVMObjectFree(array));
    OK(TVMObjectFree(array));
  }
  OK(TVMFuncFree(function));
}

static void test_rvalue(void) {
  TVMFunctionHandle make = NULL;
  TVMFunctionHandle size = NULL;
  TVMValue value = of_int(1);
  TVMValue result;
  int code = kTVMArgInt;
  int got = -1;
  void* slot;
  OK(TVMFuncGetGlobal("runtime.Array", &make));
  OK(TVMFuncGetGlobal("runtime.ArraySize", &size));
  OK(TVMFuncCall(make, &value, &code, 1, &result, &got));
  slot = result.v_handle;
  value = of_handle(&slot);
  code = kTVMObjectRValueRefArg;
  OK(TVMCbArgToReturn(&value, &code));
  CHECK(code == kTVMObjectHandle && slot == NULL);
  FAILS((code = kTVMObjectRValueRefArg, value = of_handle(&slot), TVMCbArgToReturn(&value, &code)), "rvalue");
  OK(TVMObjectFree(result.v_handle));
  OK(TVMFuncFree(make));
  OK(TVMFuncFree(size));
}

static void test_modules(const char* old, const char* today) {
  TVMModuleHandle module = NULL;
  TVMModuleHandle other = NULL;
  TVMFunctionHandle function = NULL;
  TVMArrayHandle arrays[3];
  TVMValue values[3];
  TVMValue result;
  int codes[3] = {kTVMNDArrayHandle, kTVMNDArrayHandle, kTVMNDArrayHandle};
  int got = -1;
  int64_t shape = 4;
  float data[4] = {1, 2, 3, 4};
  int i;
  OK(TVMModLoadFromFile(old, "", &module));
  OK(TVMModLoadFromFile(today, "so", &other));
  for (i = 0; i < 3; i++) {
    OK(TVMArrayAlloc(&shape, 1, kDLFloat, 32, 1, kDLCPU, 0, &arrays[i]));
    OK(TVMArrayCopyFromBytes(arrays[i], data, sizeof(data)));
    values[i] = of_handle(arrays[i]);
  }
  OK(TVMModGetFunction(module, "add", 0, &function));
  OK(TVMFuncCall(function, values, codes, 3, &result, &got));
  CHECK(got == kTVMNullptr && ((float*)arrays[2]->data)[3] == 8);
  /* Views are accepted, too. */
  codes[0] = codes[1] = codes[2] = kTVMDLTensorHandle;
  OK(TVMFuncCall(function, values, codes, 3, &result, &got));
  FAILS(TVMFuncCall(function, values, codes, 2, &result, &got), "add takes three arrays");
  OK(TVMFuncFree(function));
  OK(TVMModGetFunction(module, "__tvm_main__", 0, &function));
  OK(TVMFuncCall(function, values, codes, 3, &result, &got));
  OK(TVMFuncFree(function));
  OK(TVMModGetFunction(module, "call_back", 0, &function));
  values[0] = of_int(4);
  codes[0] = kTVMArgInt;
  OK(TVMFuncCall(function, values, codes, 1, &result, &got));
  CHECK(got == kTVMArgInt && result.v_int64 == 8);
  OK(TVMFuncFree(function));
  OK(TVMModGetFunction(module, "malloc", 1, &function));
  CHECK(function == NULL);
  OK(TVMModGetFunction(module, "__tvm_module_ctx", 1, &function));
  CHECK(function == NULL);
  /* A library in today's form does not export functions under their own names. */
  OK(TVMModGetFunction(other, "__tvm_ffi_add_one", 0, &function));
  CHECK(function == NULL);
  OK(TVMModImport(module, other));
  OK(TVMModGetFunction(module, "add_one", 0, &function));
  CHECK(function == NULL);
  OK(TVMModGetFunction(module, "add_one", 1, &function));
  OK(TVMFuncCall(function, values, codes, 1, &result, &got));
  CHECK(result.v_int64 == 5);
  FAILS(TVMModImport(other, module), "ycl");
  OK(TVMModFree(module));
  OK(TVMModFree(other));
  /* The function keeps its library loaded. */
  OK(TVMFuncCall(function, values, codes, 1, &result, &got));
  OK(TVMFuncFree(function));
  for (i = 0; i < 3; i++) OK(TVMArrayFree(arrays[i]));
  FAILS(TVMModLoadFromFile("no/such/file.so", "", &module), "no/such/file.so");
  FAILS(TVMModLoadFromFile("no_dot", "", &module), "Cannot deduce format");
  FAILS(TVMModLoadFromFile("file.strange", "", &module), "strange");
}

static void test_devices(void) {
  DLDevice cpu;
  DLDataType float32;
  TVMStreamHandle stream = &cpu;
  void* data = NULL;
  int64_t shape[2] = {3, 5};
  cpu.device_type = kDLCPU;
  cpu.device_id = 0;
  float32.code = kDLFloat;
  float32.bits = 32;
  float32.lanes = 1;
  OK(TVMStreamCreate(kDLCPU, 0, &stream));
  CHECK(stream == NULL);
  OK(TVMSetStream(kDLCPU, 0, NULL));
  OK(TVMStreamStreamSynchronize(kDLCPU, 0, NULL, NULL));
  OK(TVMStreamFree(kDLCPU, 0, NULL));
  OK(TVMDeviceAllocDataSpace(cpu, 100, 256, float32, &data));
  CHECK((size_t)data % 256 == 0);
  memset(data, 1, 100);
  OK(TVMDeviceFreeDataSpace(cpu, data));
  OK(TVMDeviceAllocDataSpaceWithScope(cpu, 2, shape, float32, NULL, &data));
  memset(data, 1, 60);
  OK(TVMDeviceFreeDataSpace(cpu, data));
  FAILS(TVMDeviceAllocDataSpaceWithScope(cpu, 2, shape, float32, "texture", &data), "texture");
  shape[0] = -1;
  FAILS(TVMDeviceAllocDataSpaceWithScope(cpu, 2, shape, float32, "global", &data), "negative");
  cpu.device_type = kDLMetal;
  FAILS(TVMDeviceAllocDataSpace(cpu, 100, 256, float32, &data), "metal");
  FAILS(TVMSynchronize(kDLMetal, 0, NULL), "metal");
  FAILS(TVMSynchronize(1234, 0, NULL), "");
}

static void test_types(void) {
  unsigned array = 0;
  unsigned object = 0;
  int derived = -1;
  char* key = NULL;
  OK(TVMObjectTypeKey2Index("Array", &array));
  OK(TVMObjectTypeKey2Index("runtime.Object", &object));
  OK(TVMObjectDerivedFrom(array, object, &derived));
  CHECK(derived == 1);
  OK(TVMObjectDerivedFrom(object, array, &derived));
  CHECK(derived == 0);
  OK(TVMObjectTypeIndex2Key(array, &key));
  CHECK(strcmp(key, "Array") == 0);
  free(key);
  FAILS(TVMObjectTypeIndex2Key(123456789, &key), "123456789");
}

/* Null, negative or unknown arguments give -1 and a string, and nothing is written. */
static void test_hostile(void) {
  TVMFunctionHandle function = NULL;
  TVMValue value = of_int(1);
  TVMValue result;
  int code = kTVMArgInt;
  int got = -7;
  int bad[] = {-1, -2147483647 - 1, 16, 17, 255, 2147483647};
  size_t i;
  void* out = &out;
  unsigned index = 0;
  const char** names = NULL;
  OK(TVMFuncGetGlobal("runtime.ArraySize", &function));
  FAILS(TVMFuncCall(NULL, &value, &code, 1, &result, &got), "func");
  FAILS(TVMFuncCall(function, NULL, &code, 1, &result, &got), "arg_values");
  FAILS(TVMFuncCall(function, &value, NULL, 1, &result, &got), "type_codes");
  FAILS(TVMFuncCall(function, &value, &code, -1, &result, &got), "");
  FAILS(TVMFuncCall(function, &value, &code, 1, NULL, &got), "ret_val");
  FAILS(TVMFuncCall(function, &value, &code, 1, &result, NULL), "ret_type_code");
  CHECK(got == -7);
  for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
    FAILS(TVMFuncCall(function, &value, &bad[i], 1, &result, &got), "type code");
    FAILS(TVMCbArgToReturn(&value, &bad[i]), "type code");
  }
  code = kTVMStr;
  value = of_handle(NULL);
  FAILS(TVMFuncCall(function, &value, &code, 1, &result, &got), "null");
  code = kTVMBytes;
  FAILS(TVMFuncCall(function, &value, &code, 1, &result, &got), "null");
  for (code = kTVMObjectHandle; code <= kTVMPackedFuncHandle; code++) {
    FAILS(TVMFuncCall(function, &value, &code, 1, &result, &got), "TypeError"); /* None */
  }
  code = kTVMNDArrayHandle;
  FAILS(TVMFuncCall(function, &value, &code, 1, &result, &got), "TypeError");
  FAILS(TVMFuncGetGlobal(NULL, &function), "name");
  FAILS(TVMFuncGetGlobal("x", NULL), "out");
  FAILS(TVMFuncListGlobalNames(NULL, &names), "out_size");
  FAILS(TVMFuncListGlobalNames(&got, NULL), "out_array");
  FAILS(TVMFuncRegisterGlobal(NULL, function, 0), "name");
  FAILS(TVMFuncRegisterGlobal("x", NULL, 0), "`f`");
  FAILS(TVMFuncRemoveGlobal(NULL), "name");
  FAILS(TVMFuncCreateFromCFunc(NULL, NULL, NULL, &out), "func");
  FAILS(TVMFuncCreateFromCFunc(say_nothing, NULL, NULL, NULL), "out");
  CHECK(out == &out);
  FAILS(TVMCFuncSetReturn(NULL, &value, &code, 1), "ret");
  FAILS(TVMCFuncSetReturn(&out, &value, &code, 2), "2");
  FAILS(TVMModLoadFromFile(NULL, "", &out), "file_name");
  FAILS(TVMModGetFunction(NULL, "x", 0, &out), "mod");
  FAILS(TVMModGetFunction(function, "x", 0, &out), "TypeError");
  FAILS(TVMModImport(NULL, NULL), "mod");
  FAILS(TVMArrayFree(NULL), "handle");
  FAILS(TVMArrayCopyFromBytes(NULL, &value, 8), "handle");
  FAILS(TVMArrayCopyFromTo(NULL, NULL, NULL), "from");
  FAILS(TVMArrayFromDLPack(NULL, NULL), "from");
  FAILS(TVMArrayToDLPack(NULL, NULL), "from");
  FAILS(TVMArrayAlloc(NULL, 1, kDLFloat, 32, 1, kDLCPU, 0, (TVMArrayHandle*)&out), "shape");
  FAILS(TVMArrayAlloc(NULL, -1, kDLFloat, 32, 1, kDLCPU, 0, (TVMArrayHandle*)&out), "");
  FAILS(TVMObjectGetTypeIndex(NULL, &index), "handle");
  FAILS(TVMObjectRetain(NULL), "handle");
  FAILS(TVMObjectTypeKey2Index(NULL, &index), "type_key");
  FAILS(TVMNodeGetAttr(NULL, "x", &value, &code, &got), "handle");
  FAILS(TVMNodeListAttrNames(NULL, &got, &names), "handle");
  FAILS(TVMExtTypeFree(NULL, 15), "15");
  FAILS(TVMBackendGetFuncFromEnv(NULL, "no.such.function", &out), "no.such.function");
  FAILS(TVMBackendRegisterSystemLibSymbol(NULL, &value), "name");
  FAILS(TVMBackendRegisterEnvCAPI("no_such_api", &value), "no_such_api");
  OK(TVMFuncFree(NULL));
  OK(TVMModFree(NULL));
  OK(TVMObjectFree(NULL));
  OK(TVMByteArrayFree(NULL));
  TVMDLManagedTensorCallDeleter(NULL);
  TVMAPISetLastError(NULL);
  CHECK(strcmp(TVMGetLastError(), "") == 0 && TVMGetLastPythonError() == NULL);
  TVMDropLastPythonError();
  OK(TVMFuncFree(function));
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  test_calls();
  test_names();
  test_finalizers();
  test_kept_arguments();
  test_null_handles();
  test_positive_status();
  test_data_types();
  test_bool();
  test_rvalue();
  test_modules(argv[1], argv[2]);
  test_devices();
  test_types();
  test_hostile();
  return check_report("api18");
}
