/* The environment: streams, the tensor allocator, signals. */
#include "check.h"

#include <pthread.h>

static int streams[4];

static void test_streams(void) {
  TVMFFIStreamHandle old = UNTOUCHED;
  CHECK(TVMFFIEnvGetStream(kDLCUDA, 0) == NULL);
  CHECK_OK(TVMFFIEnvSetStream(kDLCUDA, 0, &streams[0], &old));
  CHECK(old == NULL);
  CHECK(TVMFFIEnvGetStream(kDLCUDA, 0) == &streams[0]);
  CHECK_OK(TVMFFIEnvSetStream(kDLCUDA, 3, &streams[3], NULL));
  CHECK(TVMFFIEnvGetStream(kDLCUDA, 3) == &streams[3]);
  CHECK(TVMFFIEnvGetStream(kDLCUDA, 1) == NULL);
  CHECK(TVMFFIEnvGetStream(kDLROCM, 0) == NULL);
  CHECK_OK(TVMFFIEnvSetStream(kDLCUDA, 0, &streams[1], &old));
  CHECK(old == &streams[0]);
  CHECK_OK(TVMFFIEnvSetStream(kDLCUDA, 0, NULL, &old));
  CHECK(old == &streams[1]);
  CHECK(TVMFFIEnvGetStream(kDLCUDA, 0) == NULL);
}

static void* other_thread(void* argument) {
  int* ok = (int*)argument;
  *ok = TVMFFIEnvGetStream(kDLCUDA, 3) == NULL &&
        TVMFFIEnvSetStream(kDLCUDA, 3, &streams[2], NULL) == 0 &&
        TVMFFIEnvGetStream(kDLCUDA, 3) == &streams[2];
  return NULL;
}

static void test_streams_are_per_thread(void) {
  pthread_t thread;
  int ok = 0;
  CHECK_INT(pthread_create(&thread, NULL, other_thread, &ok), 0);
  pthread_join(thread, NULL);
  CHECK(ok);
  CHECK(TVMFFIEnvGetStream(kDLCUDA, 3) == &streams[3]);
}

/* ---- the tensor allocator ---------------------------------------------------------------- */

static int tensors;

static void delete_tensor(DLManagedTensorVersioned* self) {
  tensors--;
  free(self->dl_tensor.data);
  free(self->dl_tensor.shape);
  free(self);
}

static int allocate_tensor(DLTensor* prototype, DLManagedTensorVersioned** out, void* error_ctx,
                           void (*set_error)(void*, const char*, const char*)) {
  DLManagedTensorVersioned* tensor =
      (DLManagedTensorVersioned*)calloc(1, sizeof(DLManagedTensorVersioned));
  int32_t i;
  (void)error_ctx;
  (void)set_error;
  tensor->version.major = DLPACK_MAJOR_VERSION;
  tensor->version.minor = DLPACK_MINOR_VERSION;
  tensor->dl_tensor = *prototype;
  tensor->dl_tensor.shape = (int64_t*)malloc(sizeof(int64_t) * (size_t)(prototype->ndim + 1));
  for (i = 0; i < prototype->ndim; i++) {
    tensor->dl_tensor.shape[i] = prototype->shape[i];
  }
  tensor->dl_tensor.strides = NULL;
  tensor->dl_tensor.data = malloc(256);
  tensor->deleter = delete_tensor;
  tensors++;
  *out = tensor;
  return 0;
}

static int refuse_tensor(DLTensor* prototype, DLManagedTensorVersioned** out, void* error_ctx,
                         void (*set_error)(void*, const char*, const char*)) {
  (void)prototype;
  (void)out;
  set_error(error_ctx, "MemoryError", "the device is full");
  return -1;
}

static int forget_tensor(DLTensor* prototype, DLManagedTensorVersioned** out, void* error_ctx,
                         void (*set_error)(void*, const char*, const char*)) {
  (void)prototype;
  (void)error_ctx;
  (void)set_error;
  *out = NULL;
  return 0;
}

static int64_t shape[2] = {2, 5};

static DLTensor prototype(void) {
  DLTensor tensor;
  memset(&tensor, 0, sizeof(tensor));
  tensor.ndim = 2;
  tensor.shape = shape;
  tensor.device.device_type = kDLCPU;
  tensor.dtype.code = kDLFloat;
  tensor.dtype.bits = 32;
  tensor.dtype.lanes = 1;
  return tensor;
}

