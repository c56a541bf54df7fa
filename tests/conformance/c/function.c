/* Functions: creation, calls, the global table, and conversion to owned values. */
#include "check.h"

static int deleted;
static int called;

static void count_deleted(void* self) {
  (void)self;
  deleted++;
}

/* Adds its arguments and the number in its resource. */
static int add_all(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  int64_t sum = self == NULL ? 0 : *(int*)self;
  int32_t i;
  called++;
  for (i = 0; i < num_args; i++) {
    if (args[i].type_index != kTVMFFIInt) {
      TVMFFIErrorSetRaisedFromCStr("TypeError", "add_all takes integers");
      return -1;
    }
    sum += args[i].v_int64;
  }
  *result = any_int(sum);
  return 0;
}

static int fails(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self;
  (void)args;
  (void)num_args;
  (void)result;
  TVMFFIErrorSetRaisedFromCStr("KeyError", "on purpose");
  return -1;
}

/* Calls its first argument with the rest. */
static int apply(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  TVMFFIAny copy[4];
  int32_t i;
  (void)self;
  if (num_args < 1 || num_args > 4) {
    TVMFFIErrorSetRaisedFromCStr("ValueError", "apply takes one to four arguments");
    return -1;
  }
  for (i = 1; i < num_args; i++) {
    copy[i - 1] = args[i];
  }
  return TVMFFIFunctionCall(args[0].v_obj, copy, num_args - 1, result);
}

static TVMFFIObjectHandle make(TVMFFISafeCallType safe_call, void* self) {
  TVMFFIObjectHandle function = NULL;
  CHECK_OK(TVMFFIFunctionCreate(self, safe_call, count_deleted, &function));
  return function;
}

static void test_create_and_call(void) {
  int offset = 1000;
  TVMFFIAny args[3];
  TVMFFIAny result = any_none();
  TVMFFIObjectHandle function = make(add_all, &offset);
  args[0] = any_int(1);
  args[1] = any_int(20);
  args[2] = any_int(300);
  deleted = 0;
  called = 0;
  CHECK_INT(((TVMFFIObject*)function)->type_index, kTVMFFIFunction);
  CHECK(CELL(TVMFFIFunctionCell, function)->safe_call != NULL);
  CHECK(CELL(TVMFFIFunctionCell, function)->cpp_call == NULL);
  CHECK_OK(TVMFFIFunctionCall(function, args, 3, &result));
  CHECK_INT(result.type_index, kTVMFFIInt);
  CHECK_INT(result.v_int64, 1321);
  result = any_none();
  CHECK_OK(TVMFFIFunctionCall(function, NULL, 0, &result));
  CHECK_INT(result.v_int64, 1000);
  CHECK_INT(called, 2);
  /* through the cell, as generated code does */
  result = any_none();
  CHECK_OK(CELL(TVMFFIFunctionCell, function)->safe_call(function, args, 2, &result));
  CHECK_INT(result.v_int64, 1021);
  CHECK_INT(deleted, 0);
  CHECK_OK(TVMFFIObjectDecRef(function));
  CHECK_INT(deleted, 1);
}

static void test_error_of_callee(void) {
  TVMFFIAny arg = any_float(1.5);
  TVMFFIAny result = any_none();
  TVMFFIObjectHandle function = make(fails, NULL);
  CHECK_ERROR_TEXT(TVMFFIFunctionCall(function, NULL, 0, &result), "KeyError", "on purpose");
  CHECK_INT(result.type_index, kTVMFFINone);
  CHECK_OK(TVMFFIObjectDecRef(function));
  function = make(add_all, NULL);
  CHECK_ERROR_TEXT(TVMFFIFunctionCall(function, &arg, 1, &result), "TypeError", "integers");
  CHECK_OK(TVMFFIObjectDecRef(function));
}

