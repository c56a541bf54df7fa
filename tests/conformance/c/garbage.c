/*
 * Calls every global function with random arguments out of all kinds of values: each call returns
 * or fails, and never crashes. The random sequence is fixed; CHECK_SEED selects another.
 */
#include "modules.h"

static uint32_t state = 12345;

static uint32_t pick(uint32_t below) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) % below;
}

enum { VALUES = 40 };
static TVMFFIAny values[VALUES];
static int value_count;

static void add_value(TVMFFIAny value) { values[value_count++] = value; }

static void add_made(const char* maker, int32_t count) {
  TVMFFIAny args[4];
  TVMFFIAny result;
  args[0] = any_int(1);
  args[1] = any_text("two");
  args[2] = any_text("a third one that needs an object");
  args[3] = any_float(4.5);
  if (call_global(maker, args, count, &result) == 0) {
    add_value(result);
  } else {
    nothing_raised();
  }
}

static int echo(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self;
  if (num_args == 0) {
    *result = any_none();
    return 0;
  }
  if (num_args > 3) {
    TVMFFIErrorSetRaisedFromCStr("TypeError", "too many");
    return -1;
  }
  return TVMFFIAnyViewToOwnedAny(&args[0], result);
}

static void delete_tensor(DLManagedTensor* self) { free(self); }

static float numbers[6];
static int64_t shape[2] = {2, 3};

static void make_values(void) {
  TVMFFIObjectHandle object = NULL;
  TVMFFIByteArray text = bytes_of("a text that lives in an object");
  TVMFFIByteArray kind = bytes_of("ValueError");
  TVMFFIByteArray big = bytes_of("sixteen bytes!!!");
  TVMFFIAny any = any_none();
  DLManagedTensor* tensor = (DLManagedTensor*)calloc(1, sizeof(DLManagedTensor));
  int64_t large = (int64_t)1 << 62;
  double zero = 0.0;
  add_value(any_none());
  add_value(any_int(0));
  add_value(any_int(1));
  add_value(any_int(-1));
  add_value(any_int(3));
  add_value(any_int(large));
  add_value(any_int(-large - large));
  add_value(any_int(large - 1 + large));
  add_value(any_bool(1));
  add_value(any_float(0.5));
  add_value(any_float(1.0 / zero));
  add_value(any_float(zero / zero));
  add_value(any_text(""));
  add_value(any_text("two"));
  add_value(any_text("no_such.file.so"));
  add_value(any_text("[1, {\"a\": [null, 2.5e3]}]"));
  add_value(any_text("\xff\xfe\xfd"));
  add_value(any_pointer(NULL));
  any.type_index = kTVMFFIDataType;
  any.v_dtype.bits = 200;
  any.v_dtype.code = 99;
  add_value(any);
  any = any_none();
  any.type_index = kTVMFFIDevice;
  any.v_device.device_id = -5;
  add_value(any);
  CHECK_OK(TVMFFIStringFromByteArray(&text, &any));
  add_value(any);
  CHECK_OK(TVMFFIBytesFromByteArray(&text, &any));
  add_value(any);
  CHECK_OK(TVMFFIBigIntFromByteArray(&big, &any));
  add_value(any);
  CHECK_INT(TVMFFIErrorCreate(&kind, &text, &text, &object), 0);
  add_value(any_object(object));
  CHECK_OK(TVMFFIFunctionCreate(NULL, echo, NULL, &object));
  add_value(any_object(object));
  CHECK_OK(TVMFFIObjectCreateOpaque(NULL, kTVMFFIOpaquePyObject, NULL, &object));
  add_value(any_object(object));
  tensor->deleter = delete_tensor;
  tensor->dl_tensor.data = numbers;
  tensor->dl_tensor.device.device_type = kDLCPU;
  tensor->dl_tensor.ndim = 2;
  tensor->dl_tensor.shape = shape;
  tensor->dl_tensor.dtype.code = kDLFloat;
  tensor->dl_tensor.dtype.bits = 32;
  tensor->dl_tensor.dtype.lanes = 1;
  CHECK_OK(TVMFFITensorFromDLPack(tensor, 0, 0, &object));
  add_value(any_object(object));
  add_made("ffi.Array", 4);
  add_made("ffi.Array", 0);
  add_made("ffi.List", 4);
  add_made("ffi.Map", 4);
  add_made("ffi.Dict", 4);
  add_made("ffi.Shape", 1);
  add_made("ffi.SystemLib", 0);
  if (load(required("CHECK_KERNELS"), &any) == 0) {
    add_value(any);
  }
  nothing_raised();
}

