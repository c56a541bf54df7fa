/* Functions shared by the profile `minimal` and the whole library: runs with either. */
#include "../../conformance/c/check.h"

static int deleted;
static int made;
static int made_value;

static void count_deleted(void* self) { *(int*)self += 1; }

static int add_all(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  int64_t sum = *(int*)self;
  int32_t i;
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

static TVMFFIObjectHandle make(void) {
  TVMFFIObjectHandle function = NULL;
  deleted = 0;
  CHECK_OK(TVMFFIFunctionCreate(&deleted, add_all, count_deleted, &function));
  return function;
}

static void test_version(void) {
  TVMFFIVersion version;
  TVMFFIGetVersion(&version);
  CHECK_INT(version.major, TVM_FFI_VERSION_MAJOR);
  CHECK_INT(version.minor, TVM_FFI_VERSION_MINOR);
  CHECK_INT(version.patch, TVM_FFI_VERSION_PATCH);
  TVMFFIGetVersion(NULL);
}

static void test_functions(void) {
  TVMFFIObjectHandle function = make();
  TVMFFIAny args[2];
  TVMFFIAny result = any_none();
  args[0] = any_int(20);
  args[1] = any_int(22);
  CHECK_INT(((TVMFFIObject*)function)->type_index, kTVMFFIFunction);
  CHECK(CELL(TVMFFIFunctionCell, function)->cpp_call == NULL);
  CHECK_OK(TVMFFIFunctionCall(function, args, 2, &result));
  CHECK_INT(result.v_int64, 42);
  result = any_none();
  CHECK_OK(TVMFFIFunctionCall(function, NULL, 0, &result));
  CHECK_INT(result.v_int64, 0);
  result = any_none();
  CHECK_OK(CELL(TVMFFIFunctionCell, function)->safe_call(function, args, 1, &result));
  CHECK_INT(result.v_int64, 20);
  args[1] = any_float(1.5);
  CHECK_ERROR_TEXT(TVMFFIFunctionCall(function, args, 2, &result), "TypeError", "integers");
  CHECK_ERROR(TVMFFIFunctionCall(NULL, args, 1, &result), "ValueError");
  CHECK_ERROR(TVMFFIFunctionCall(function, NULL, 1, &result), "ValueError");
  CHECK_ERROR(TVMFFIFunctionCall(function, args, -1, &result), "ValueError");
  CHECK_ERROR(TVMFFIFunctionCall(function, args, 1, NULL), "ValueError");
  CHECK_OK(TVMFFIObjectIncRef(function));
  CHECK_INT(strong_count(function), 2);
  CHECK_OK(TVMFFIObjectDecRef(function));
  CHECK_INT(deleted, 0);
  CHECK_OK(TVMFFIObjectDecRef(function));
  CHECK_INT(deleted, 1);
  CHECK_ERROR(TVMFFIObjectIncRef(NULL), "ValueError");
  CHECK_ERROR(TVMFFIObjectDecRef(NULL), "ValueError");
  function = UNTOUCHED;
  CHECK_ERROR(TVMFFIFunctionCreate(NULL, NULL, NULL, &function), "ValueError");
  CHECK(function == UNTOUCHED);
  CHECK_ERROR(TVMFFIFunctionCreate(NULL, add_all, NULL, NULL), "ValueError");
}

static void test_weak_reference(void) {
  TVMFFIObject* function = (TVMFFIObject*)make();
  function->combined_ref_count += (uint64_t)1 << 32;
  CHECK_OK(TVMFFIObjectDecRef(function));
  CHECK_INT(deleted, 1);
  CHECK_INT(function->combined_ref_count >> 32, 1);
  function->deleter(function, kTVMFFIObjectDeleterFlagBitMaskWeak);
  CHECK_INT(deleted, 1);
}

static void test_global_names(void) {
  TVMFFIObjectHandle function = make();
  TVMFFIObjectHandle other;
  TVMFFIObjectHandle found = UNTOUCHED;
  TVMFFIByteArray name = bytes_of("minimal.one");
  TVMFFIByteArray longer = bytes_of("minimal.one.two");
  TVMFFIByteArray empty = bytes_of_length(NULL, 0);
  TVMFFIByteArray no_data = bytes_of_length(NULL, 3);
  TVMFFIObjectHandle error = NULL;
  CHECK_OK(TVMFFIFunctionGetGlobal(&name, &found));
  CHECK(found == NULL);
  CHECK_OK(TVMFFIFunctionSetGlobal(&name, function, 0));
  CHECK_INT(strong_count(function), 2);
  CHECK_OK(TVMFFIFunctionGetGlobal(&name, &found));
  CHECK(found == function);
  CHECK_INT(strong_count(function), 3);
  TVMFFIObjectDecRef(found);
  CHECK_OK(TVMFFIFunctionGetGlobal(&longer, &found));
  CHECK(found == NULL);
  CHECK_OK(TVMFFIFunctionGetGlobal(&empty, &found));
  CHECK(found == NULL);
  CHECK_OK(TVMFFIFunctionCreate(&made, add_all, NULL, &other));
  CHECK_ERROR(TVMFFIFunctionSetGlobal(&name, other, 0), "RuntimeError");
  CHECK_INT(strong_count(other), 1);
  CHECK_INT(strong_count(function), 2);
  TVMFFIObjectDecRef(function);
  CHECK_INT(deleted, 0);
  CHECK_OK(TVMFFIFunctionSetGlobal(&name, other, 1));
  CHECK_INT(deleted, 1);
  CHECK_OK(TVMFFIFunctionGetGlobal(&name, &found));
  CHECK(found == other);
  TVMFFIObjectDecRef(found);
  found = UNTOUCHED;
  CHECK_ERROR(TVMFFIFunctionGetGlobal(NULL, &found), "ValueError");
  CHECK_ERROR(TVMFFIFunctionGetGlobal(&no_data, &found), "ValueError");
  CHECK_ERROR(TVMFFIFunctionGetGlobal(&name, NULL), "ValueError");
  CHECK(found == UNTOUCHED);
  CHECK_ERROR(TVMFFIFunctionSetGlobal(NULL, other, 1), "ValueError");
  CHECK_ERROR(TVMFFIFunctionSetGlobal(&name, NULL, 1), "ValueError");
  TVMFFIErrorSetRaisedFromCStr("KeyError", "not a function");
  TVMFFIErrorMoveFromRaised(&error);
  CHECK_ERROR(TVMFFIFunctionSetGlobal(&name, error, 1), "TypeError");
  TVMFFIObjectDecRef(error);
  TVMFFIObjectDecRef(other);
}

static void test_errors(void) {
  const char* parts[4];
  TVMFFIObjectHandle first = NULL;
  TVMFFIObjectHandle taken = UNTOUCHED;
  TVMFFIErrorCell* cell;
  TVMFFIErrorMoveFromRaised(&taken);
  CHECK(taken == NULL);
  parts[0] = "one ";
  parts[1] = NULL;
  parts[2] = "";
  parts[3] = "two";
  TVMFFIErrorSetRaisedFromCStrParts("ValueError", parts, 4);
  TVMFFIErrorMoveFromRaised(&first);
  cell = CELL(TVMFFIErrorCell, first);
  CHECK_INT(((TVMFFIObject*)first)->type_index, kTVMFFIError);
  CHECK(bytes_equal(&cell->kind, "ValueError"));
  CHECK(bytes_equal(&cell->message, "one two"));
  CHECK(cell->update_backtrace != NULL);
  CHECK(cell->cause_chain == NULL && cell->extra_context == NULL);
  cell->update_backtrace(first, &cell->message, kTVMFFIBacktraceUpdateModeAppend);
  TVMFFIErrorSetRaised(first);
  CHECK_INT(strong_count(first), 2);
  TVMFFIErrorMoveFromRaised(&taken);
  CHECK(taken == first);
  TVMFFIErrorSetRaised(first);
  TVMFFIErrorSetRaisedFromCStr("KeyError", "second");
  CHECK_INT(strong_count(first), 2);
  CHECK(raised_is("KeyError", "second"));
  TVMFFIObjectDecRef(taken);
  TVMFFIErrorSetRaised(first);
  TVMFFIErrorSetRaised(NULL);
  CHECK(nothing_raised());
  TVMFFIObjectDecRef(first);
  TVMFFIErrorSetRaisedFromCStr(NULL, NULL);
  CHECK(raised_is("RuntimeError", NULL));
  TVMFFIErrorSetRaisedFromCStrParts("KeyError", NULL, 3);
  CHECK(raised_is("KeyError", NULL));
  TVMFFIErrorSetRaisedFromCStrParts("KeyError", parts, -1);
  CHECK(raised_is("KeyError", NULL));
  first = make();
  TVMFFIErrorSetRaised(first);
  CHECK(raised_is("TypeError", NULL));
  TVMFFIObjectDecRef(first);
  TVMFFIErrorSetRaisedFromCStr("KeyError", "kept");
  TVMFFIErrorMoveFromRaised(NULL);
  CHECK(raised_is("KeyError", "kept"));
}

static void strings_of(int (*convert)(const TVMFFIByteArray*, TVMFFIAny*), int32_t small, int32_t large) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
  TVMFFIByteArray no_data = bytes_of_length(NULL, 8);
  TVMFFIByteArray input;
  TVMFFIAny out;
  TVMFFIAny before;
  size_t length;
  for (length = 0; length < sizeof(letters); length++) {
    input = bytes_of_length(letters, length);
    out = any_garbage(4);
    CHECK_OK(convert(&input, &out));
    if (length <= 7) {
      int i;
      CHECK_INT(out.type_index, small);
      CHECK_INT(out.small_str_len, length);
      for (i = (int)length; i < 8; i++) CHECK_INT(out.v_bytes[i], 0);
      CHECK(memcmp(out.v_bytes, letters, length) == 0);
    } else {
      TVMFFIByteArray* cell = CELL(TVMFFIByteArray, out.v_obj);
      CHECK_INT(out.type_index, large);
      CHECK_INT(out.zero_padding, 0);
      CHECK_INT(cell->size, length);
      CHECK(memcmp(cell->data, letters, length) == 0);
      CHECK_INT(cell->data[length], 0);
      CHECK_INT(strong_count(out.v_obj), 1);
    }
    release_any(&out);
  }
  out = any_int(41);
  before = out;
  CHECK_ERROR(convert(NULL, &out), "ValueError");
  CHECK_ERROR(convert(&no_data, &out), "ValueError");
  CHECK_ERROR(convert(&input, NULL), "ValueError");
  CHECK(any_same(&out, &before));
}