static void test_call_within_call(void) {
  TVMFFIAny args[4];
  TVMFFIAny result = any_none();
  TVMFFIObjectHandle outer = make(apply, NULL);
  TVMFFIObjectHandle inner = make(add_all, NULL);
  TVMFFIObjectHandle wrong = make(fails, NULL);
  args[0] = any_object(outer);
  args[1] = any_object(outer);
  args[2] = any_object(inner);
  args[3] = any_int(7);
  CHECK_OK(TVMFFIFunctionCall(outer, args, 4, &result));
  CHECK_INT(result.v_int64, 7);
  args[2] = any_object(wrong);
  result = any_none();
  CHECK_ERROR(TVMFFIFunctionCall(outer, args, 4, &result), "KeyError");
  TVMFFIObjectDecRef(outer);
  TVMFFIObjectDecRef(inner);
  TVMFFIObjectDecRef(wrong);
}

/* The result slot may contain anything but an object. */
static void test_garbage_results(void) {
  int32_t kind;
  TVMFFIAny arg = any_text("a text that does not fit the small form");
  TVMFFIObjectHandle echo = global_function("ffi.String");
  TVMFFIObjectHandle array = global_function("ffi.Array");
  TVMFFIObjectHandle own = make(add_all, NULL);
  CHECK(echo != NULL && array != NULL);
  for (kind = -3; kind < kTVMFFIStaticObjectBegin; kind++) {
    TVMFFIAny result = any_garbage(kind);
    CHECK_OK(TVMFFIFunctionCall(echo, &arg, 1, &result));
    CHECK(any_is_string(&result, "a text that does not fit the small form"));
    CHECK_INT(result.zero_padding, 0);
    release_any(&result);
    result = any_garbage(kind);
    CHECK_OK(TVMFFIFunctionCall(array, NULL, 0, &result));
    CHECK_INT(result.type_index, kTVMFFIArray);
    release_any(&result);
    result = any_garbage(kind);
    CHECK_OK(TVMFFIFunctionCall(own, NULL, 0, &result));
    CHECK_INT(result.v_int64, 0);
  }
  TVMFFIObjectDecRef(echo);
  TVMFFIObjectDecRef(array);
  TVMFFIObjectDecRef(own);
}

static void test_owned_values(void) {
  char long_text[] = "longer than seven bytes";
  TVMFFIByteArray span = bytes_of_length(long_text, 6); /* no terminator at the end */
  TVMFFIAny in;
  TVMFFIAny out;
  TVMFFIObjectHandle function = make(add_all, NULL);

  in = any_int(-5);
  out = any_none();
  CHECK_OK(TVMFFIAnyViewToOwnedAny(&in, &out));
  CHECK(any_same(&in, &out));
  in = any_float(0.5);
  CHECK_OK(TVMFFIAnyViewToOwnedAny(&in, &out));
  CHECK(any_same(&in, &out));
  in = any_none();
  CHECK_OK(TVMFFIAnyViewToOwnedAny(&in, &out));
  CHECK(any_same(&in, &out));

  in = any_text("short");
  out = any_garbage(4);
  CHECK_OK(TVMFFIAnyViewToOwnedAny(&in, &out));
  CHECK_INT(out.type_index, kTVMFFISmallStr);
  CHECK(any_is_string(&out, "short"));
  in = any_text(long_text);
  CHECK_OK(TVMFFIAnyViewToOwnedAny(&in, &out));
  CHECK_INT(out.type_index, kTVMFFIStr);
  CHECK(any_is_string(&out, long_text));
  CHECK(CELL(TVMFFIByteArray, out.v_obj)->data != long_text);
  release_any(&out);

  in = any_bytes(&span);
  CHECK_OK(TVMFFIAnyViewToOwnedAny(&in, &out));
  CHECK_INT(out.type_index, kTVMFFISmallBytes);
  CHECK(any_is_string(&out, "longer"));

  in = any_object(function);
  CHECK_OK(TVMFFIAnyViewToOwnedAny(&in, &out));
  CHECK(out.v_obj == (TVMFFIObject*)function);
  CHECK_INT(strong_count(function), 2);
  release_any(&out);
  CHECK_INT(strong_count(function), 1);

  /* an r-value reference transfers its object and becomes null */
  {
    TVMFFIObject* slot = (TVMFFIObject*)function;
    in = any_none();
    in.type_index = kTVMFFIObjectRValueRef;
    in.v_ptr = &slot;
    CHECK_OK(TVMFFIAnyViewToOwnedAny(&in, &out));
    CHECK(slot == NULL);
    CHECK(out.v_obj == (TVMFFIObject*)function);
    CHECK_INT(out.type_index, kTVMFFIFunction);
    CHECK_INT(strong_count(function), 1);
    release_any(&out);
  }
}

