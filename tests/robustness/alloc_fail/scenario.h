/*
 * A round of calls of every C symbol, in steps that may fail when out of memory, and for no other
 * reason. One part leaves nothing behind; the other registers permanent entries.
 */
#ifndef FERRITE_TESTS_ALLOC_FAIL_SCENARIO_H_
#define FERRITE_TESTS_ALLOC_FAIL_SCENARIO_H_

#include "mutate.h"
#include "steps.h"
#include "values.h"

/* Built-in functions that the rounds call and every build has; others are called if they exist. */
static const char* const walked_functions[] = {
    "ffi.Array", "ffi.Map", "ffi.Dict", "ffi.List", "ffi.Shape", "ffi.MapGetItem",
    "ffi.MapForwardIterFunctor", "ffi.DictSetItem", "ffi.ListAppend",
    "ffi.GetRegisteredTypeKeys", "ffi.FunctionListGlobalNamesFunctor",
    "ffi.FunctionRemoveGlobal", "ffi.ModuleLoadFromFile", "ffi.ModuleGetFunction",
    "ffi.ModuleGetFunctionDoc", "ffi.ModuleImportModule", "ffi.SystemLib"};

static void expect_walked_functions(void) {
  size_t i;
  for (i = 0; i < sizeof(walked_functions) / sizeof(walked_functions[0]); i++) {
    TVMFFIObjectHandle function = global_function(walked_functions[i]);
    if (!CHECK(function != NULL)) {
      printf("  %s\n", walked_functions[i]);
    } else {
      TVMFFIObjectDecRef(function);
    }
  }
}

static int sum(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  int64_t total = 0;
  int32_t i;
  (void)self;
  for (i = 0; i < num_args; i++) {
    total += args[i].v_int64;
  }
  *result = any_int(total);
  return 0;
}

static int resources;

static void release_resource(void* handle) { resources -= handle == &resources; }

static void walk_objects(void) {
  TVMFFIVersion version;
  TVMFFIObjectHandle object = UNTOUCHED;
  TVMFFIByteArray key = bytes_of("ffi.Array");
  int32_t type_index = -1;
  TVMFFIGetVersion(&version);
  CHECK(TVMFFIGetCustomAllocator() != NULL);
  resources++;
  if (STEP_OUT(TVMFFIObjectCreateOpaque(&resources, kTVMFFIOpaquePyObject, release_resource,
                                        &object),
               &object)) {
    STEP(TVMFFIObjectIncRef(object));
    STEP(TVMFFIObjectDecRef(object));
    STEP(TVMFFIObjectDecRef(object));
  } else {
    resources--; /* still owned here */
  }
  CHECK_INT(resources, 0);
  STEP(TVMFFITypeKeyToIndex(&key, &type_index));
  CHECK(TVMFFIGetTypeInfo(kTVMFFIArray) != NULL);
  CHECK(TVMFFIGetTypeAttrColumn(&key) == NULL);
}

static void walk_functions(void) {
  TVMFFIObjectHandle function = UNTOUCHED;
  TVMFFIAny args[2];
  TVMFFIAny result = any_none();
  TVMFFIAny text = any_text("a text that needs an object of its own");
  args[0] = any_int(1);
  args[1] = any_int(2);
  resources++;
  if (STEP_OUT(TVMFFIFunctionCreate(&resources, sum, release_resource, &function), &function)) {
    if (STEP(TVMFFIFunctionCall(function, args, 2, &result))) {
      CHECK_INT(result.v_int64, 3);
    }
    drop(function);
  } else {
    resources--;
  }
  CHECK_INT(resources, 0);
  result = any_int(5);
  if (STEP(TVMFFIAnyViewToOwnedAny(&text, &result))) {
    release_any(&result);
  } else {
    CHECK_INT(result.v_int64, 5);
  }
}