/* Returns true for functions that take addresses as numbers, or remove functions that the test
 * calls. */
static int left_out(const char* name) {
  static const char* const names[] = {"ffi.FunctionFromExternC", "ffi.FunctionRemoveGlobal",
                                      "ffi.MakeFieldGetter", "ffi.MakeFieldSetter"};
  size_t i;
  for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    if (strcmp(name, names[i]) == 0) {
      return 1;
    }
  }
  return 0;
}

enum { MOST_FUNCTIONS = 512 };
static TVMFFIObjectHandle functions[MOST_FUNCTIONS];
static char* names[MOST_FUNCTIONS];
static int function_count;

static void find_functions(void) {
  TVMFFIAny list;
  TVMFFIAny arg = any_int(-1);
  TVMFFIAny count = any_none();
  int64_t i;
  CHECK_OK(call_global("ffi.FunctionListGlobalNamesFunctor", NULL, 0, &list));
  CHECK_OK(TVMFFIFunctionCall(list.v_obj, &arg, 1, &count));
  for (i = 0; i < count.v_int64 && function_count < MOST_FUNCTIONS; i++) {
    TVMFFIAny name = any_none();
    TVMFFIByteArray bytes;
    arg = any_int(i);
    CHECK_OK(TVMFFIFunctionCall(list.v_obj, &arg, 1, &name));
    bytes = name.type_index == kTVMFFISmallStr
                ? bytes_of_length(name.v_bytes, name.small_str_len)
                : *CELL(TVMFFIByteArray, name.v_obj);
    names[function_count] = (char*)calloc(1, bytes.size + 1);
    memcpy(names[function_count], bytes.data, bytes.size);
    if (left_out(names[function_count])) {
      free(names[function_count]);
    } else {
      functions[function_count] = global_function(names[function_count]);
      if (CHECK(functions[function_count] != NULL)) {
        function_count++;
      }
    }
    release_any(&name);
  }
  release_any(&list);
}

/* Releases a value; lists and dicts are emptied first, since they may contain themselves. */
static void release_value(TVMFFIAny* value) {
  TVMFFIAny result;
  if (value->type_index == kTVMFFIList) {
    CHECK_OK(call_global("ffi.ListClear", value, 1, &result));
  } else if (value->type_index == kTVMFFIDict) {
    CHECK_OK(call_global("ffi.DictClear", value, 1, &result));
  }
  release_any(value);
}

static void call_by_chance(int which) {
  TVMFFIAny args[5];
  TVMFFIAny result = any_garbage((int32_t)pick(14));
  int32_t count = (int32_t)pick(5);
  int32_t i;
  int status;
  for (i = 0; i < count; i++) {
    args[i] = values[pick((uint32_t)value_count)];
  }
  if (getenv("CHECK_TRACE") != NULL) {
    printf("%s(", names[which]);
    for (i = 0; i < count; i++) {
      printf("%d:%ld ", (int)args[i].type_index, (long)args[i].v_int64);
    }
    printf(")\n");
    fflush(stdout);
  }
  status = TVMFFIFunctionCall(functions[which], args, count, &result);
  if (status == 0) {
    /* some results are added to the pool, for later calls */
    if (result.type_index >= kTVMFFIStaticObjectBegin && pick(4) == 0) {
      int at = 20 + (int)pick((uint32_t)(VALUES - 20));
      if (at < value_count) {
        release_value(&values[at]);
        values[at] = result;
      } else {
        release_any(&result);
      }
    } else {
      release_any(&result);
    }
    checks_done++;
  } else {
    if (!CHECK_INT(status, -1) || !CHECK(raised_is(NULL, NULL))) {
      printf("  %s\n", names[which]);
    }
  }
}

static void release_values(void) {
  while (value_count > 0) {
    release_value(&values[--value_count]);
  }
}

int main(void) {
  const char* seed = getenv("CHECK_SEED");
  long rounds = stress(400000);
  long i;
  if (!bad_input()) {
    return check_report("garbage");
  }
  if (seed != NULL) {
    state = (uint32_t)atol(seed);
  }
  find_functions();
  for (i = 0; i < rounds; i++) {
    if (i % 50 == 0) { /* restarts, so that cyclic values do not grow without bound */
      release_values();
      make_values();
    }
    call_by_chance((int)pick((uint32_t)function_count));
  }
  release_values();
  while (function_count > 0) {
    function_count--;
    TVMFFIObjectDecRef(functions[function_count]);
    free(names[function_count]);
  }
  return check_report("garbage");
}