static void test_global_table(void) {
  TVMFFIByteArray name = bytes_of("test.function.one");
  TVMFFIByteArray other = bytes_of("test.function.missing");
  TVMFFIObjectHandle function = make(add_all, NULL);
  TVMFFIObjectHandle replacement = make(fails, NULL);
  TVMFFIObjectHandle found = UNTOUCHED;
  TVMFFIAny arg;
  TVMFFIAny result;
  deleted = 0;

  CHECK_OK(TVMFFIFunctionGetGlobal(&other, &found));
  CHECK(found == NULL);
  CHECK_OK(TVMFFIFunctionSetGlobal(&name, function, 0));
  CHECK_INT(strong_count(function), 2);
  CHECK_OK(TVMFFIFunctionGetGlobal(&name, &found));
  CHECK(found == function);
  CHECK_INT(strong_count(function), 3);
  TVMFFIObjectDecRef(found);

  CHECK_ERROR_TEXT(TVMFFIFunctionSetGlobal(&name, replacement, 0), "RuntimeError",
                   "Global Function `test.function.one` is already registered");
  CHECK_INT(strong_count(replacement), 1);
  CHECK_OK(TVMFFIFunctionSetGlobal(&name, replacement, 1));
  CHECK_OK(TVMFFIFunctionGetGlobal(&name, &found));
  CHECK(found == replacement);
  TVMFFIObjectDecRef(found);

  arg = any_text("test.function.one");
  CHECK_OK(call_global("ffi.FunctionRemoveGlobal", &arg, 1, &result));
  CHECK_INT(result.v_int64, 1);
  CHECK_OK(call_global("ffi.FunctionRemoveGlobal", &arg, 1, &result));
  CHECK_INT(result.v_int64, 0);
  found = UNTOUCHED;
  CHECK_OK(TVMFFIFunctionGetGlobal(&name, &found));
  CHECK(found == NULL);
  CHECK_OK(TVMFFIFunctionSetGlobal(&name, function, 0));
  CHECK_OK(TVMFFIFunctionGetGlobal(&name, &found));
  CHECK(found == function);
  TVMFFIObjectDecRef(found);
  TVMFFIObjectDecRef(function);
  TVMFFIObjectDecRef(replacement);
  CHECK_OK(call_global("ffi.FunctionRemoveGlobal", &arg, 1, &result));
}

static void test_method_info(void) {
  TVMFFIMethodInfo info;
  TVMFFIObjectHandle function = make(add_all, NULL);
  TVMFFIObjectHandle other = make(fails, NULL);
  TVMFFIObjectHandle found = NULL;
  TVMFFIAny arg = any_text("test.function.documented");
  TVMFFIAny result;
  memset(&info, 0, sizeof(info));
  info.name = bytes_of_length("test.function.documentedXXX", 24); /* no terminator */
  info.doc = bytes_of("Adds numbers.");
  info.metadata = bytes_of("{\"type_schema\":\"{}\"}");
  info.flags = kTVMFFIFieldFlagBitMaskIsStaticMethod;
  info.method = any_object(function);
  CHECK_OK(TVMFFIFunctionSetGlobalFromMethodInfo(&info, 0));
  info.method = any_object(other);
  CHECK_ERROR_TEXT(TVMFFIFunctionSetGlobalFromMethodInfo(&info, 0), "RuntimeError",
                   "Global Function `test.function.documented` is already registered");
  info.method = any_object(function);
  CHECK_OK(TVMFFIFunctionSetGlobalFromMethodInfo(&info, 1));
  found = global_function("test.function.documented");
  CHECK(found == function);
  TVMFFIObjectDecRef(found);
  CHECK_OK(call_global("ffi.GetGlobalFuncMetadata", &arg, 1, &result));
  CHECK(any_is_string(&result, "{\"type_schema\":\"{}\"}"));
  release_any(&result);
  CHECK_OK(call_global("ffi.FunctionRemoveGlobal", &arg, 1, &result));
  TVMFFIObjectDecRef(function);
  TVMFFIObjectDecRef(other);
}

