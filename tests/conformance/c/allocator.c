/* The allocator record: getting, setting, and an allocator that fails. */
#include "check.h"

static size_t asked_size;
static size_t asked_alignment;
static int32_t asked_type;
static void* asked_context;
static int context;

static void* recording(size_t size, size_t alignment, int32_t type_index, void* own) {
  asked_size = size;
  asked_alignment = alignment;
  asked_type = type_index;
  asked_context = own;
  return census_allocate(size, alignment, type_index, own);
}

static void* refusing(size_t size, size_t alignment, int32_t type_index, void* own) {
  (void)size;
  (void)alignment;
  (void)type_index;
  (void)own;
  return NULL;
}

static void* refusing_with_error(size_t size, size_t alignment, int32_t type_index, void* own) {
  (void)size;
  (void)alignment;
  (void)type_index;
  (void)own;
  TVMFFIErrorSetRaisedFromCStr("MemoryError", "the arena is full");
  return NULL;
}

static TVMFFICustomAllocator recorder = {recording, &context};
static TVMFFICustomAllocator refuser = {refusing, NULL};
static TVMFFICustomAllocator loud_refuser = {refusing_with_error, NULL};

static void test_get_and_set(void) {
  TVMFFICustomAllocator* original = TVMFFIGetCustomAllocator();
  CHECK(original != NULL);
  CHECK(original->allocate != NULL);
  CHECK(TVMFFIGetCustomAllocator() == original);
  CHECK_OK(TVMFFISetCustomAllocator(&recorder));
  CHECK(TVMFFIGetCustomAllocator() == &recorder);
  CHECK_OK(TVMFFISetCustomAllocator(NULL));
  CHECK(TVMFFIGetCustomAllocator() == original);
}

/* Memory of the built-in allocator can be used by a front end. */
static void test_builtin(void) {
  static const size_t sizes[] = {24, 25, 64, 4096};
  static const size_t alignments[] = {1, 8, 2 * sizeof(void*)};
  TVMFFICustomAllocator* builtin = TVMFFIGetCustomAllocator();
  size_t i;
  size_t j;
  for (i = 0; i < 4; i++) {
    for (j = 0; j < 3; j++) {
      char* body =
          (char*)builtin->allocate(sizes[i], alignments[j], kTVMFFIObject, builtin->context);
      TVMFFIObjectAllocHeader header;
      if (!CHECK(body != NULL)) {
        continue;
      }
      CHECK_INT((size_t)(uintptr_t)body % alignments[j], 0);
      memset(body, 0xff, sizes[i]);
      memcpy(&header, body - sizeof(header), sizeof(header));
      if (CHECK(header.delete_space != NULL)) {
        header.delete_space(body);
      }
    }
  }
}

static void test_custom_is_used(void) {
  TVMFFIByteArray text = bytes_of("a text that lives in an object");
  TVMFFIAny out = any_none();
  TVMFFIObjectHandle object = NULL;
  asked_type = 0;
  CHECK_OK(TVMFFISetCustomAllocator(&recorder));
  CHECK_OK(TVMFFIStringFromByteArray(&text, &out));
  CHECK_INT(asked_type, kTVMFFIStr);
  CHECK(asked_size >= sizeof(TVMFFIObject) + sizeof(TVMFFIByteArray) + text.size);
  CHECK(asked_alignment >= 8 && (asked_alignment & (asked_alignment - 1)) == 0);
  CHECK(asked_context == &context);
  CHECK_INT(census.live, 1);
  /* an object is freed by the allocator that created it */
  CHECK_OK(TVMFFISetCustomAllocator(NULL));
  CHECK_OK(TVMFFIObjectCreateOpaque(NULL, kTVMFFIOpaquePyObject, NULL, &object));
  CHECK_INT(census.live, 1);
  CHECK_OK(TVMFFISetCustomAllocator(&recorder));
  CHECK_OK(TVMFFIObjectDecRef(object));
  CHECK_INT(census.live, 1);
  CHECK_OK(TVMFFISetCustomAllocator(NULL));
  release_any(&out);
  CHECK_INT(census.live, 0);
}

