/* Tensors: DLPack in and out, views. */
#include "check.h"

static int deleted;
static float data[64];

static void delete_managed(DLManagedTensor* self) {
  deleted++;
  free(self->dl_tensor.shape);
  free(self);
}

static void delete_versioned(DLManagedTensorVersioned* self) {
  deleted++;
  free(self->dl_tensor.shape);
  free(self);
}

static void fill(DLTensor* tensor, int with_strides) {
  int64_t* numbers = (int64_t*)malloc(4 * sizeof(int64_t));
  memset(tensor, 0, sizeof(*tensor));
  numbers[0] = 2;
  numbers[1] = 3;
  numbers[2] = 3;
  numbers[3] = 1;
  tensor->data = data;
  tensor->device.device_type = kDLCPU;
  tensor->ndim = 2;
  tensor->dtype.code = kDLFloat;
  tensor->dtype.bits = 32;
  tensor->dtype.lanes = 1;
  tensor->shape = numbers;
  tensor->strides = with_strides ? numbers + 2 : NULL;
}

static DLManagedTensor* managed(int with_strides) {
  DLManagedTensor* tensor = (DLManagedTensor*)calloc(1, sizeof(DLManagedTensor));
  fill(&tensor->dl_tensor, with_strides);
  tensor->deleter = delete_managed;
  return tensor;
}

static DLManagedTensorVersioned* versioned(int with_strides) {
  DLManagedTensorVersioned* tensor =
      (DLManagedTensorVersioned*)calloc(1, sizeof(DLManagedTensorVersioned));
  fill(&tensor->dl_tensor, with_strides);
  tensor->version.major = DLPACK_MAJOR_VERSION;
  tensor->version.minor = DLPACK_MINOR_VERSION;
  tensor->deleter = delete_versioned;
  return tensor;
}

static void check_content(TVMFFIObjectHandle object) {
  DLTensor* tensor = CELL(DLTensor, object);
  CHECK_INT(((TVMFFIObject*)object)->type_index, kTVMFFITensor);
  CHECK(tensor->data == data);
  CHECK_INT(tensor->ndim, 2);
  CHECK_INT(tensor->shape[0], 2);
  CHECK_INT(tensor->shape[1], 3);
  if (CHECK(tensor->strides != NULL)) {
    CHECK_INT(tensor->strides[0], 3);
    CHECK_INT(tensor->strides[1], 1);
  }
  CHECK_INT(tensor->dtype.bits, 32);
  CHECK_INT(tensor->device.device_type, kDLCPU);
  CHECK_INT(tensor->byte_offset, 0);
}

static void test_import(void) {
  int with_strides;
  for (with_strides = 0; with_strides < 2; with_strides++) {
    TVMFFIObjectHandle object = NULL;
    deleted = 0;
    CHECK_OK(TVMFFITensorFromDLPack(managed(with_strides), 0, 0, &object));
    check_content(object);
    CHECK_INT(deleted, 0);
    CHECK_OK(TVMFFIObjectDecRef(object));
    CHECK_INT(deleted, 1);
    CHECK_OK(TVMFFITensorFromDLPackVersioned(versioned(with_strides), 4, with_strides, &object));
    check_content(object);
    CHECK_OK(TVMFFIObjectDecRef(object));
    CHECK_INT(deleted, 2);
  }
}

static void test_export(void) {
  TVMFFIObjectHandle object = NULL;
  DLManagedTensor* out = NULL;
  DLManagedTensorVersioned* out_versioned = NULL;
  deleted = 0;
  CHECK_OK(TVMFFITensorFromDLPack(managed(1), 0, 0, &object));
  CHECK_OK(TVMFFITensorToDLPack(object, &out));
  CHECK_OK(TVMFFITensorToDLPackVersioned(object, &out_versioned));
  CHECK_INT(strong_count(object), 3);
  CHECK(out->dl_tensor.data == data);
  CHECK(out->dl_tensor.shape == CELL(DLTensor, object)->shape);
  CHECK_INT(out_versioned->version.major, DLPACK_MAJOR_VERSION);
  CHECK_INT(out_versioned->version.minor, DLPACK_MINOR_VERSION);
  CHECK_INT(out_versioned->flags, 0);
  CHECK_OK(TVMFFIObjectDecRef(object));
  out->deleter(out);
  CHECK_INT(deleted, 0);
  CHECK_INT(out_versioned->dl_tensor.shape[1], 3);
  out_versioned->deleter(out_versioned);
  CHECK_INT(deleted, 1);
}

