/* Errors of the profile `minimal` when a table or a pool is full, and its use afterwards.
 *
 * Built with the same capacities as the archive: FUNCTIONS, NAMES, ERRORS, ERROR_BYTES, STRINGS,
 * STRING_BYTES. */
#include "../../conformance/c/check.h"

#include <tvm/runtime/c_backend_api.h>
#include <tvm_ffi_minimal.h>

static int nothing(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self;
  (void)args;
  (void)num_args;
  *result = any_int(7);
  return 0;
}

static int add_host(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self;
  *result = any_int(args[0].v_int64 + num_args);
  return 0;
}

/* Registers before main, like LLVM's system libraries. */
__attribute__((constructor)) static void register_early(void) {
  void* symbol = address_of_function((check_any_function)add_host);
  CHECK_OK(TVMFFIEnvModRegisterSystemLibSymbol("__tvm_ffi_early", symbol));
}

static void test_system_library(void) {
  TVMFFIAny arg = any_int(41);
  TVMFFIAny result = any_none();
  TVMFFIObjectHandle found = UNTOUCHED;
  CHECK_OK(call_global("__tvm_ffi_early", &arg, 1, &result));
  CHECK_INT(result.v_int64, 42);
  found = UNTOUCHED;
  CHECK_ERROR(TVMFFIEnvModLookupFromImports(NULL, "no such name", &found), "RuntimeError");
  CHECK_ERROR(TVMFFIEnvModLookupFromImports(NULL, NULL, &found), "ValueError");
  CHECK_ERROR(TVMFFIEnvModLookupFromImports(NULL, "__tvm_ffi_early", NULL), "ValueError");
  CHECK(found == UNTOUCHED);
  CHECK_ERROR(TVMFFIEnvModRegisterSystemLibSymbol(NULL, &arg), "ValueError");
  CHECK_ERROR(TVMFFIEnvModRegisterSystemLibSymbol("name", NULL), "ValueError");
  /* registering the name again replaces the function, and frees the old one's slot */
  CHECK_OK(TVMFFIEnvModRegisterSystemLibSymbol("__tvm_ffi_early",
                                               address_of_function((check_any_function)nothing)));
  CHECK_OK(call_global("__tvm_ffi_early", &arg, 1, &result));
  CHECK_INT(result.v_int64, 7);
  /* borrowed by the caller; the library keeps one more reference for it */
  CHECK_OK(TVMFFIEnvModLookupFromImports(NULL, "__tvm_ffi_early", &found));
  CHECK_INT(strong_count(found), 2);
}

/* One function exists already: that of the system library. */
static void test_functions(void) {
  TVMFFIObjectHandle functions[FUNCTIONS];
  TVMFFIObjectHandle none = UNTOUCHED;
  TVMFFIAny result = any_none();
  int round;
  int i;
  for (round = 0; round < 3; round++) {
    for (i = 1; i < FUNCTIONS; i++) {
      CHECK_OK(TVMFFIFunctionCreate(NULL, nothing, NULL, &functions[i]));
    }
    CHECK_ERROR_TEXT(TVMFFIFunctionCreate(NULL, nothing, NULL, &none), "MemoryError", "FUNCTIONS");
    CHECK(none == UNTOUCHED);
    CHECK_ERROR(TVMFFIEnvModRegisterSystemLibSymbol("__tvm_ffi_late",
                                                    address_of_function((check_any_function)nothing)),
                "MemoryError");
    for (i = 1; i < FUNCTIONS; i++) {
      CHECK_OK(TVMFFIFunctionCall(functions[i], NULL, 0, &result));
      CHECK_OK(TVMFFIObjectDecRef(functions[i]));
    }
  }
}

