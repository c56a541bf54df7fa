/*
 * A program written for the header of TVM 0.6, with its type codes, contexts and nodes.
 */
#define TVM_LEGACY_API 6
#include "check.h"

static int finalized;

static int sum(TVMValue* args, int* codes, int num_args, TVMRetValueHandle ret, void* resource) {
  TVMValue total = of_int(*(int64_t*)resource);
  int code = kDLInt;
  int i;
  for (i = 0; i < num_args; i++) {
    if (codes[i] != kDLInt) {
      TVMAPISetLastError("TypeError: sum takes ints");
      return -1;
    }
    total.v_int64 += args[i].v_int64;
  }
  return TVMCFuncSetReturn(ret, &total, &code, 1);
}

static void finalize(void* resource) {
  (void)resource;
  finalized++;
}

/* Retains its argument if it is an object, and returns it. */
static int keep(TVMValue* args, int* codes, int num_args, TVMRetValueHandle ret, void* resource) {
  (void)resource;
  if (num_args != 1) return -1;
  if (TVMCbArgToReturn(&args[0], codes[0]) != 0) return -1;
  if (TVMCFuncSetReturn(ret, &args[0], &codes[0], 1) != 0) return -1;
  if (codes[0] == kNDArrayContainer) return TVMArrayFree(args[0].v_handle);
  if (codes[0] == kFuncHandle) return TVMFuncFree(args[0].v_handle);
  if (codes[0] == kNodeHandle) return TVMNodeFree(args[0].v_handle);
  return 0;
}

static TVMFunctionHandle global(const char* name) {
  TVMFunctionHandle found = NULL;
  OK(TVMFuncGetGlobal(name, &found));
  return found;
}

static void test_functions(void) {
  static int64_t start = 100;
  TVMFunctionHandle function = NULL;
  TVMFunctionHandle found;
  TVMValue args[20];
  int codes[20];
  TVMValue result;
  int code = -1;
  int i;
  OK(TVMFuncCreateFromCFunc(sum, &start, finalize, &function));
  OK(TVMFuncRegisterGlobal("api6.sum", function, 0));
  FAILS(TVMFuncRegisterGlobal("api6.sum", function, 0), "Global PackedFunc api6.sum is already registered");
  OK(TVMFuncRegisterGlobal("api6.sum", function, 1));
  OK(TVMFuncFree(function));
  CHECK(finalized == 0);
  found = global("api6.sum");
  for (i = 0; i < 20; i++) {
    args[i] = of_int(i);
    codes[i] = kDLInt;
  }
  for (i = 0; i <= 20; i++) {
    OK(TVMFuncCall(found, args, codes, i, &result, &code));
    CHECK(code == kDLInt && result.v_int64 == 100 + i * (i - 1) / 2);
  }
  codes[1] = kNull;
  FAILS(TVMFuncCall(found, args, codes, 2, &result, &code), "TypeError: sum takes ints");
  CHECK(strcmp(TVMGetLastError(), "TypeError: sum takes ints") == 0);
  OK(TVMFuncFree(found));
  CHECK(global("api6.no_such") == NULL);
}

static void test_names(void) {
  const char** names = NULL;
  int count = 0;
  int i;
  int seen = 0;
  OK(TVMFuncListGlobalNames(&count, &names));
  for (i = 0; i < count; i++) {
    seen += strcmp(names[i], "api6.sum") == 0 || strcmp(names[i], "_Array") == 0;
  }
  CHECK(seen == 2);
}