static void test_listing(void) {
  TVMFFIAny list;
  TVMFFIAny arg = any_int(-1);
  TVMFFIAny result = any_none();
  int64_t count;
  int64_t i;
  int found = 0;
  CHECK_OK(call_global("ffi.FunctionListGlobalNamesFunctor", NULL, 0, &list));
  CHECK_OK(TVMFFIFunctionCall(list.v_obj, &arg, 1, &result));
  count = result.v_int64;
  CHECK(count >= 40);
  for (i = 0; i < count; i++) {
    arg = any_int(i);
    result = any_none();
    if (!CHECK_OK(TVMFFIFunctionCall(list.v_obj, &arg, 1, &result))) {
      break;
    }
    found += any_is_string(&result, "ffi.FunctionListGlobalNamesFunctor");
    release_any(&result);
  }
  CHECK_INT(found, 1);
  arg = any_int(count);
  result = any_none();
  CHECK_ERROR(TVMFFIFunctionCall(list.v_obj, &arg, 1, &result), "IndexError");
  release_any(&list);
}

/* Errors of the typed built-in functions. */
static void test_wrong_arguments(void) {
  TVMFFIAny args[3];
  TVMFFIAny result;
  args[0] = any_int(1);
  args[1] = any_int(2);
  args[2] = any_int(3);
  CHECK_ERROR_TEXT(call_global("ffi.ArraySize", args, 3, &result), "TypeError",
                   "Expected 1 but got 3 arguments");
  CHECK_INT(result.type_index, kTVMFFINone);
  CHECK_ERROR_TEXT(call_global("ffi.ArraySize", args, 1, &result), "TypeError",
                   "Expected `ffi.Array` but got `int`");
  CHECK_ERROR_TEXT(call_global("ffi.ArraySize", NULL, 0, &result), "TypeError",
                   "Expected 1 but got 0 arguments");
}

static void test_bad_creation(void) {
  TVMFFIObjectHandle function = UNTOUCHED;
  deleted = 0;
  CHECK_ERROR(TVMFFIFunctionCreate(NULL, NULL, count_deleted, &function), "ValueError");
  CHECK(function == UNTOUCHED);
  CHECK_ERROR(TVMFFIFunctionCreate(NULL, add_all, count_deleted, NULL), "ValueError");
  CHECK_INT(deleted, 0);
  census.fail_in = 1;
  CHECK_ERROR(TVMFFIFunctionCreate(NULL, add_all, count_deleted, &function), "MemoryError");
  CHECK(function == UNTOUCHED);
  CHECK_INT(deleted, 0);
  census.fail_in = 0;
}