static void test_names(void) {
  static char texts[NAMES + 1][8];
  TVMFFIObjectHandle function = NULL;
  TVMFFIObjectHandle found = NULL;
  TVMFFIByteArray name;
  int i;
  CHECK_OK(TVMFFIFunctionCreate(NULL, nothing, NULL, &function));
  for (i = 1; i <= NAMES; i++) {
    sprintf(texts[i], "f%d", i);
    name = bytes_of(texts[i]);
    if (i < NAMES) {
      CHECK_OK(TVMFFIFunctionSetGlobal(&name, function, 0));
    } else {
      CHECK_ERROR_TEXT(TVMFFIFunctionSetGlobal(&name, function, 1), "MemoryError", "NAMES");
    }
  }
  CHECK_INT(strong_count(function), NAMES);
  for (i = 1; i < NAMES; i++) {
    name = bytes_of(texts[i]);
    CHECK_OK(TVMFFIFunctionGetGlobal(&name, &found));
    CHECK(found == function);
    CHECK_OK(TVMFFIObjectDecRef(found));
    CHECK_ERROR(TVMFFIFunctionSetGlobal(&name, function, 0), "RuntimeError");
    CHECK_OK(TVMFFIFunctionSetGlobal(&name, function, 1));
  }
  name = bytes_of(texts[NAMES]);
  CHECK_OK(TVMFFIFunctionGetGlobal(&name, &found));
  CHECK(found == NULL);
  CHECK_INT(strong_count(function), NAMES);
  CHECK_OK(TVMFFIObjectDecRef(function));
}

static void test_errors(void) {
  TVMFFIObjectHandle errors[ERRORS];
  TVMFFIObjectHandle last = NULL;
  TVMFFIObjectHandle again = NULL;
  static char text[ERROR_BYTES + 100];
  int i;
  for (i = 0; i < ERRORS; i++) {
    TVMFFIErrorSetRaisedFromCStr("KeyError", "held");
    TVMFFIErrorMoveFromRaised(&errors[i]);
    CHECK(bytes_equal(&CELL(TVMFFIErrorCell, errors[i])->message, "held"));
  }
  TVMFFIErrorSetRaisedFromCStr("KeyError", "there is no room for this one");
  TVMFFIErrorMoveFromRaised(&last);
  CHECK(bytes_equal(&CELL(TVMFFIErrorCell, last)->kind, "MemoryError"));
  CHECK(CELL(TVMFFIErrorCell, last)->update_backtrace != NULL);
  TVMFFIErrorSetRaisedFromCStr("KeyError", "nor for this one");
  TVMFFIErrorMoveFromRaised(&again);
  CHECK(again == last);
  CHECK_OK(TVMFFIObjectDecRef(last));
  CHECK_OK(TVMFFIObjectDecRef(again));
  for (i = 0; i < ERRORS; i++) {
    CHECK_OK(TVMFFIObjectDecRef(errors[i]));
  }
  memset(text, 'x', sizeof(text) - 1);
  TVMFFIErrorSetRaisedFromCStr("KeyError", text);
  TVMFFIErrorMoveFromRaised(&last);
  {
    /* Up to seven more bytes, which are otherwise padding between two slots. */
    size_t size = CELL(TVMFFIErrorCell, last)->kind.size + CELL(TVMFFIErrorCell, last)->message.size;
    CHECK(size >= ERROR_BYTES && size < ERROR_BYTES + 8);
  }
  CHECK_OK(TVMFFIObjectDecRef(last));
}

static void test_strings(void) {
  static char text[STRING_BYTES + 2];
  TVMFFIByteArray input;
  TVMFFIAny values[STRINGS];
  TVMFFIAny none = any_int(5);
  int i;
  memset(text, 's', sizeof(text) - 1);
  input = bytes_of_length(text, STRING_BYTES);
  for (i = 0; i < STRINGS; i++) {
    CHECK_OK(TVMFFIStringFromByteArray(&input, &values[i]));
    CHECK_INT(CELL(TVMFFIByteArray, values[i].v_obj)->data[STRING_BYTES], 0);
  }
  CHECK_ERROR_TEXT(TVMFFIBytesFromByteArray(&input, &none), "MemoryError", "STRINGS");
  CHECK_INT(none.v_int64, 5);
  for (i = 0; i < STRINGS; i++) {
    release_any(&values[i]);
  }
  CHECK_OK(TVMFFIBytesFromByteArray(&input, &values[0]));
  release_any(&values[0]);
  input.size++;
  CHECK_ERROR_TEXT(TVMFFIBytesFromByteArray(&input, &none), "MemoryError", "STRING_BYTES");
  input.size = (size_t)-1;
  CHECK_FAILS(TVMFFIBytesFromByteArray(&input, &none));
}

