/*
 * Checks of these programs: counted, and printed on failure. Includes nothing of today's API.
 */
#ifndef FERRITE_TESTS_LEGACY_CHECK_H_
#define FERRITE_TESTS_LEGACY_CHECK_H_

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tvm/runtime/c_runtime_api.h>

#define UNUSED_OK __attribute__((unused))

static long checks_done;
static long checks_failed;

UNUSED_OK static int check_that(int holds, const char* what, int line) {
  checks_done++;
  if (!holds) {
    checks_failed++;
    printf("line %d: FAILED: %s (last error: %s)\n", line, what, TVMGetLastError());
    fflush(stdout);
  }
  return holds;
}

#define CHECK(condition) check_that((condition) ? 1 : 0, #condition, __LINE__)
#define OK(call) check_that((call) == 0, #call, __LINE__)
/* Checks that a call fails with a string that contains `text`. */
#define FAILS(call, text) check_that((call) == -1 && strstr(TVMGetLastError(), text) != NULL, #call " fails with " text, __LINE__)

UNUSED_OK static int check_report(const char* program) {
  printf("%s: %ld checks, %ld failed\n", program, checks_done, checks_failed);
  return checks_failed == 0 ? 0 : 1;
}

UNUSED_OK static TVMValue of_int(int64_t value) {
  TVMValue result;
  result.v_int64 = value;
  return result;
}

UNUSED_OK static TVMValue of_handle(void* value) {
  TVMValue result;
  result.v_int64 = 0;
  result.v_handle = value;
  return result;
}

UNUSED_OK static TVMValue of_text(const char* value) {
  TVMValue result;
  result.v_int64 = 0;
  result.v_str = value;
  return result;
}

#endif /* FERRITE_TESTS_LEGACY_CHECK_H_ */
