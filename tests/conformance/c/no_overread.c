/*
 * No input is read beyond its length: every input ends at the end of a page, and the next page is
 * not readable.
 */
#define _DEFAULT_SOURCE
#include "check.h"

#include <sys/mman.h>

static char* edge; /* first byte that is not readable */
static size_t page;

static void make_edge(void) {
  char* pages;
  page = (size_t)sysconf(_SC_PAGESIZE);
  pages = (char*)mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED || mprotect(pages + page, page, PROT_NONE) != 0) {
    perror("mmap");
    exit(2);
  }
  edge = pages + page;
}

/* Copies data to the end of the readable page. */
static void* at_edge(const void* data, size_t size) {
  memset(edge - page, 0x77, page - size);
  memcpy(edge - size, data, size);
  return edge - size;
}

static TVMFFIByteArray text_at_edge(const char* text) {
  return bytes_of_length((const char*)at_edge(text, strlen(text)), strlen(text));
}

static void test_strings(void) {
  static const char text[] = "0123456789abcdefghijklmnopqrstuvwxyz0123456789";
  size_t size;
  for (size = 0; size < sizeof(text); size++) {
    TVMFFIByteArray input = bytes_of_length((const char*)at_edge(text, size), size);
    TVMFFIAny out = any_none();
    CHECK_OK(TVMFFIStringFromByteArray(&input, &out));
    release_any(&out);
    CHECK_OK(TVMFFIBytesFromByteArray(&input, &out));
    release_any(&out);
    if (size % 8 == 0) {
      CHECK_OK(TVMFFIBigIntFromByteArray(&input, &out));
      release_any(&out);
    }
  }
}

static void test_dtypes(void) {
  static const char* const names[] = {"int8", "float32x4", "bool", "float8_e4m3fn", "bfloat16"};
  size_t i;
  for (i = 0; i < 5; i++) {
    size_t size;
    for (size = 0; size <= strlen(names[i]); size++) {
      TVMFFIByteArray input = bytes_of_length((const char*)at_edge(names[i], size), size);
      DLDataType dtype;
      if (TVMFFIDataTypeFromString(&input, &dtype) != 0) {
        CHECK(raised_is(NULL, NULL));
      }
    }
  }
}

static int count(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self;
  (void)args;
  *result = any_int(num_args);
  return 0;
}

static void test_names(void) {
  TVMFFIObjectHandle function = NULL;
  TVMFFIObjectHandle found = NULL;
  TVMFFIByteArray name;
  TVMFFIAny value = any_int(1);
  int32_t type_index = 0;
  CHECK_OK(TVMFFIFunctionCreate(NULL, count, NULL, &function));
  name = text_at_edge("no_overread.function");
  CHECK_OK(TVMFFIFunctionSetGlobal(&name, function, 0));
  name = text_at_edge("no_overread.function");
  CHECK_OK(TVMFFIFunctionGetGlobal(&name, &found));
  CHECK(found == function);
  TVMFFIObjectDecRef(found);
  name = text_at_edge("no_overread.functio");
  CHECK_OK(TVMFFIFunctionGetGlobal(&name, &found));
  CHECK(found == NULL);
  TVMFFIObjectDecRef(function);
  name = text_at_edge("no_overread.Type");
  type_index = TVMFFITypeGetOrAllocIndex(&name, -1, 1, 0, 1, kTVMFFIObject);
  CHECK(type_index >= kTVMFFIDynObjectBegin);
  CHECK_OK(TVMFFITypeKeyToIndex(&name, &type_index));
  name = text_at_edge("no_overread_attribute");
  CHECK_OK(TVMFFITypeRegisterAttr(type_index, &name, &value));
  CHECK(TVMFFIGetTypeAttrColumn(&name) != NULL);
}

static void test_errors(void) {
  TVMFFIByteArray kind = bytes_of("ValueError");
  TVMFFIByteArray edge_text = text_at_edge("text of an error");
  const char* one_part[1];
  TVMFFIObjectHandle error = NULL;
  CHECK_INT(TVMFFIErrorCreate(&edge_text, &edge_text, &edge_text, &error), 0);
  CELL(TVMFFIErrorCell, error)
      ->update_backtrace(error, &edge_text, kTVMFFIBacktraceUpdateModeAppend);
  TVMFFIObjectDecRef(error);
  CHECK_INT(TVMFFIErrorCreate(&kind, &edge_text, &edge_text, &error), 0);
  TVMFFIObjectDecRef(error);
  /* with a terminator as the last byte there is */
  TVMFFIErrorSetRaisedFromCStr("ValueError", (const char*)at_edge("a message", 10));
  CHECK(raised_is("ValueError", "a message"));
  one_part[0] = "the only part";
  TVMFFIErrorSetRaisedFromCStrParts("ValueError",
                                    (const char**)at_edge(one_part, sizeof(one_part)), 1);
  CHECK(raised_is("ValueError", "the only part"));
}

static void test_arguments(void) {
  static const char* const functions[] = {"ffi.Array", "ffi.List", "ffi.Map", "ffi.Dict",
                                          "ffi.Shape"};
  TVMFFIAny args[4];
  size_t i;
  for (i = 0; i < 4; i++) {
    args[i] = any_int((int64_t)i);
  }
  for (i = 0; i < 5; i++) {
    int32_t number;
    for (number = 0; number <= 4; number += 2) {
      TVMFFIObjectHandle function = global_function(functions[i]);
      TVMFFIAny result = any_none();
      TVMFFIAny* last = (TVMFFIAny*)at_edge(args, sizeof(TVMFFIAny) * (size_t)number);
      CHECK_OK(TVMFFIFunctionCall(function, last, number, &result));
      release_any(&result);
      TVMFFIObjectDecRef(function);
    }
  }
}

static int deleted;

static void delete_managed(DLManagedTensor* self) {
  (void)self;
  deleted++;
}

static void test_tensors(void) {
  int64_t sizes[3];
  DLManagedTensor source;
  int ndim;
  sizes[0] = 2;
  sizes[1] = 3;
  sizes[2] = 4;
  for (ndim = 0; ndim <= 3; ndim++) {
    TVMFFIObjectHandle tensor = NULL;
    TVMFFIObjectHandle view = NULL;
    DLTensor prototype;
    memset(&source, 0, sizeof(source));
    source.dl_tensor.ndim = ndim;
    source.dl_tensor.device.device_type = kDLCPU;
    source.dl_tensor.dtype.code = kDLFloat;
    source.dl_tensor.dtype.bits = 32;
    source.dl_tensor.dtype.lanes = 1;
    source.dl_tensor.shape = (int64_t*)at_edge(sizes, sizeof(int64_t) * (size_t)ndim);
    source.deleter = delete_managed;
    CHECK_OK(TVMFFITensorFromDLPack(&source, 0, 1, &tensor));
    prototype = source.dl_tensor;
    prototype.strides = prototype.shape;
    CHECK_OK(TVMFFITensorCreateUnsafeView(tensor, &prototype, &view));
    TVMFFIObjectDecRef(view);
    TVMFFIObjectDecRef(tensor);
  }
  CHECK_INT(deleted, 4);
}

int main(void) {
  make_edge();
  census_install();
  RUN_BALANCED(test_strings);
  RUN_BALANCED(test_dtypes);
  RUN(test_names);
  RUN_BALANCED(test_errors);
  RUN_BALANCED(test_arguments);
  RUN_BALANCED(test_tensors);
  return check_report("no_overread");
}