static void test_workspace(void) {
  static union {
    double align;
    char bytes[1024];
  } arena;
  char expected[64];
  void* first;
  void* second;
  CHECK(TVMBackendAllocWorkspace(kDLCPU, 0, 8, 0, 0) == NULL);
  CHECK(raised_is("MemoryError", "8 bytes asked, free: 0"));
  CHECK_ERROR(FerriteWorkspaceSet(NULL, 8), "ValueError");
  CHECK_OK(FerriteWorkspaceSet(arena.bytes, sizeof(arena.bytes)));
  CHECK_INT(FerriteWorkspaceHighWater(), 0);
  first = TVMBackendAllocWorkspace(kDLCPU, 0, 300, 2, 32);
  CHECK(first != NULL && (uintptr_t)first % 16 == 0);
  second = TVMBackendAllocWorkspace(kDLCPU, 0, 0, 2, 32);
  CHECK(second != NULL && second != first);
  memset(first, 1, 300);
  CHECK(FerriteWorkspaceHighWater() > 300 && FerriteWorkspaceHighWater() < 400);
  CHECK(TVMBackendAllocWorkspace(kDLCPU, 0, 4000, 2, 32) == NULL);
  CHECK(raised_is("MemoryError", "4000 bytes asked, free: "));
  CHECK(TVMBackendAllocWorkspace(kDLCPU, 0, ((uint64_t)1 << 63) + 5, 2, 32) == NULL);
  CHECK(raised_is("MemoryError", " bytes asked, free: "));
  CHECK(TVMBackendAllocWorkspace(kDLCUDA, 0, 8, 2, 32) == NULL);
  CHECK(raised_is("ValueError", "CPU"));
  CHECK_ERROR(TVMBackendFreeWorkspace(kDLCPU, 0, first), "ValueError"); /* not the last one allocated */
  CHECK_ERROR(TVMBackendFreeWorkspace(kDLCPU, 0, expected), "ValueError");
  CHECK_ERROR(FerriteWorkspaceSet(NULL, 0), "RuntimeError");
  CHECK_OK(TVMBackendFreeWorkspace(kDLCPU, 0, NULL));
  CHECK_OK(TVMBackendFreeWorkspace(kDLCPU, 0, second));
  CHECK_OK(TVMBackendFreeWorkspace(kDLCPU, 0, first));
  /* all bytes that the message reports as free can be allocated */
  CHECK(TVMBackendAllocWorkspace(kDLCPU, 0, 2000, 2, 32) == NULL);
  {
    TVMFFIObjectHandle error = NULL;
    const char* at;
    TVMFFIErrorMoveFromRaised(&error);
    at = CELL(TVMFFIErrorCell, error)->message.data;
    memcpy(expected, at, 40);
    expected[40] = '\0';
    second = TVMBackendAllocWorkspace(kDLCPU, 0, (uint64_t)atol(strchr(expected, ':') + 1), 2, 32);
    CHECK(second != NULL);
    CHECK_INT(FerriteWorkspaceHighWater(), sizeof(arena.bytes));
    CHECK_OK(TVMBackendFreeWorkspace(kDLCPU, 0, second));
    CHECK_OK(TVMFFIObjectDecRef(error));
  }
  CHECK_OK(FerriteWorkspaceSet(NULL, 0));
  CHECK_INT(FerriteWorkspaceHighWater(), 0);
}

static int count_tasks(int task_id, TVMParallelGroupEnv* env, void* data) {
  *(int*)data += task_id == 0 && env->num_task == 1;
  return TVMBackendParallelBarrier(task_id, env);
}

static int task_fails(int task_id, TVMParallelGroupEnv* env, void* data) {
  (void)task_id;
  (void)env;
  (void)data;
  TVMFFIErrorSetRaisedFromCStr("KeyError", "in a task");
  return -1;
}

static void test_parallel(void) {
  int count = 0;
  CHECK_OK(TVMBackendParallelLaunch(count_tasks, &count, 0));
  CHECK_OK(TVMBackendParallelLaunch(count_tasks, &count, 4));
  CHECK_INT(count, 2);
  CHECK_ERROR(TVMBackendParallelLaunch(task_fails, NULL, 0), "KeyError");
  CHECK_ERROR(TVMBackendParallelLaunch(NULL, NULL, 0), "ValueError");
  CHECK_ERROR(TVMBackendParallelLaunch(count_tasks, NULL, -1), "ValueError");
  CHECK_OK(TVMBackendParallelBarrier(0, NULL));
}

int main(void) {
  RUN(test_system_library);
  RUN(test_functions);
  RUN(test_names);
  RUN(test_errors);
  RUN(test_strings);
  RUN(test_workspace);
  RUN(test_parallel);
  CHECK(nothing_raised());
  return check_report("capacity");
}
