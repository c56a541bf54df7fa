/* Version and reference counts, opaque objects. */
#include "check.h"

static int deleted;
static void* deleted_handle;

static void count_deleted(void* handle) {
  deleted++;
  deleted_handle = handle;
}

static void test_version(void) {
  TVMFFIVersion version;
  memset(&version, 0xff, sizeof(version));
  TVMFFIGetVersion(&version);
  CHECK_INT(version.major, TVM_FFI_VERSION_MAJOR);
  CHECK_INT(version.minor, TVM_FFI_VERSION_MINOR);
  CHECK_INT(version.patch, TVM_FFI_VERSION_PATCH);
  CHECK_INT(version.major, 0);
  CHECK_INT(version.minor, 1);
  CHECK_INT(version.patch, 16);
  if (bad_input()) {
    TVMFFIGetVersion(NULL);
  }
}

static void test_counts(void) {
  int resource = 0;
  TVMFFIObjectHandle object = NULL;
  TVMFFIObject* header;
  deleted = 0;
  if (!CHECK_OK(TVMFFIObjectCreateOpaque(&resource, kTVMFFIOpaquePyObject, count_deleted,
                                         &object))) {
    return;
  }
  header = (TVMFFIObject*)object;
  CHECK_INT(header->type_index, kTVMFFIOpaquePyObject);
  CHECK_INT(strong_count(object), 1);
  CHECK_INT(header->combined_ref_count >> 32, 1);
  CHECK(header->deleter != NULL);
  CHECK(CELL(TVMFFIOpaqueObjectCell, object)->handle == &resource);

  CHECK_OK(TVMFFIObjectIncRef(object));
  CHECK_INT(strong_count(object), 2);
  CHECK_OK(TVMFFIObjectDecRef(object));
  CHECK_INT(strong_count(object), 1);
  CHECK_INT(deleted, 0);
  CHECK_OK(TVMFFIObjectDecRef(object));
  CHECK_INT(deleted, 1);
  CHECK(deleted_handle == &resource);
}

static void test_opaque_without_deleter(void) {
  TVMFFIObjectHandle object = NULL;
  CHECK_OK(TVMFFIObjectCreateOpaque(NULL, kTVMFFIOpaquePyObject, NULL, &object));
  CHECK(CELL(TVMFFIOpaqueObjectCell, object)->handle == NULL);
  CHECK_OK(TVMFFIObjectDecRef(object));
}

/* When the strong count reaches zero while a weak reference exists, the content is destroyed, and
 * the storage stays. */
static void test_weak_outlives_strong(void) {
  int resource = 0;
  TVMFFIObjectHandle object = NULL;
  TVMFFIObject* header;
  void (*deleter)(void*, int);
  deleted = 0;
  CHECK_OK(TVMFFIObjectCreateOpaque(&resource, kTVMFFIOpaquePyObject, count_deleted, &object));
  header = (TVMFFIObject*)object;
  header->combined_ref_count += (uint64_t)1 << 32;
  deleter = header->deleter;
  CHECK_OK(TVMFFIObjectDecRef(object));
  CHECK_INT(deleted, 1);
  CHECK_INT(strong_count(object), 0);
  CHECK_INT(header->combined_ref_count >> 32, 1);
  deleter(object, kTVMFFIObjectDeleterFlagBitMaskWeak);
  CHECK_INT(deleted, 1);
}

static void test_unsupported_opaque_types(void) {
  static const int32_t indices[] = {-1,  0,  1,   13,  14,  20,   63,      64,      65,     68,
                                    73,  75, 78,  79,  100, 127,  128,     129,     100000, INT_MAX,
                                    INT_MIN};
  size_t i;
  deleted = 0;
  for (i = 0; i < sizeof(indices) / sizeof(indices[0]); i++) {
    TVMFFIObjectHandle object = UNTOUCHED;
    CHECK_ERROR(TVMFFIObjectCreateOpaque(NULL, indices[i], count_deleted, &object),
                "RuntimeError");
    CHECK(object == UNTOUCHED);
  }
  CHECK_INT(deleted, 0);
}

#define NESTED 30
static TVMFFIObjectHandle nested[NESTED];
static int numbers[NESTED];
static int ended;

/* A deleter may free data that the next object uses, since that object is destroyed with its last
 * reference. */
static void end_the_next(void* number) {
  int i = *(int*)number;
  if (i + 1 < NESTED) {
    CHECK_OK(TVMFFIObjectDecRef(nested[i + 1]));
    CHECK_INT(ended, NESTED - 1 - i);
  }
  ended++;
}

static void test_deleters_inside_each_other(void) {
  int i;
  ended = 0;
  for (i = 0; i < NESTED; i++) {
    numbers[i] = i;
    CHECK_OK(TVMFFIObjectCreateOpaque(&numbers[i], kTVMFFIOpaquePyObject, end_the_next, &nested[i]));
  }
  CHECK_OK(TVMFFIObjectDecRef(nested[0]));
  CHECK_INT(ended, NESTED);
}

static void test_null(void) {
  CHECK_ERROR(TVMFFIObjectIncRef(NULL), "ValueError");
  CHECK_ERROR(TVMFFIObjectDecRef(NULL), "ValueError");
  deleted = 0;
  CHECK_ERROR(TVMFFIObjectCreateOpaque(NULL, kTVMFFIOpaquePyObject, count_deleted, NULL),
              "ValueError");
  CHECK_INT(deleted, 0);
}

int main(void) {
  census_install();
  RUN_BALANCED(test_version);
  RUN_BALANCED(test_counts);
  RUN_BALANCED(test_opaque_without_deleter);
  RUN_BALANCED(test_weak_outlives_strong);
  RUN_BALANCED(test_deleters_inside_each_other);
  RUN_BALANCED(test_unsupported_opaque_types);
  if (bad_input()) {
    RUN_BALANCED(test_null);
  }
  return check_report("object");
}