/* Exports a tensor through DLPack and imports it again: a tensor over a tensor. */
static void test_round_trip(void) {
  TVMFFIObjectHandle first = NULL;
  TVMFFIObjectHandle second = NULL;
  DLManagedTensorVersioned* between = NULL;
  deleted = 0;
  CHECK_OK(TVMFFITensorFromDLPackVersioned(versioned(0), 0, 0, &first));
  CHECK_OK(TVMFFITensorToDLPackVersioned(first, &between));
  CHECK_OK(TVMFFIObjectDecRef(first));
  CHECK_OK(TVMFFITensorFromDLPackVersioned(between, 0, 1, &second));
  check_content(second);
  CHECK_OK(TVMFFIObjectDecRef(second));
  CHECK_INT(deleted, 1);
}

static void test_view(void) {
  TVMFFIObjectHandle source = NULL;
  TVMFFIObjectHandle view = NULL;
  int64_t shape[1];
  int64_t strides[1];
  DLTensor prototype;
  DLTensor* tensor;
  deleted = 0;
  CHECK_OK(TVMFFITensorFromDLPack(managed(1), 0, 0, &source));
  prototype = *CELL(DLTensor, source);
  shape[0] = 6;
  strides[0] = 1;
  prototype.ndim = 1;
  prototype.shape = shape;
  prototype.strides = strides;
  prototype.data = data;
  CHECK_OK(TVMFFITensorCreateUnsafeView(source, &prototype, &view));
  CHECK_INT(strong_count(source), 2);
  tensor = CELL(DLTensor, view);
  CHECK(tensor->shape != shape && tensor->strides != strides);
  CHECK_INT(tensor->shape[0], 6);
  CHECK_INT(tensor->strides[0], 1);
  CHECK(tensor->data == data);
  CHECK_OK(TVMFFIObjectDecRef(source));
  CHECK_INT(deleted, 0);
  CHECK_OK(TVMFFIObjectDecRef(view));
  CHECK_INT(deleted, 1);
}

static void test_scalar(void) {
  TVMFFIObjectHandle object = NULL;
  DLManagedTensor* tensor = managed(0);
  tensor->dl_tensor.ndim = 0;
  deleted = 0;
  CHECK_OK(TVMFFITensorFromDLPack(tensor, 4, 1, &object));
  CHECK_INT(CELL(DLTensor, object)->ndim, 0);
  CHECK_OK(TVMFFIObjectDecRef(object));
  CHECK_INT(deleted, 1);
}

static void test_without_deleter(void) {
  TVMFFIObjectHandle object = NULL;
  DLManagedTensor* tensor = managed(1);
  tensor->deleter = NULL;
  CHECK_OK(TVMFFITensorFromDLPack(tensor, 0, 0, &object));
  CHECK_OK(TVMFFIObjectDecRef(object));
  free(tensor->dl_tensor.shape);
  free(tensor);
}

/* A rejected tensor remains the caller's. */
static void test_requirements(void) {
  TVMFFIObjectHandle object = UNTOUCHED;
  DLManagedTensor* plain = managed(1);
  DLManagedTensorVersioned* other = versioned(1);
  deleted = 0;
  plain->dl_tensor.byte_offset = 4;
  other->dl_tensor.byte_offset = 4;
  CHECK_ERROR_TEXT(TVMFFITensorFromDLPack(plain, 4096, 0, &object), "RuntimeError",
                   "not aligned to 4096");
  CHECK_ERROR(TVMFFITensorFromDLPackVersioned(other, 4096, 0, &object), "RuntimeError");
  plain->dl_tensor.byte_offset = 0;
  other->dl_tensor.byte_offset = 0;
  plain->dl_tensor.strides[0] = 1;
  plain->dl_tensor.strides[1] = 2;
  other->dl_tensor.strides[0] = 1;
  other->dl_tensor.strides[1] = 2;
  CHECK_ERROR_TEXT(TVMFFITensorFromDLPack(plain, 0, 1, &object), "RuntimeError",
                   "not contiguous");
  CHECK_ERROR(TVMFFITensorFromDLPackVersioned(other, 0, 1, &object), "RuntimeError");
  other->flags = DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED;
  CHECK_ERROR(TVMFFITensorFromDLPackVersioned(other, 0, 0, &object), "RuntimeError");
  CHECK(object == UNTOUCHED);
  CHECK_INT(deleted, 0);
  delete_managed(plain);
  delete_versioned(other);
}

