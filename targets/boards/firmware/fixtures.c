/* fixtures.c: firmware with a whole model as a system library, which registers itself before main.
 * Makes its calls, and compares the results with TVM's. */
#include "fixtures.h"

#include <tvm_ffi_platform.h>

#include "board.h"
#include "element.h"
#include "ffi.h"
#include "print.h"

enum { RECORDS = 16, ARGS = 8, PARTS = 8 };

/* All memory of the model: the size of the pool in the table. */
static uint64_t arena[FIXTURE_ARENA_BYTES / 8];

/* ---- arguments ---- */

/* An object of the program, as the library makes them. */
typedef struct {
  TVMFFIObject header;
  union {
    DLTensor tensor;
    TVMFFIShapeCell shape;
    TVMFFISeqCell array;
  } content;
  TVMFFIAny parts[PARTS]; /* of an array */
} Record;

static Record records[RECORDS];
static int num_records;

static TVMFFIAny object_of(const Value* value) {
  Record* record = &records[num_records++];
  int at;
  /* One strong and one weak reference, which the program keeps. */
  record->header.combined_ref_count = (UINT64_C(1) << 32) + 1;
  record->header.deleter = NULL;
  if (value->kind == TENSOR) {
    DLTensor tensor = {(void*)value->data, {kDLCPU, 0}, value->size, value->dtype, (int64_t*)value->shape, NULL, 0};
    record->header.type_index = kTVMFFITensor;
    record->content.tensor = tensor;
  } else if (value->kind == SHAPE) {
    record->header.type_index = kTVMFFIShape;
    record->content.shape.data = value->shape;
    record->content.shape.size = (size_t)value->size;
  } else {
    record->header.type_index = kTVMFFIArray;
    record->content.array.data = record->parts;
    record->content.array.size = record->content.array.capacity = value->size;
    for (at = 0; at < value->size; ++at) record->parts[at] = object_of((const Value*)value->data + at);
  }
  return any_object(&record->header);
}

/* ---- results ---- */

typedef struct {
  const Value* next; /* what is expected next */
  int left;
  double largest_error;
} Comparison;

static int64_t count_of(const DLTensor* tensor) {
  int64_t count = 1;
  int dim;
  for (dim = 0; dim < tensor->ndim; ++dim) count *= tensor->shape[dim];
  return count;
}

/* Returns false if the shapes differ. */
static int compare_tensors(const DLTensor* tensor, const Value* expected, Comparison* comparison) {
  DLTensor other = {(void*)expected->data, {kDLCPU, 0}, expected->size, expected->dtype, (int64_t*)expected->shape, NULL, 0};
  int64_t at;
  int dim;
  if (tensor->ndim != other.ndim || tensor->dtype.code != other.dtype.code) return 0;
  for (dim = 0; dim < other.ndim; ++dim) {
    if (tensor->shape[dim] != other.shape[dim]) return 0;
  }
  for (at = 0; at < count_of(tensor); ++at) {
    double error = element_of(tensor, at) - element_of(&other, at);
    if (error < 0) error = -error;
    if (!(error <= comparison->largest_error)) comparison->largest_error = error; /* keeps a NaN, too */
  }
  return 1;
}

/* Compares a result, or what is in it. Returns false if it has another form. */
static int compare(const TVMFFIAny* result, Comparison* comparison) {
  const void* content = result->v_obj + 1;
  int64_t at;
  if (result->type_index == kTVMFFIArray) {
    const TVMFFISeqCell* array = content;
    for (at = 0; at < array->size; ++at) {
      if (!compare((const TVMFFIAny*)array->data + at, comparison)) return 0;
    }
    return 1;
  }
  if (comparison->left-- == 0) return 0;
  if (result->type_index == kTVMFFIShape) {
    const TVMFFIShapeCell* shape = content;
    int64_t size = (int64_t)shape->size;
    DLTensor tensor = {(void*)shape->data, {kDLCPU, 0}, 1, {kDLInt, 64, 1}, &size, NULL, 0};
    return compare_tensors(&tensor, comparison->next++, comparison);
  }
  return result->type_index == kTVMFFITensor && compare_tensors(content, comparison->next++, comparison);
}

/* ---- calls ---- */

/* Makes a call and adds its instructions. Returns 0; -1 with the error raised; 1 for a result of
 * another form. */
static int make(TVMFFIObjectHandle model, const ModelCall* call, Comparison* comparison, uint64_t* instructions) {
  TVMFFIAny args[ARGS], result = any_none();
  uint64_t start;
  int at, same;
  num_records = 0;
  for (at = 0; at < call->num_args; ++at) args[at] = object_of(&call->args[at]);
  start = board_instructions();
  if (FerriteModelCall(model, call->function, args, call->num_args, &result) != 0) return -1;
  *instructions += board_instructions() - start;
  comparison->next = call->results;
  comparison->left = call->num_results;
  same = compare(&result, comparison) && comparison->left == 0;
  TVMFFIObjectDecRef(result.v_obj);
  return same ? 0 : 1;
}

static int is_same_text(const char* one, const char* other) {
  while (*one != '\0' && *one == *other) ++one, ++other;
  return *one == *other;
}

/* Makes the calls of one function, from `first` on. Returns their number; 0 if one failed. */
static int run(TVMFFIObjectHandle model, int first) {
  const ModelCall* calls = fixture.calls + first;
  Comparison comparison = {NULL, 0, 0};
  uint64_t instructions = 0;
  int count = 0, status = 0, good;
  while (status == 0 && first + count < fixture.num_calls && is_same_text(calls[count].function, calls->function)) {
    status = make(model, &calls[count++], &comparison, &instructions);
  }
  good = status == 0 && comparison.largest_error <= fixture.tolerance;
  print_row_start(calls->function);
  print_text(good ? "ok, " : "FAILED, ");
  if (status < 0) print_raised();
  print_number((uint32_t)count);
  print_text(" calls, error ");
  print_small(comparison.largest_error);
  print_text(" of ");
  print_small(fixture.tolerance);
  print_row_end_measured((uint32_t)(10 * instructions / (uint64_t)count));
  return good ? count : 0;
}

int main(void) {
  TVMFFIObjectHandle model;
  int first = 0, count = 1;
  /* The prefix of no library is an error, and costs nothing. */
  if (FerriteMemoryAdd(arena, sizeof(arena)) != 0) return 1;
  if (FerriteModelCreateFromSystemLibrary("other_", &model) == 0 || !raised_is("InternalError", "other_")) return 1;
  if (FerriteModelCreateFromSystemLibrary(fixture.prefix, &model) != 0) {
    print_raised();
    return 1;
  }
  for (; count != 0 && first < fixture.num_calls; first += count) count = run(model, first);
  print_measure("pool", FerriteMemoryHighWater());
  print_stack();
  TVMFFIObjectDecRef(model);
  return count != 0 && FerriteMemoryUsed() == 0 ? 0 : 1;
}