static void test_bad_calls(void) {
  TVMFFIAny arg = any_int(1);
  TVMFFIAny result = any_none();
  TVMFFIAny text = any_none();
  TVMFFIByteArray bytes = bytes_of("an object that is no function");
  TVMFFIObjectHandle function = make(add_all, NULL);
  TVMFFIObjectHandle builtin = global_function("ffi.Array");
  TVMFFIObjectHandle typed = global_function("ffi.ArraySize");
  static const int32_t counts[] = {-1, -2, INT_MIN};
  size_t i;
  called = 0;
  CHECK_ERROR(TVMFFIFunctionCall(NULL, &arg, 1, &result), "ValueError");
  CHECK_ERROR(TVMFFIFunctionCall(function, NULL, 1, &result), "ValueError");
  CHECK_ERROR(TVMFFIFunctionCall(builtin, NULL, 1, &result), "ValueError");
  CHECK_ERROR(TVMFFIFunctionCall(typed, NULL, 1, &result), "ValueError");
  CHECK_ERROR(TVMFFIFunctionCall(function, &arg, 1, NULL), "ValueError");
  CHECK_ERROR(TVMFFIFunctionCall(builtin, &arg, 1, NULL), "ValueError");
  for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
    CHECK_ERROR(TVMFFIFunctionCall(function, &arg, counts[i], &result), "ValueError");
    CHECK_ERROR(TVMFFIFunctionCall(builtin, &arg, counts[i], &result), "ValueError");
    CHECK_ERROR(TVMFFIFunctionCall(typed, &arg, counts[i], &result), "ValueError");
    /* the cell's entry point, which callers use without TVMFFIFunctionCall */
    CHECK_ERROR(CELL(TVMFFIFunctionCell, builtin)->safe_call(builtin, &arg, counts[i], &result),
                "ValueError");
    CHECK_INT(result.type_index, kTVMFFINone);
  }
  CHECK_INT(called, 0);
  CHECK_OK(TVMFFIStringFromByteArray(&bytes, &text));
  CHECK_ERROR(TVMFFIFunctionCall(text.v_obj, &arg, 1, &result), "TypeError");
  CHECK_INT(result.type_index, kTVMFFINone);
  release_any(&text);
  TVMFFIObjectDecRef(function);
  TVMFFIObjectDecRef(builtin);
  TVMFFIObjectDecRef(typed);
}

/* Checks that a value cannot become owned, and that the out-parameter stays unchanged. */
static void refuses_to_own(const TVMFFIAny* value, const char* what, long number) {
  TVMFFIAny out = any_int(77);
  TVMFFIAny before = out;
  if (!CHECK_FAILS(TVMFFIAnyViewToOwnedAny(value, &out)) || !CHECK(any_same(&out, &before))) {
    printf("  %s %ld\n", what, number);
  }
}

/* Calls built-in functions with such a value as both arguments: any outcome but a crash is
 * correct. */
static void survives_calls(const TVMFFIAny* value) {
  static const char* const functions[] = {"ffi.Array", "ffi.ArraySize",    "ffi.ReprPrint",
                                          "ffi.Map",   "ffi.RecursiveHash", "ffi.RecursiveEq",
                                          "ffi.List",  "ffi.json.Stringify", "ffi.String"};
  size_t i;
  for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
    TVMFFIAny args[2];
    TVMFFIAny result;
    args[0] = *value;
    args[1] = *value;
    if (call_global(functions[i], args, 2, &result) == -1 && !CHECK(raised_is(NULL, NULL))) {
      printf("  %s of type index %d\n", functions[i], (int)value->type_index);
    }
    release_any(&result);
  }
}