/* ---- bad input --------------------------------------------------------------------------- */

static void refuse_both(DLManagedTensor* plain, DLManagedTensorVersioned* other, int alignment,
                        int contiguous, const char* kind) {
  TVMFFIObjectHandle object = UNTOUCHED;
  CHECK_ERROR(TVMFFITensorFromDLPack(plain, alignment, contiguous, &object), kind);
  CHECK_ERROR(TVMFFITensorFromDLPackVersioned(other, alignment, contiguous, &object), kind);
  CHECK(object == UNTOUCHED);
  CHECK_INT(deleted, 0);
}

static void test_bad_import(void) {
  DLManagedTensor* plain = managed(1);
  DLManagedTensorVersioned* other = versioned(1);
  DLTensor good = plain->dl_tensor;
  DLTensor good_other = other->dl_tensor;
  TVMFFIObjectHandle object = UNTOUCHED;
  static const int counts[] = {-1, INT_MIN, INT_MAX};
  size_t i;
  deleted = 0;
  refuse_both(NULL, NULL, 0, 0, "ValueError");
  CHECK_ERROR(TVMFFITensorFromDLPack(plain, 0, 0, NULL), "ValueError");
  CHECK_ERROR(TVMFFITensorFromDLPackVersioned(other, 0, 0, NULL), "ValueError");
  refuse_both(plain, other, -1, 0, "ValueError");
  refuse_both(plain, other, INT_MIN, 0, "ValueError");
  for (i = 0; i < 3; i++) {
    plain->dl_tensor.ndim = counts[i];
    other->dl_tensor.ndim = counts[i];
    if (counts[i] < 0) {
      refuse_both(plain, other, 0, 0, "ValueError");
      refuse_both(plain, other, 0, 1, "ValueError");
    } else {
      /* strides for that many dimensions exceed the memory; the shape must not be read first */
      plain->dl_tensor.strides = NULL;
      other->dl_tensor.strides = NULL;
      plain->dl_tensor.shape = NULL;
      other->dl_tensor.shape = NULL;
      refuse_both(plain, other, 0, 0, NULL);
    }
    plain->dl_tensor = good;
    other->dl_tensor = good_other;
  }
  plain->dl_tensor.shape = NULL;
  other->dl_tensor.shape = NULL;
  refuse_both(plain, other, 0, 1, "ValueError");
  refuse_both(plain, other, 0, 0, "ValueError");
  plain->dl_tensor = good;
  other->dl_tensor = good_other;
  /* a later major version has another layout */
  other->version.major = DLPACK_MAJOR_VERSION + 1;
  if (TVMFFITensorFromDLPackVersioned(other, 0, 0, &object) == 0) {
    CHECK_OK(TVMFFIObjectDecRef(object));
    CHECK_INT(deleted, 1);
    deleted = 0;
    object = UNTOUCHED;
  } else {
    CHECK(raised_is(NULL, NULL));
    CHECK(object == UNTOUCHED);
    delete_versioned(other);
    deleted = 0;
  }
  census.fail_in = 1;
  CHECK_ERROR(TVMFFITensorFromDLPack(plain, 0, 0, &object), "MemoryError");
  CHECK(object == UNTOUCHED);
  census.fail_in = 0;
  CHECK_INT(deleted, 0);
  delete_managed(plain);
}

/* A shape whose product overflows is rejected, or accepted without computing with it. */
static void test_absurd_shape(void) {
  static const int64_t sizes[] = {-1, INT_MAX, 0};
  size_t i;
  for (i = 0; i < 3; i++) {
    int contiguous;
    for (contiguous = 0; contiguous < 2; contiguous++) {
      DLManagedTensor* plain = managed(0);
      TVMFFIObjectHandle object = UNTOUCHED;
      deleted = 0;
      plain->dl_tensor.shape[0] = sizes[i] * INT_MAX + (sizes[i] == INT_MAX ? INT_MAX : 0);
      plain->dl_tensor.shape[1] = sizes[i] * INT_MAX;
      if (TVMFFITensorFromDLPack(plain, 0, contiguous, &object) == 0) {
        CHECK_OK(TVMFFIObjectDecRef(object));
        CHECK_INT(deleted, 1);
      } else {
        CHECK(raised_is(NULL, NULL));
        CHECK(object == UNTOUCHED);
        CHECK_INT(deleted, 0);
        delete_managed(plain);
      }
    }
  }
}