static void test_tensor_allocator(void) {
  DLPackManagedTensorAllocator old = refuse_tensor;
  TVMFFIObjectHandle object = UNTOUCHED;
  DLTensor wanted = prototype();
  CHECK(TVMFFIEnvGetDLPackManagedTensorAllocator() == NULL);
  CHECK_ERROR_TEXT(TVMFFIEnvTensorAlloc(&wanted, &object), "RuntimeError",
                   "TVMFFIEnvSetDLPackManagedTensorAllocator has not been called");
  CHECK(object == UNTOUCHED);
  CHECK_OK(TVMFFIEnvSetDLPackManagedTensorAllocator(allocate_tensor, 0, &old));
  CHECK(old == NULL);
  CHECK(TVMFFIEnvGetDLPackManagedTensorAllocator() == allocate_tensor);
  CHECK_OK(TVMFFIEnvTensorAlloc(&wanted, &object));
  CHECK_INT(tensors, 1);
  CHECK_INT(((TVMFFIObject*)object)->type_index, kTVMFFITensor);
  CHECK_INT(CELL(DLTensor, object)->shape[1], 5);
  if (CHECK(CELL(DLTensor, object)->strides != NULL)) {
    CHECK_INT(CELL(DLTensor, object)->strides[0], 5);
    CHECK_INT(CELL(DLTensor, object)->strides[1], 1);
  }
  CHECK_OK(TVMFFIObjectDecRef(object));
  CHECK_INT(tensors, 0);
  wanted.ndim = 0;
  CHECK_OK(TVMFFIEnvTensorAlloc(&wanted, &object));
  CHECK_OK(TVMFFIObjectDecRef(object));
  CHECK_OK(TVMFFIEnvSetDLPackManagedTensorAllocator(NULL, 0, &old));
  CHECK(old == allocate_tensor);
  CHECK(TVMFFIEnvGetDLPackManagedTensorAllocator() == NULL);
}

static void test_failing_tensor_allocator(void) {
  TVMFFIObjectHandle error = NULL;
  TVMFFIObjectHandle object = UNTOUCHED;
  DLTensor wanted = prototype();
  CHECK_OK(TVMFFIEnvSetDLPackManagedTensorAllocator(refuse_tensor, 0, NULL));
  CHECK_ERROR_TEXT(TVMFFIEnvTensorAlloc(&wanted, &object), "MemoryError", "the device is full");
  CHECK_INT(TVMFFIEnvTensorAlloc(&wanted, &object), -1);
  TVMFFIErrorMoveFromRaised(&error);
  CHECK(error != NULL);
#ifdef __linux__
  CHECK(CELL(TVMFFIErrorCell, error)->backtrace.size > 0);
#endif
  TVMFFIObjectDecRef(error);
  CHECK_OK(TVMFFIEnvSetDLPackManagedTensorAllocator(forget_tensor, 0, NULL));
  CHECK_ERROR_TEXT(TVMFFIEnvTensorAlloc(&wanted, &object), "RuntimeError", "failed to allocate");
  CHECK(object == UNTOUCHED);
  CHECK_OK(TVMFFIEnvSetDLPackManagedTensorAllocator(NULL, 0, NULL));
}

static void* global_thread(void* argument) {
  *(int*)argument = TVMFFIEnvGetDLPackManagedTensorAllocator() == allocate_tensor;
  return NULL;
}

static void test_global_tensor_allocator(void) {
  pthread_t thread;
  int ok = 0;
  CHECK_OK(TVMFFIEnvSetDLPackManagedTensorAllocator(allocate_tensor, 1, NULL));
  CHECK_INT(pthread_create(&thread, NULL, global_thread, &ok), 0);
  pthread_join(thread, NULL);
  CHECK(ok);
  CHECK_OK(TVMFFIEnvSetDLPackManagedTensorAllocator(NULL, 1, NULL));
  CHECK(TVMFFIEnvGetDLPackManagedTensorAllocator() == NULL);
}

/* ---- signals ----------------------------------------------------------------------------- */

static int gil;
static int interrupted;

static int check_signals(void) {
  CHECK_INT(gil, 1);
  return interrupted ? -1 : 0;
}