/* Creates objects in every way, with an allocator that fails. */
static void refuse_everything(const char* text_wanted) {
  TVMFFIByteArray text = bytes_of("a text that lives in an object!!"); /* 32 bytes: four words */
  TVMFFIObjectHandle object = UNTOUCHED;
  TVMFFIAny any = any_int(9);
  TVMFFIAny before = any;
  TVMFFIAny raw = any_text("a text that lives in an object");
  TVMFFIAny args[2];
  TVMFFIAny result;
  DLDataType dtype;
  size_t i;
  static const char* const makers[] = {"ffi.Array", "ffi.List", "ffi.Map", "ffi.Dict",
                                       "ffi.Shape"};
  dtype.code = kDLFloat8_e4m3b11fnuz;
  dtype.bits = 8;
  dtype.lanes = 4;
  CHECK_ERROR_TEXT(
      TVMFFIObjectCreateOpaque(NULL, kTVMFFIOpaquePyObject, NULL, &object), "MemoryError",
      text_wanted);
  CHECK_ERROR_TEXT(TVMFFIStringFromByteArray(&text, &any), "MemoryError", text_wanted);
  CHECK_ERROR_TEXT(TVMFFIBytesFromByteArray(&text, &any), "MemoryError", text_wanted);
  CHECK_ERROR_TEXT(TVMFFIBigIntFromByteArray(&text, &any), "MemoryError", text_wanted);
  CHECK_ERROR_TEXT(TVMFFIDataTypeToString(&dtype, &any), "MemoryError", text_wanted);
  CHECK_ERROR_TEXT(TVMFFIAnyViewToOwnedAny(&raw, &any), "MemoryError", text_wanted);
  CHECK(object == UNTOUCHED);
  CHECK(any_same(&any, &before));
  args[0] = any_int(1);
  args[1] = any_int(2);
  for (i = 0; i < sizeof(makers) / sizeof(makers[0]); i++) {
    if (!CHECK_ERROR_TEXT(call_global(makers[i], args, 2, &result), "MemoryError",
                          text_wanted)) {
      printf("  %s\n", makers[i]);
      release_any(&result);
    }
    CHECK_INT(result.type_index, kTVMFFINone);
  }
  /* an error that needs an object */
  CHECK_ERROR(TVMFFIObjectIncRef(NULL), "MemoryError");
}

static void test_refusal(void) {
  CHECK_OK(TVMFFISetCustomAllocator(&refuser));
  refuse_everything(NULL);
  CHECK_OK(TVMFFISetCustomAllocator(NULL));
  /* the library works as before */
  test_get_and_set();
}

/* An allocator that raises an error when it fails: raising needs memory, too. */
static void test_refusal_with_error(void) {
  CHECK_OK(TVMFFISetCustomAllocator(&loud_refuser));
  refuse_everything(NULL);
  CHECK_OK(TVMFFISetCustomAllocator(NULL));
}

static void test_bad_record(void) {
  static TVMFFICustomAllocator without_function = {NULL, NULL};
  TVMFFICustomAllocator* before = TVMFFIGetCustomAllocator();
  CHECK_ERROR(TVMFFISetCustomAllocator(&without_function), "ValueError");
  CHECK(TVMFFIGetCustomAllocator() == before);
}

int main(void) {
  census_warm();
  RUN_BALANCED(test_get_and_set);
  RUN_BALANCED(test_builtin);
  if (bad_input()) {
    RUN_BALANCED(test_custom_is_used);
    RUN_BALANCED(test_refusal);
    RUN_BALANCED(test_refusal_with_error);
    RUN_BALANCED(test_bad_record);
  }
  return check_report("allocator");
}