static void test_values(void) {
  TVMFunctionHandle function = NULL;
  TVMFunctionHandle echo;
  TVMByteArray bytes;
  TVMValue value;
  TVMValue result;
  int code = kDLFloat;
  int got = -1;
  OK(TVMFuncCreateFromCFunc(keep, NULL, NULL, &function));
  echo = function;
  value.v_float64 = 2.5;
  OK(TVMFuncCall(echo, &value, &code, 1, &result, &got));
  CHECK(got == kDLFloat && result.v_float64 == 2.5);
  value = of_handle(&bytes);
  code = kHandle;
  OK(TVMFuncCall(echo, &value, &code, 1, &result, &got));
  CHECK(got == kHandle && result.v_handle == &bytes);
  code = kNull;
  OK(TVMFuncCall(echo, &value, &code, 1, &result, &got));
  CHECK(got == kNull);
  value.v_ctx.device_type = kDLOpenCL;
  value.v_ctx.device_id = 3;
  code = kTVMContext;
  OK(TVMFuncCall(echo, &value, &code, 1, &result, &got));
  CHECK(got == kTVMContext && result.v_ctx.device_type == kDLOpenCL && result.v_ctx.device_id == 3);
  value.v_int64 = -1;
  value.v_type.code = kDLFloat;
  value.v_type.bits = 32;
  value.v_type.lanes = 4;
  code = kTVMType;
  OK(TVMFuncCall(echo, &value, &code, 1, &result, &got));
  CHECK(got == kStr && strcmp(result.v_str, "float32x4") == 0);
  /* Strings and bytes passed as arguments cannot be retained. */
  value = of_text("text");
  code = kStr;
  FAILS(TVMFuncCall(echo, &value, &code, 1, &result, &got), "TypeError");
  bytes.data = "a\0b";
  bytes.size = 3;
  value = of_handle(&bytes);
  code = kBytes;
  FAILS(TVMFuncCall(echo, &value, &code, 1, &result, &got), "TypeError");
  value = of_handle(echo);
  code = kFuncHandle;
  OK(TVMFuncCall(echo, &value, &code, 1, &result, &got));
  CHECK(got == kFuncHandle && result.v_handle == echo);
  OK(TVMFuncFree(result.v_handle));
  OK(TVMFuncFree(echo));
}

static int give_text(TVMValue* args, int* codes, int num_args, TVMRetValueHandle ret, void* resource) {
  char text[40];
  TVMByteArray bytes;
  TVMValue value;
  int code = kStr;
  (void)args;
  (void)codes;
  (void)resource;
  sprintf(text, "a text that does not stay");
  value = of_text(text);
  bytes.data = "by\0tes";
  bytes.size = 6;
  if (num_args == 1) {
    value = of_handle(&bytes);
    code = kBytes;
  }
  return TVMCFuncSetReturn(ret, &value, &code, 1);
}

static void test_texts(void) {
  TVMFunctionHandle function = NULL;
  TVMValue value = of_int(0);
  TVMValue result;
  int code = kDLInt;
  int got = -1;
  OK(TVMFuncCreateFromCFunc(give_text, NULL, NULL, &function));
  OK(TVMFuncCall(function, &value, &code, 0, &result, &got));
  CHECK(got == kStr && strcmp(result.v_str, "a text that does not stay") == 0);
  OK(TVMFuncCall(function, &value, &code, 1, &result, &got));
  CHECK(got == kBytes && ((TVMByteArray*)result.v_handle)->size == 6);
  CHECK(memcmp(((TVMByteArray*)result.v_handle)->data, "by\0tes", 6) == 0);
  OK(TVMFuncFree(function));
}