static void walk_errors(void) {
  TVMFFIByteArray kind = bytes_of("ValueError");
  TVMFFIByteArray message = bytes_of("a message of some length, to be copied");
  TVMFFIByteArray backtrace = bytes_of("one frame\n");
  const char* parts[2];
  TVMFFIObjectHandle error = UNTOUCHED;
  TVMFFIObjectHandle outer = UNTOUCHED;
  TVMFFIAny arg = any_int(1);
  TVMFFIAny result;
  parts[0] = "one ";
  parts[1] = "two";
  if (TVMFFIErrorCreate(&kind, &message, &backtrace, &error) == 0) {
    CELL(TVMFFIErrorCell, error)
        ->update_backtrace(error, &backtrace, kTVMFFIBacktraceUpdateModeAppend);
    if (TVMFFIErrorCreateWithCauseAndExtraContext(&kind, &message, &backtrace, error, error,
                                                  &outer) == 0) {
      drop(outer);
    } else {
      step_failures++;
      CHECK(outer == UNTOUCHED);
    }
    TVMFFIErrorSetRaised(error);
    drop(error);
    expect_raised("ValueError");
  } else {
    step_failures++;
    CHECK(error == UNTOUCHED);
  }
  nothing_raised();
  TVMFFIErrorSetRaisedFromCStr("KeyError", "a text");
  expect_raised("KeyError");
  TVMFFIErrorSetRaisedFromCStrParts("TypeError", parts, 2);
  expect_raised("TypeError");
  if (bad_input()) {
    CHECK_INT(TVMFFIObjectIncRef(NULL), -1);
    expect_raised("ValueError");
  }
  result = any_none();
  {
    TVMFFIObjectHandle function = global_function("ffi.ArraySize");
    if (function == NULL) {
      step_failures++;
      nothing_raised();
    } else {
      CHECK_INT(TVMFFIFunctionCall(function, &arg, 1, &result), -1);
      expect_raised("TypeError");
      drop(function);
    }
  }
  TVMFFIBacktrace("file.c", 3, "function", 0);
}

static int64_t tensor_shape[2] = {2, 3};
static float tensor_data[6];
static int tensors;

static void delete_tensor(DLManagedTensor* self) {
  (void)self;
  tensors--;
}

static void delete_versioned(DLManagedTensorVersioned* self) {
  (void)self;
  tensors--;
}

static DLTensor tensor_prototype(void) {
  DLTensor tensor;
  memset(&tensor, 0, sizeof(tensor));
  tensor.data = tensor_data;
  tensor.device.device_type = kDLCPU;
  tensor.ndim = 2;
  tensor.shape = tensor_shape;
  tensor.dtype.code = kDLFloat;
  tensor.dtype.bits = 32;
  tensor.dtype.lanes = 1;
  return tensor;
}

static DLManagedTensorVersioned environment_tensor;

static int environment_allocator(DLTensor* prototype, DLManagedTensorVersioned** out,
                                 void* error_ctx,
                                 void (*set_error)(void*, const char*, const char*)) {
  (void)error_ctx;
  (void)set_error;
  memset(&environment_tensor, 0, sizeof(environment_tensor));
  environment_tensor.version.major = DLPACK_MAJOR_VERSION;
  environment_tensor.dl_tensor = *prototype;
  environment_tensor.deleter = delete_versioned;
  tensors++;
  *out = &environment_tensor;
  return 0;
}