static void test_strings(void) {
  strings_of(TVMFFIStringFromByteArray, kTVMFFISmallStr, kTVMFFIStr);
  strings_of(TVMFFIBytesFromByteArray, kTVMFFISmallBytes, kTVMFFIBytes);
}

/* The text starts at each byte of the result. */
static void test_strings_in_place(void) {
  static const char letters[] = "abcdefghijklmnop";
  size_t start;
  size_t length;
  for (length = 0; length <= sizeof(TVMFFIAny); length++) {
    for (start = 0; start + length <= sizeof(TVMFFIAny); start++) {
      TVMFFIAny out = any_garbage(4);
      TVMFFIByteArray input = bytes_of_length((char*)&out + start, length);
      memcpy((char*)&out + start, letters, length);
      CHECK_OK(TVMFFIStringFromByteArray(&input, &out));
      if (length <= 7) {
        CHECK_INT(out.small_str_len, length);
        CHECK(memcmp(out.v_bytes, letters, length) == 0);
      } else {
        CHECK(memcmp(CELL(TVMFFIByteArray, out.v_obj)->data, letters, length) == 0);
      }
      release_any(&out);
    }
  }
}

static int make_handle(void** result) {
  made++;
  *result = &made_value;
  return 0;
}

static int make_fails(void** result) {
  (void)result;
  TVMFFIErrorSetRaisedFromCStr("KeyError", "cannot make it");
  return -1;
}

