/*
 * Steps of a round: calls that may fail when out of memory, and for no other reason.
 */
#ifndef FERRITE_TESTS_ALLOC_FAIL_STEPS_H_
#define FERRITE_TESTS_ALLOC_FAIL_STEPS_H_

#include "../../conformance/c/modules.h"

static int step_failures; /* steps that failed for lack of memory */

/* Checks that a step succeeded or failed with a MemoryError. */
static int step_status(int status, const char* what, int line) {
  if (status == 0) {
    return 1;
  }
  step_failures++;
  if (!check_that(status == -1, what, "scenario", line) ||
      !check_that(raised_is("MemoryError", NULL), what, "scenario", line)) {
    printf("  step: %s\n", what);
  }
  return 0;
}

#define STEP(call) step_status((call), #call, __LINE__)

/* Checks that a failing step leaves its out-parameter unchanged, for each kind of out-parameter. */
#define STEP_OUT(call, out) step_out((call), (out), #call, __LINE__)

static int step_out(int status, const TVMFFIObjectHandle* out, const char* what, int line) {
  int ran = step_status(status, what, line);
  if (!ran && !check_that(*out == UNTOUCHED, what, "scenario", line)) {
    printf("  touched: %s\n", what);
  }
  return ran;
}

static void drop(TVMFFIObjectHandle object) {
  if (object != NULL && object != UNTOUCHED) {
    CHECK_INT(TVMFFIObjectDecRef(object), 0);
  }
}

/* Calls a built-in function; the result is None if it fails. */
UNUSED_OK static int call_step(const char* name, TVMFFIAny* args, int32_t count, TVMFFIAny* result) {
  TVMFFIByteArray bytes = bytes_of(name);
  TVMFFIObjectHandle function = UNTOUCHED;
  int ran;
  *result = any_none();
  if (!STEP_OUT(TVMFFIFunctionGetGlobal(&bytes, &function), &function) || function == NULL) {
    return 0; /* not in this build */
  }
  ran = step_status(TVMFFIFunctionCall(function, args, count, result), name, __LINE__);
  if (!ran && !CHECK_INT(result->type_index, kTVMFFINone)) {
    printf("  result of %s\n", name);
  }
  drop(function);
  return ran;
}

/* Takes an expected error of this kind, or a MemoryError. */
UNUSED_OK static void expect_raised(const char* kind) {
  TVMFFIObjectHandle error = NULL;
  TVMFFIErrorMoveFromRaised(&error);
  if (CHECK(error != NULL)) {
    TVMFFIErrorCell* cell = CELL(TVMFFIErrorCell, error);
    if (bytes_equal(&cell->kind, "MemoryError")) {
      step_failures++;
    } else {
      CHECK(bytes_equal(&cell->kind, kind));
    }
    drop(error);
  }
}

#endif /* FERRITE_TESTS_ALLOC_FAIL_STEPS_H_ */