static void walk_tensors(void) {
  DLManagedTensor source;
  DLManagedTensorVersioned source_versioned;
  TVMFFIObjectHandle tensor = UNTOUCHED;
  TVMFFIObjectHandle view = UNTOUCHED;
  DLTensor prototype = tensor_prototype();
  int64_t strides[2];
  strides[0] = 3;
  strides[1] = 1;
  memset(&source, 0, sizeof(source));
  memset(&source_versioned, 0, sizeof(source_versioned));
  source.dl_tensor = prototype;
  source.deleter = delete_tensor;
  source_versioned.version.major = DLPACK_MAJOR_VERSION;
  source_versioned.dl_tensor = prototype;
  source_versioned.deleter = delete_versioned;
  tensors = 1;
  if (STEP_OUT(TVMFFITensorFromDLPack(&source, 0, 1, &tensor), &tensor)) {
    DLManagedTensor* out = (DLManagedTensor*)UNTOUCHED;
    DLManagedTensorVersioned* out_versioned = (DLManagedTensorVersioned*)UNTOUCHED;
    if (STEP(TVMFFITensorToDLPack(tensor, &out))) {
      out->deleter(out);
    } else {
      CHECK(out == (DLManagedTensor*)UNTOUCHED);
    }
    if (STEP(TVMFFITensorToDLPackVersioned(tensor, &out_versioned))) {
      out_versioned->deleter(out_versioned);
    } else {
      CHECK(out_versioned == (DLManagedTensorVersioned*)UNTOUCHED);
    }
    prototype.strides = strides;
    if (STEP_OUT(TVMFFITensorCreateUnsafeView(tensor, &prototype, &view), &view)) {
      drop(view);
    }
    drop(tensor);
    CHECK_INT(tensors, 0);
  }
  tensors = 1;
  tensor = UNTOUCHED;
  if (STEP_OUT(TVMFFITensorFromDLPackVersioned(&source_versioned, 0, 0, &tensor), &tensor)) {
    drop(tensor);
    CHECK_INT(tensors, 0);
  } else {
    CHECK_INT(tensors, 1);
  }
  tensors = 0;
  prototype = tensor_prototype();
  if (STEP(TVMFFIEnvSetDLPackManagedTensorAllocator(environment_allocator, 0, NULL))) {
    CHECK(TVMFFIEnvGetDLPackManagedTensorAllocator() == environment_allocator);
    tensor = UNTOUCHED;
    if (STEP_OUT(TVMFFIEnvTensorAlloc(&prototype, &tensor), &tensor)) {
      drop(tensor);
    }
    CHECK_INT(tensors, 0);
    STEP(TVMFFIEnvSetDLPackManagedTensorAllocator(NULL, 0, NULL));
  }
}

static void walk_strings(void) {
  TVMFFIByteArray text = bytes_of("a text of 32 bytes: exactly four");
  TVMFFIByteArray float_name = bytes_of("float8_e4m3b11fnuz");
  DLDataType dtype;
  TVMFFIAny out = any_int(5);
  if (STEP(TVMFFIStringFromByteArray(&text, &out))) {
    release_any(&out);
  }
  out = any_int(5);
  if (STEP(TVMFFIBytesFromByteArray(&text, &out))) {
    release_any(&out);
  }
  out = any_int(5);
  if (STEP(TVMFFIBigIntFromByteArray(&text, &out))) {
    CHECK_INT(TVMFFIBigIntGetContentByteArray(&out).size, 32);
    release_any(&out);
  } else {
    CHECK_INT(out.v_int64, 5);
  }
  if (STEP(TVMFFIDataTypeFromString(&float_name, &dtype))) {
    out = any_int(5);
    if (STEP(TVMFFIDataTypeToString(&dtype, &out))) {
      release_any(&out);
    }
  }
}

/* Parses a document with enough strings for their objects to share memory. */
static void parse_texts(void) {
  static char document[4000];
  TVMFFIAny text;
  TVMFFIAny result;
  size_t used = 0;
  int i;
  for (i = 0; i < 40; i++) {
    used += (size_t)sprintf(document + used, "%c\"a text that needs an object, number %d\"", i == 0 ? '[' : ',', i);
  }
  sprintf(document + used, "]");
  text = any_text(document);
  if (call_step("ffi.json.Parse", &text, 1, &result)) {
    release_any(&result);
  }
}