/* A signal handler of a host in C, whose error the check must not replace. */
static int raise_in_check(void) {
  TVMFFIErrorSetRaisedFromCStr("RuntimeError", "interrupted by a signal");
  return -1;
}

static void* take_gil(void) {
  gil++;
  return &gil;
}

static void leave_gil(void* state) { gil -= state == &gil; }

static void test_signals(void) {
  CHECK_OK(TVMFFIEnvCheckSignals());
  if (bad_input()) {
    /* signals are checked before the interpreter's lock is registered */
    CHECK_OK(TVMFFIEnvRegisterCAPI("PyErr_CheckSignals",
                                   address_of_function((check_any_function)check_signals)));
    if (TVMFFIEnvCheckSignals() != 0) {
      CHECK(raised_is(NULL, NULL));
    }
  }
  CHECK_OK(TVMFFIEnvRegisterCAPI("PyGILState_Ensure",
                                 address_of_function((check_any_function)take_gil)));
  CHECK_OK(TVMFFIEnvRegisterCAPI("PyGILState_Release",
                                 address_of_function((check_any_function)leave_gil)));
  CHECK_OK(TVMFFIEnvRegisterCAPI("PyErr_CheckSignals",
                                 address_of_function((check_any_function)check_signals)));
  CHECK_OK(TVMFFIEnvCheckSignals());
  interrupted = 1;
  CHECK_INT(TVMFFIEnvCheckSignals(), -1); /* the front end has set its own error */
  if (bad_input()) {
    CHECK(raised_is("EnvErrorAlreadySet", NULL));
    /* an earlier error is not the handler's, and stays if there is none */
    TVMFFIErrorSetRaisedFromCStr("KeyError", "of an earlier call");
    CHECK_ERROR(TVMFFIEnvCheckSignals(), "EnvErrorAlreadySet");
    interrupted = 0;
    TVMFFIErrorSetRaisedFromCStr("KeyError", "of an earlier call");
    CHECK_INT(TVMFFIEnvCheckSignals(), 0);
    CHECK(raised_is("KeyError", "of an earlier call"));
  }
  interrupted = 0;
  CHECK_INT(gil, 0);
  CHECK_OK(TVMFFIEnvRegisterCAPI("PyErr_CheckSignals",
                                 address_of_function((check_any_function)raise_in_check)));
  TVMFFIErrorSetRaisedFromCStr("KeyError", "of an earlier call");
  CHECK_ERROR_TEXT(TVMFFIEnvCheckSignals(), "RuntimeError", "interrupted by a signal");
  CHECK_ERROR_TEXT(TVMFFIEnvRegisterCAPI("NoSuchFunction", &gil), "ValueError",
                   "Unknown env API NoSuchFunction");
  CHECK_OK(TVMFFIEnvRegisterCAPI("PyErr_CheckSignals", NULL));
  CHECK_OK(TVMFFIEnvCheckSignals());
}

/* ---- bad input --------------------------------------------------------------------------- */

static void test_bad_streams(void) {
  static const int32_t numbers[] = {-1, -100, INT_MIN, INT_MAX, INT_MAX - 1, 1 << 28};
  size_t i;
  for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
    TVMFFIStreamHandle old = UNTOUCHED;
    CHECK(TVMFFIEnvGetStream(numbers[i], 0) == NULL);
    CHECK(TVMFFIEnvGetStream(kDLCUDA, numbers[i]) == NULL);
    CHECK(TVMFFIEnvGetStream(numbers[i], numbers[i]) == NULL);
    if (numbers[i] < 0) {
      CHECK_ERROR(TVMFFIEnvSetStream(numbers[i], 0, &streams[0], &old), "ValueError");
      CHECK_ERROR(TVMFFIEnvSetStream(kDLCUDA, numbers[i], &streams[0], &old), "ValueError");
      CHECK(old == UNTOUCHED);
    } else {
      /* accepted without a table of that size, or rejected; allocating gigabytes is the only wrong
       * outcome */
      if (TVMFFIEnvSetStream(kDLCUDA, numbers[i], &streams[0], &old) == 0) {
        CHECK(TVMFFIEnvGetStream(kDLCUDA, numbers[i]) == &streams[0]);
        CHECK_OK(TVMFFIEnvSetStream(kDLCUDA, numbers[i], NULL, NULL));
      } else {
        CHECK(raised_is(NULL, NULL));
        CHECK(old == UNTOUCHED);
      }
    }
  }
  nothing_raised();
}