/* Invalid arguments: types that do not exist, null objects and null pointers. */
static void test_bad_arguments(void) {
  static const int32_t unknown[] = {INT_MIN, -2, -1, 14, 20, 63};
  static const int32_t objects[] = {64, 65, 71, 72, 200};
  static const int32_t pointers[] = {kTVMFFIRawStr, kTVMFFIByteArrayPtr, kTVMFFIObjectRValueRef};
  size_t i;
  TVMFFIAny value = any_none();
  TVMFFIAny out = any_int(77);
  TVMFFIAny before = out;
  for (i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
    value.type_index = unknown[i];
    refuses_to_own(&value, "type index", unknown[i]);
    survives_calls(&value);
  }
  for (i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
    value.type_index = objects[i];
    refuses_to_own(&value, "null object of type index", objects[i]);
    survives_calls(&value);
  }
  for (i = 0; i < sizeof(pointers) / sizeof(pointers[0]); i++) {
    value.type_index = pointers[i];
    refuses_to_own(&value, "null pointer of type index", pointers[i]);
    survives_calls(&value);
  }
  value.type_index = kTVMFFIDLTensorPtr;
  survives_calls(&value);
  /* small strings that claim more bytes than they have */
  for (i = 8; i < 64; i += 11) {
    value = any_none();
    value.type_index = i % 2 == 0 ? kTVMFFISmallStr : kTVMFFISmallBytes;
    value.small_str_len = (uint32_t)i;
    refuses_to_own(&value, "small string of length", (long)i);
    survives_calls(&value);
  }
  CHECK_ERROR(TVMFFIAnyViewToOwnedAny(NULL, &out), "ValueError");
  CHECK_ERROR(TVMFFIAnyViewToOwnedAny(&before, NULL), "ValueError");
  CHECK(any_same(&out, &before));
  value = any_text("text that needs an object of its own");
  census.fail_in = 1;
  CHECK_ERROR(TVMFFIAnyViewToOwnedAny(&value, &out), "MemoryError");
  CHECK(any_same(&out, &before));
}

static void test_bad_global_names(void) {
  TVMFFIByteArray name = bytes_of("test.function.bad");
  TVMFFIByteArray no_data = bytes_of_length(NULL, 5);
  TVMFFIByteArray huge = bytes_of_length("x", (size_t)-1);
  TVMFFIByteArray large = bytes_of_length("x", ((size_t)-1) / 2 + 1);
  TVMFFIByteArray with_nul = bytes_of_length("a\0b", 3);
  TVMFFIByteArray prefix = bytes_of("a");
  TVMFFIByteArray wrong_text = bytes_of("an object that is no function");
  TVMFFIByteArray not_utf8 = bytes_of("test.\xff\xfe");
  TVMFFIObjectHandle function = make(add_all, NULL);
  TVMFFIObjectHandle found = UNTOUCHED;
  TVMFFIAny text = any_none();
  CHECK_ERROR(TVMFFIFunctionSetGlobal(NULL, function, 0), "ValueError");
  CHECK_ERROR(TVMFFIFunctionSetGlobal(&name, NULL, 0), "ValueError");
  CHECK_ERROR(TVMFFIFunctionSetGlobal(&no_data, function, 0), "ValueError");
  CHECK_ERROR(TVMFFIFunctionSetGlobal(&huge, function, 0), "ValueError");
  CHECK_ERROR(TVMFFIFunctionSetGlobal(&large, function, 0), "ValueError");
  CHECK_ERROR(TVMFFIFunctionGetGlobal(NULL, &found), "ValueError");
  CHECK_ERROR(TVMFFIFunctionGetGlobal(&no_data, &found), "ValueError");
  CHECK_ERROR(TVMFFIFunctionGetGlobal(&huge, &found), "ValueError");
  CHECK_ERROR(TVMFFIFunctionGetGlobal(&large, &found), "ValueError");
  CHECK(found == UNTOUCHED);
  CHECK_ERROR(TVMFFIFunctionGetGlobal(&name, NULL), "ValueError");
  CHECK_OK(TVMFFIStringFromByteArray(&wrong_text, &text));
  CHECK_ERROR(TVMFFIFunctionSetGlobal(&name, text.v_obj, 0), "TypeError");
  release_any(&text);
  CHECK_OK(TVMFFIFunctionGetGlobal(&name, &found));
  CHECK(found == NULL);
  CHECK_INT(strong_count(function), 1);
  /* names are byte strings: NUL and invalid UTF-8 are allowed */
  CHECK_OK(TVMFFIFunctionSetGlobal(&with_nul, function, 1));
  CHECK_OK(TVMFFIFunctionGetGlobal(&prefix, &found));
  CHECK(found == NULL);
  CHECK_OK(TVMFFIFunctionGetGlobal(&with_nul, &found));
  CHECK(found == function);
  TVMFFIObjectDecRef(found);
  found = UNTOUCHED;
  CHECK_OK(TVMFFIFunctionGetGlobal(&not_utf8, &found));
  CHECK(found == NULL);
  TVMFFIObjectDecRef(function); /* the table keeps a reference */
}