static void test_arrays(void) {
  int64_t shape[2] = {2, 3};
  float data[6] = {0, 1, 2, 3, 4, 5};
  float back[6];
  TVMArrayHandle one = NULL;
  TVMArrayHandle other = NULL;
  TVMFunctionHandle function = NULL;
  DLManagedTensor* managed = NULL;
  TVMValue value;
  TVMValue result;
  int code = kNDArrayContainer;
  int got = -1;
  OK(TVMArrayAlloc(shape, 2, kDLFloat, 32, 1, kDLCPU, 0, &one));
  OK(TVMArrayAlloc(shape, 2, kDLFloat, 32, 1, kDLCPU, 0, &other));
  CHECK(one->ndim == 2 && one->shape[1] == 3 && one->ctx.device_type == kDLCPU && one->dtype.bits == 32);
  CHECK((size_t)one->data % 64 == 0);
  OK(TVMArrayCopyFromBytes(one, data, sizeof(data)));
  OK(TVMArrayCopyFromTo(one, other, NULL));
  OK(TVMArrayCopyToBytes(other, back, sizeof(back)));
  CHECK(memcmp(data, back, sizeof(data)) == 0);
  FAILS(TVMArrayCopyToBytes(other, back, 20), "20");
  OK(TVMFuncCreateFromCFunc(keep, NULL, NULL, &function));
  value = of_handle(one);
  OK(TVMFuncCall(function, &value, &code, 1, &result, &got));
  CHECK(got == kNDArrayContainer && result.v_handle == one);
  OK(TVMArrayFree(result.v_handle));
  OK(TVMFuncFree(function));
  OK(TVMArrayToDLPack(one, &managed));
  OK(TVMArrayFree(one));
  CHECK(((float*)managed->dl_tensor.data)[5] == 5);
  OK(TVMArrayFromDLPack(managed, &one));
  OK(TVMArrayCopyToBytes(one, back, sizeof(back)));
  CHECK(back[4] == 4);
  OK(TVMArrayFree(one));
  OK(TVMArrayToDLPack(other, &managed));
  TVMDLManagedTensorCallDeleter(managed);
  OK(TVMArrayFree(other));
  FAILS(TVMArrayAlloc(shape, 2, kDLFloat, 31, 1, kDLCPU, 0, &one), "31 bits");
  FAILS(TVMArrayAlloc(shape, 2, kDLFloat, 32, 0, kDLCPU, 0, &one), "0 lanes");
  FAILS(TVMArrayAlloc(shape, 2, kDLFloat, 32, 1, kDLMetal, 0, &one), "metal");
  shape[0] = -1;
  FAILS(TVMArrayAlloc(shape, 2, kDLFloat, 32, 1, kDLCPU, 0, &one), "negative");
  OK(TVMSynchronize(kDLCPU, 0, NULL));
}

static void test_nodes(void) {
  TVMFunctionHandle make = global("_Array");
  TVMFunctionHandle constant = global("_str");
  TVMFunctionHandle item = global("_ArrayGetItem");
  const char** names = NULL;
  TVMValue args[2];
  TVMValue result;
  TVMValue attribute;
  int codes[2];
  int got = -1;
  int count = 0;
  int success = -1;
  int index = 0;
  void* text;
  void* array;
  args[0] = of_text("text");
  codes[0] = kStr;
  OK(TVMFuncCall(constant, args, codes, 1, &result, &got));
  CHECK(got == kNodeHandle);
  text = result.v_handle;
  args[0] = of_handle(text);
  codes[0] = kNodeHandle;
  args[1] = of_int(7);
  codes[1] = kDLInt;
  OK(TVMFuncCall(make, args, codes, 2, &result, &got));
  CHECK(got == kNodeHandle);
  array = result.v_handle;
  OK(TVMNodeTypeKey2Index("Array", &count));
  OK(TVMNodeGetTypeIndex(array, &index));
  CHECK(count == index);
  args[0] = of_handle(array);
  codes[0] = kNodeHandle;
  args[1] = of_int(0);
  OK(TVMFuncCall(item, args, codes, 2, &result, &got));
  CHECK(got == kNodeHandle);
  OK(TVMNodeGetAttr(result.v_handle, "value", &attribute, &got, &success));
  CHECK(success == 1 && got == kStr && strcmp(attribute.v_str, "text") == 0);
  OK(TVMNodeGetAttr(result.v_handle, "type_key", &attribute, &got, &success));
  CHECK(success == 1 && strcmp(attribute.v_str, "StringImm") == 0);
  OK(TVMNodeGetAttr(result.v_handle, "missing", &attribute, &got, &success));
  CHECK(success == 0);
  OK(TVMNodeListAttrNames(result.v_handle, &count, &names));
  CHECK(count == 2 && strcmp(names[0], "dtype") == 0 && strcmp(names[1], "value") == 0);
  OK(TVMNodeFree(result.v_handle));
  args[1] = of_int(5);
  FAILS(TVMFuncCall(item, args, codes, 2, &result, &got), "IndexError");
  OK(TVMNodeFree(text));
  OK(TVMNodeFree(array));
  OK(TVMFuncFree(make));
  OK(TVMFuncFree(constant));
  OK(TVMFuncFree(item));
  CHECK(TVMNodeTypeKey2Index("no.such.Key", &count) == -1);
}

int main(void) {
  CHECK(strcmp(TVMGetLastError(), "") == 0);
  test_functions();
  test_names();
  test_values();
  test_texts();
  test_arrays();
  test_nodes();
  return check_report("api6");
}