static void walk_built_ins(void) {
  TVMFFIAny map;
  TVMFFIAny list;
  TVMFFIAny result;
  TVMFFIAny args[8];
  int i;
  for (i = 0; i < 8; i++) {
    args[i] = any_int(i * 3);
  }
  if (call_step("ffi.Map", args, 8, &map)) {
    args[0] = any_object(map.v_obj);
    args[1] = any_int(0);
    if (call_step("ffi.MapGetItem", args, 2, &result)) {
      CHECK_INT(result.v_int64, 3);
    }
    if (call_step("ffi.MapForwardIterFunctor", args, 1, &result)) {
      release_any(&result);
    }
    release_any(&map);
  }
  if (call_step("ffi.Dict", NULL, 0, &map)) {
    for (i = 0; i < 20; i++) {
      args[0] = any_object(map.v_obj);
      args[1] = any_int(i);
      args[2] = any_text("a value that needs an object of its own");
      call_step("ffi.DictSetItem", args, 3, &result);
    }
    release_any(&map);
  }
  if (call_step("ffi.List", NULL, 0, &list)) {
    for (i = 0; i < 20; i++) {
      args[0] = any_object(list.v_obj);
      args[1] = any_text("a value that needs an object of its own");
      call_step("ffi.ListAppend", args, 2, &result);
    }
    release_any(&list);
  }
  args[0] = any_int(1);
  args[1] = any_int(2);
  if (call_step("ffi.Shape", args, 2, &result)) {
    release_any(&result);
  }
  args[0] = any_text("{\"a key that is long\": [1, 2.5, \"a text that is long\", {}], \"b\": null}");
  if (call_step("ffi.json.Parse", args, 1, &result)) {
    release_any(&result);
  }
  parse_texts();
  if (call_step("ffi.GetRegisteredTypeKeys", NULL, 0, &result)) {
    release_any(&result);
  }
  if (call_step("ffi.FunctionListGlobalNamesFunctor", NULL, 0, &result)) {
    release_any(&result);
  }
}

static int made_value;

static int make_once(void** result) {
  *result = &made_value;
  return 0;
}

static int unmake(void* handle) { return handle == &made_value ? 0 : -1; }

static void* take_gil(void) { return NULL; }

static void walk_environment(void) {
  void* handle = NULL;
  STEP(TVMFFIHandleInitOnce(&handle, make_once));
  STEP(TVMFFIHandleDeinitOnce(&handle, unmake));
  if (STEP(TVMFFIEnvSetStream(kDLCUDA, 2, &made_value, NULL))) {
    CHECK(TVMFFIEnvGetStream(kDLCUDA, 2) == &made_value);
    STEP(TVMFFIEnvSetStream(kDLCUDA, 2, NULL, NULL));
  }
  STEP(TVMFFIEnvRegisterCAPI("PyGILState_Ensure",
                             address_of_function((check_any_function)take_gil)));
  STEP(TVMFFIEnvCheckSignals());
}

static void walk_modules(void) {
  TVMFFIAny args[3];
  TVMFFIAny module;
  TVMFFIAny other;
  TVMFFIAny result;
  TVMFFIObjectHandle found = UNTOUCHED;
  args[0] = any_text(required("CHECK_KERNELS"));
  if (!call_step("ffi.ModuleLoadFromFile", args, 1, &module)) {
    return;
  }
  args[0] = any_object(module.v_obj);
  args[1] = any_text("add_one");
  args[2] = any_bool(1);
  if (call_step("ffi.ModuleGetFunction", args, 3, &result)) {
    TVMFFIAny number = any_int(1);
    TVMFFIAny sum_of = any_none();
    if (CHECK_INT(result.type_index, kTVMFFIFunction) &&
        STEP(TVMFFIFunctionCall(result.v_obj, &number, 1, &sum_of))) {
      CHECK_INT(sum_of.v_int64, 2);
    }
    release_any(&result);
  }
  if (call_step("ffi.ModuleGetFunctionDoc", args, 3, &result)) {
    release_any(&result);
  }
  if (call_step("ffi.SystemLib", NULL, 0, &other)) {
    args[0] = any_object(module.v_obj);
    args[1] = any_object(other.v_obj);
    call_step("ffi.ModuleImportModule", args, 2, &result);
    release_any(&other);
  }
  if (STEP_OUT(TVMFFIEnvModLookupFromImports((char*)module.v_obj - 8, "ffi.Array", &found),
               &found)) {
    CHECK(found != NULL);
  }
  release_any(&module);
}