static void test_bad_export(void) {
  DLManagedTensor* out = (DLManagedTensor*)UNTOUCHED;
  DLManagedTensorVersioned* out_versioned = (DLManagedTensorVersioned*)UNTOUCHED;
  TVMFFIObjectHandle object = NULL;
  TVMFFIAny text = any_none();
  TVMFFIByteArray long_text = bytes_of("a text that lives in an object");
  CHECK_OK(TVMFFIStringFromByteArray(&long_text, &text));
  CHECK_OK(TVMFFITensorFromDLPack(managed(1), 0, 0, &object));
  CHECK_ERROR(TVMFFITensorToDLPack(NULL, &out), "ValueError");
  CHECK_ERROR(TVMFFITensorToDLPack(object, NULL), "ValueError");
  CHECK_ERROR(TVMFFITensorToDLPack(text.v_obj, &out), "TypeError");
  CHECK_ERROR(TVMFFITensorToDLPackVersioned(NULL, &out_versioned), "ValueError");
  CHECK_ERROR(TVMFFITensorToDLPackVersioned(object, NULL), "ValueError");
  CHECK_ERROR(TVMFFITensorToDLPackVersioned(text.v_obj, &out_versioned), "TypeError");
  CHECK(out == (DLManagedTensor*)UNTOUCHED);
  CHECK(out_versioned == (DLManagedTensorVersioned*)UNTOUCHED);
  CHECK_INT(strong_count(object), 1);
  release_any(&text);
  CHECK_OK(TVMFFIObjectDecRef(object));
}

static void test_bad_view(void) {
  TVMFFIObjectHandle source = NULL;
  TVMFFIObjectHandle view = UNTOUCHED;
  TVMFFIAny text = any_none();
  TVMFFIByteArray long_text = bytes_of("a text that lives in an object");
  DLTensor prototype;
  CHECK_OK(TVMFFIStringFromByteArray(&long_text, &text));
  CHECK_OK(TVMFFITensorFromDLPack(managed(1), 0, 0, &source));
  prototype = *CELL(DLTensor, source);
  CHECK_ERROR(TVMFFITensorCreateUnsafeView(NULL, &prototype, &view), "ValueError");
  CHECK_ERROR(TVMFFITensorCreateUnsafeView(source, NULL, &view), "ValueError");
  CHECK_ERROR(TVMFFITensorCreateUnsafeView(source, &prototype, NULL), "ValueError");
  CHECK_ERROR(TVMFFITensorCreateUnsafeView(text.v_obj, &prototype, &view), "TypeError");
  prototype.ndim = -1;
  CHECK_ERROR(TVMFFITensorCreateUnsafeView(source, &prototype, &view), "ValueError");
  prototype.ndim = INT_MIN;
  CHECK_ERROR(TVMFFITensorCreateUnsafeView(source, &prototype, &view), "ValueError");
  prototype.ndim = 2;
  prototype.strides = NULL;
  CHECK_FAILS(TVMFFITensorCreateUnsafeView(source, &prototype, &view));
  prototype = *CELL(DLTensor, source);
  prototype.shape = NULL;
  CHECK_ERROR(TVMFFITensorCreateUnsafeView(source, &prototype, &view), "ValueError");
  prototype = *CELL(DLTensor, source);
  census.fail_in = 1;
  CHECK_ERROR(TVMFFITensorCreateUnsafeView(source, &prototype, &view), "MemoryError");
  census.fail_in = 0;
  CHECK(view == UNTOUCHED);
  CHECK_INT(strong_count(source), 1);
  release_any(&text);
  CHECK_OK(TVMFFIObjectDecRef(source));
}

int main(void) {
  census_install();
  RUN_BALANCED(test_import);
  RUN_BALANCED(test_export);
  RUN_BALANCED(test_round_trip);
  RUN_BALANCED(test_view);
  RUN_BALANCED(test_scalar);
  RUN_BALANCED(test_without_deleter);
  RUN_BALANCED(test_requirements);
  if (bad_input()) {
    RUN_BALANCED(test_bad_import);
    RUN_BALANCED(test_absurd_shape);
    RUN_BALANCED(test_bad_export);
    RUN_BALANCED(test_bad_view);
  }
  return check_report("tensor");
}