static int make_null(void** result) {
  *result = NULL;
  return 0;
}

static void* nested;

static int make_nested(void** result) {
  int status = TVMFFIHandleInitOnce(&nested, make_handle);
  *result = &made_value;
  return status;
}

static void* itself;

static int make_itself(void** result) {
  (void)result;
  return TVMFFIHandleInitOnce(&itself, make_itself);
}

static int release_handle(void* handle) {
  CHECK(handle == &made_value);
  return 0;
}

static void test_init_once(void) {
  void* handle = NULL;
  made = 0;
  CHECK_OK(TVMFFIHandleInitOnce(&handle, make_handle));
  CHECK_OK(TVMFFIHandleInitOnce(&handle, make_handle));
  CHECK(handle == &made_value);
  CHECK_INT(made, 1);
  CHECK_OK(TVMFFIHandleDeinitOnce(&handle, release_handle));
  CHECK(handle == NULL);
  CHECK_OK(TVMFFIHandleDeinitOnce(&handle, release_handle));
  CHECK_ERROR_TEXT(TVMFFIHandleInitOnce(&handle, make_fails), "KeyError", "cannot make it");
  CHECK_ERROR(TVMFFIHandleInitOnce(&handle, make_null), "RuntimeError");
  CHECK(handle == NULL);
  CHECK_OK(TVMFFIHandleInitOnce(&handle, make_nested));
  CHECK(handle == &made_value && nested == &made_value);
  CHECK_ERROR(TVMFFIHandleInitOnce(&itself, make_itself), "RuntimeError");
  CHECK(itself == NULL);
  CHECK_ERROR(TVMFFIHandleInitOnce(NULL, make_handle), "ValueError");
  CHECK_ERROR(TVMFFIHandleInitOnce(&itself, NULL), "ValueError");
  CHECK_ERROR(TVMFFIHandleDeinitOnce(NULL, release_handle), "ValueError");
  CHECK_ERROR(TVMFFIHandleDeinitOnce(&handle, NULL), "ValueError");
}

int main(void) {
  RUN(test_version);
  RUN(test_functions);
  RUN(test_weak_reference);
  RUN(test_global_names);
  RUN(test_errors);
  RUN(test_strings);
  RUN(test_strings_in_place);
  RUN(test_init_once);
  CHECK(nothing_raised());
  return check_report("both");
}