/* Calls symbols that leave nothing behind. */
static void walk_and_leave_nothing(void) {
  walk_objects();
  walk_functions();
  walk_errors();
  walk_tensors();
  walk_strings();
  walk_built_ins();
  walk_values();
  walk_mutations();
  walk_memory_of_a_mutator();
  walk_environment();
  walk_modules();
}

/* Calls symbols that register: a failed registration has no effect, and can be repeated. */
static void walk_and_register(const char* prefix) {
  char names[8][64];
  TVMFFIByteArray name;
  TVMFFIObjectHandle function = UNTOUCHED;
  TVMFFIObjectHandle found = UNTOUCHED;
  TVMFFIMethodInfo method;
  TVMFFIFieldInfo field;
  TVMFFITypeMetadata metadata;
  TVMFFIAny value = any_text("an attribute that needs an object of its own");
  int32_t type_index;
  int i;
  for (i = 0; i < 8; i++) {
    sprintf(names[i], "alloc_fail.%.20s.name_%d", prefix, i);
  }
  memset(&method, 0, sizeof(method));
  memset(&field, 0, sizeof(field));
  memset(&metadata, 0, sizeof(metadata));
  name = bytes_of(names[0]);
  type_index = TVMFFITypeGetOrAllocIndex(&name, -1, 1, 1, 1, kTVMFFIObject);
  if (type_index < 0) {
    step_failures++;
    nothing_raised();
    CHECK_INT(TVMFFITypeGetOrAllocIndex(&name, -1, 1, 1, 1, -2), -2);
  } else {
    const TVMFFITypeInfo* info = TVMFFIGetTypeInfo(type_index);
    CHECK(info != NULL && info->type_index == type_index);
    field.name = bytes_of(names[1]);
    field.doc = bytes_of("A field that is documented.");
    field.metadata = bytes_of("{}");
    field.flags = kTVMFFIFieldFlagBitMaskHasDefault;
    field.default_value_or_factory = value;
    field.size = 8;
    field.alignment = 8;
    field.offset = 24;
    CHECK_INT(info->num_fields, STEP(TVMFFITypeRegisterField(type_index, &field)) ? 1 : 0);
    metadata.doc = bytes_of("A type that is documented.");
    metadata.total_size = 32;
    CHECK_INT(info->metadata != NULL, STEP(TVMFFITypeRegisterMetadata(type_index, &metadata)));
    name = bytes_of(names[2]);
    STEP(TVMFFITypeRegisterAttr(type_index, &name, &value));
  }
  if (!STEP_OUT(TVMFFIFunctionCreate(NULL, sum, NULL, &function), &function)) {
    return;
  }
  method.name = bytes_of(names[3]);
  method.doc = bytes_of("A function that is documented.");
  method.metadata = bytes_of("{}");
  method.method = any_object(function);
  if (type_index >= 0) {
    const TVMFFITypeInfo* info = TVMFFIGetTypeInfo(type_index);
    CHECK_INT(info->num_methods, STEP(TVMFFITypeRegisterMethod(type_index, &method)) ? 1 : 0);
  }
  name = bytes_of(names[4]);
  if (!STEP(TVMFFIFunctionSetGlobal(&name, function, 0))) {
    if (STEP(TVMFFIFunctionGetGlobal(&name, &found))) {
      CHECK(found == NULL);
    }
  } else {
    TVMFFIAny args = any_text(names[4]);
    TVMFFIAny result;
    STEP(TVMFFIFunctionSetGlobal(&name, function, 1));
    call_step("ffi.FunctionRemoveGlobal", &args, 1, &result);
  }
  found = UNTOUCHED;
  name = bytes_of(names[3]);
  if (!STEP(TVMFFIFunctionSetGlobalFromMethodInfo(&method, 0))) {
    if (STEP(TVMFFIFunctionGetGlobal(&name, &found))) {
      CHECK(found == NULL);
    }
  }
  drop(function);
  STEP(TVMFFIEnvModRegisterContextSymbol(names[5], &made_value));
  STEP(TVMFFIEnvModRegisterSystemLibSymbol(names[6], &made_value));
}

#endif /* FERRITE_TESTS_ALLOC_FAIL_SCENARIO_H_ */