static void test_bad_method_info(void) {
  TVMFFIMethodInfo info;
  TVMFFIObjectHandle function = make(add_all, NULL);
  TVMFFIObjectHandle found = UNTOUCHED;
  TVMFFIByteArray name = bytes_of("test.function.bad_info");
  CHECK_ERROR(TVMFFIFunctionSetGlobalFromMethodInfo(NULL, 0), "ValueError");
  memset(&info, 0, sizeof(info));
  info.name = name;
  CHECK_ERROR(TVMFFIFunctionSetGlobalFromMethodInfo(&info, 0), "TypeError"); /* method is None */
  info.method = any_int(1);
  CHECK_ERROR(TVMFFIFunctionSetGlobalFromMethodInfo(&info, 0), "TypeError");
  info.method = any_none();
  info.method.type_index = kTVMFFIFunction; /* null function */
  CHECK_FAILS(TVMFFIFunctionSetGlobalFromMethodInfo(&info, 0));
  info.method = any_object(function);
  info.name = bytes_of_length(NULL, 3);
  CHECK_ERROR(TVMFFIFunctionSetGlobalFromMethodInfo(&info, 0), "ValueError");
  info.name = name;
  info.doc = bytes_of_length(NULL, 3);
  CHECK_ERROR(TVMFFIFunctionSetGlobalFromMethodInfo(&info, 0), "ValueError");
  info.doc = bytes_of_length("x", (size_t)-1);
  CHECK_ERROR(TVMFFIFunctionSetGlobalFromMethodInfo(&info, 0), "ValueError");
  info.doc = bytes_of("");
  info.metadata = bytes_of_length(NULL, 3);
  CHECK_ERROR(TVMFFIFunctionSetGlobalFromMethodInfo(&info, 0), "ValueError");
  CHECK_OK(TVMFFIFunctionGetGlobal(&name, &found));
  CHECK(found == NULL);
  CHECK_INT(strong_count(function), 1);
  TVMFFIObjectDecRef(function);
}

/* A callee that breaks the contract: fails without raising an error, or returns an invalid
 * status. */
static int fails_silently(void* self, const TVMFFIAny* args, int32_t num_args,
                          TVMFFIAny* result) {
  (void)self;
  (void)args;
  (void)num_args;
  (void)result;
  return -1;
}

static void test_silent_failure(void) {
  TVMFFIAny result = any_none();
  TVMFFIObjectHandle function = make(fails_silently, NULL);
  TVMFFIObjectHandle error = NULL;
  CHECK_INT(TVMFFIFunctionCall(function, NULL, 0, &result), -1);
  TVMFFIErrorMoveFromRaised(&error);
  if (error != NULL) {
    TVMFFIObjectDecRef(error);
  }
  TVMFFIObjectDecRef(function);
}

int main(void) {
  census_install();
  RUN_BALANCED(test_create_and_call);
  RUN_BALANCED(test_error_of_callee);
  RUN_BALANCED(test_call_within_call);
  RUN_BALANCED(test_garbage_results);
  RUN_BALANCED(test_owned_values);
  RUN(test_global_table);
  RUN(test_method_info);
  RUN_BALANCED(test_listing);
  RUN_BALANCED(test_wrong_arguments);
  if (bad_input()) {
    RUN_BALANCED(test_bad_creation);
    RUN_BALANCED(test_bad_calls);
    RUN_BALANCED(test_bad_arguments);
    RUN(test_bad_global_names);
    RUN_BALANCED(test_bad_method_info);
    RUN_BALANCED(test_silent_failure);
  }
  return check_report("function");
}