static int lie_about_dimensions(DLTensor* wanted, DLManagedTensorVersioned** out,
                                void* error_ctx,
                                void (*set_error)(void*, const char*, const char*)) {
  int status = allocate_tensor(wanted, out, error_ctx, set_error);
  (*out)->dl_tensor.ndim = -7;
  return status;
}

/* Breaks the contract: fails without raising an error. */
static int fail_status;

static int fail_silently(DLTensor* wanted, DLManagedTensorVersioned** out, void* error_ctx,
                         void (*set_error)(void*, const char*, const char*)) {
  (void)wanted;
  (void)out;
  (void)error_ctx;
  (void)set_error;
  return fail_status;
}

static int set_null_error(DLTensor* wanted, DLManagedTensorVersioned** out, void* error_ctx,
                          void (*set_error)(void*, const char*, const char*)) {
  (void)wanted;
  (void)out;
  set_error(error_ctx, NULL, NULL);
  return -1;
}

static void test_bad_tensor_alloc(void) {
  TVMFFIObjectHandle object = UNTOUCHED;
  DLTensor wanted = prototype();
  CHECK_OK(TVMFFIEnvSetDLPackManagedTensorAllocator(allocate_tensor, 0, NULL));
  CHECK_ERROR(TVMFFIEnvTensorAlloc(NULL, &object), "ValueError");
  CHECK_ERROR(TVMFFIEnvTensorAlloc(&wanted, NULL), "ValueError");
  wanted.ndim = -1;
  CHECK_ERROR(TVMFFIEnvTensorAlloc(&wanted, &object), "ValueError");
  wanted = prototype();
  wanted.shape = NULL;
  CHECK_ERROR(TVMFFIEnvTensorAlloc(&wanted, &object), "ValueError");
  wanted = prototype();
  CHECK_INT(tensors, 0);
  census.fail_in = 1;
  CHECK_ERROR(TVMFFIEnvTensorAlloc(&wanted, &object), "MemoryError");
  census.fail_in = 0;
  CHECK_INT(tensors, 0); /* all memory of the allocator was freed */
  CHECK_OK(TVMFFIEnvSetDLPackManagedTensorAllocator(lie_about_dimensions, 0, NULL));
  CHECK_FAILS(TVMFFIEnvTensorAlloc(&wanted, &object));
  CHECK_INT(tensors, 0);
  CHECK_OK(TVMFFIEnvSetDLPackManagedTensorAllocator(set_null_error, 0, NULL));
  CHECK_FAILS(TVMFFIEnvTensorAlloc(&wanted, &object));
  CHECK_OK(TVMFFIEnvSetDLPackManagedTensorAllocator(fail_silently, 0, NULL));
  /* an earlier error, which nobody took, is not the allocator's */
  for (fail_status = -7; fail_status <= 1; fail_status += 2) {
    TVMFFIErrorSetRaisedFromCStr("KeyError", "of an earlier call");
    CHECK_ERROR_TEXT(TVMFFIEnvTensorAlloc(&wanted, &object), "InternalError", "returned status");
  }
  CHECK(object == UNTOUCHED);
  CHECK_OK(TVMFFIEnvSetDLPackManagedTensorAllocator(NULL, 0, NULL));
}

static void test_bad_names(void) {
  CHECK_ERROR(TVMFFIEnvRegisterCAPI(NULL, &gil), "ValueError");
  CHECK_ERROR(TVMFFIEnvRegisterCAPI("", &gil), "ValueError");
  CHECK_ERROR(TVMFFIEnvRegisterCAPI("\xff", &gil), "ValueError");
}

int main(void) {
  census_install();
  RUN_BALANCED(test_streams);
  RUN_BALANCED(test_streams_are_per_thread);
  RUN_BALANCED(test_tensor_allocator);
  RUN_BALANCED(test_failing_tensor_allocator);
  RUN_BALANCED(test_global_tensor_allocator);
  RUN_BALANCED(test_signals);
  if (bad_input()) {
    RUN_BALANCED(test_bad_streams);
    RUN_BALANCED(test_bad_tensor_alloc);
    RUN_BALANCED(test_bad_names);
  }
  return check_report("env");
}
