/* Handles that are created once and released once. */
#include "check.h"

#include <pthread.h>

static int made;
static int released;
static int value;

static int make_handle(void** result) {
  made++;
  *result = &value;
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

static int release_handle(void* handle) {
  released += handle == &value;
  return 0;
}

static int release_fails(void* handle) {
  (void)handle;
  TVMFFIErrorSetRaisedFromCStr("KeyError", "cannot release it");
  return -1;
}

static void test_once(void) {
  void* handle = NULL;
  made = 0;
  released = 0;
  CHECK_OK(TVMFFIHandleInitOnce(&handle, make_handle));
  CHECK_OK(TVMFFIHandleInitOnce(&handle, make_handle));
  CHECK(handle == &value);
  CHECK_INT(made, 1);
  CHECK_OK(TVMFFIHandleDeinitOnce(&handle, release_handle));
  CHECK(handle == NULL);
  CHECK_OK(TVMFFIHandleDeinitOnce(&handle, release_handle));
  CHECK_INT(released, 1);
  CHECK_OK(TVMFFIHandleInitOnce(&handle, make_handle));
  CHECK_INT(made, 2);
}

static void test_failures(void) {
  void* handle = NULL;
  CHECK_ERROR_TEXT(TVMFFIHandleInitOnce(&handle, make_fails), "KeyError", "cannot make it");
  CHECK(handle == NULL);
  CHECK_ERROR_TEXT(TVMFFIHandleInitOnce(&handle, make_null), "RuntimeError", "non-NULL");
  CHECK(handle == NULL);
  CHECK_OK(TVMFFIHandleInitOnce(&handle, make_handle));
  CHECK_ERROR_TEXT(TVMFFIHandleDeinitOnce(&handle, release_fails), "KeyError",
                   "cannot release it");
  CHECK(handle == NULL);
}

/* ---- several threads initialise concurrently ---- */

static void* shared;
static pthread_barrier_t start;

static void* ask(void* argument) {
  pthread_barrier_wait(&start);
  *(int*)argument = TVMFFIHandleInitOnce(&shared, make_handle) == 0 && shared == &value;
  return NULL;
}

static void test_threads(void) {
  pthread_t threads[4];
  int ok[4];
  int round;
  int i;
  for (round = 0; round < 50; round++) {
    shared = NULL;
    made = 0;
    pthread_barrier_init(&start, NULL, 4);
    for (i = 0; i < 4; i++) {
      ok[i] = 0;
      pthread_create(&threads[i], NULL, ask, &ok[i]);
    }
    for (i = 0; i < 4; i++) {
      pthread_join(threads[i], NULL);
      CHECK(ok[i]);
    }
    pthread_barrier_destroy(&start);
    CHECK_INT(made, 1);
  }
}

/* ---- bad input --------------------------------------------------------------------------- */

static void* nested;

static int make_nested(void** result) {
  int status = TVMFFIHandleInitOnce(&nested, make_handle);
  *result = &value;
  return status;
}

/* Break the contract: fail without raising an error. */
static int make_silently_fails(void** result) {
  (void)result;
  return -7;
}

static int release_silently_fails(void* handle) {
  (void)handle;
  return 3;
}

/* An earlier error, which nobody took, is not that of the function. */
static void test_silent_failures(void) {
  void* handle = NULL;
  CHECK_INT(TVMFFIHandleInitOnce(&handle, make_silently_fails), -7);
  CHECK(raised_is("InternalError", "-7"));
  TVMFFIErrorSetRaisedFromCStr("KeyError", "of an earlier call");
  CHECK_INT(TVMFFIHandleInitOnce(&handle, make_silently_fails), -7);
  CHECK(raised_is("InternalError", "-7"));
  handle = &value;
  TVMFFIErrorSetRaisedFromCStr("KeyError", "of an earlier call");
  CHECK_INT(TVMFFIHandleDeinitOnce(&handle, release_silently_fails), 3);
  CHECK(raised_is("InternalError", "3"));
}

static void test_bad_input(void) {
  void* handle = NULL;
  made = 0;
  CHECK_ERROR(TVMFFIHandleInitOnce(NULL, make_handle), "ValueError");
  CHECK_ERROR(TVMFFIHandleInitOnce(&handle, NULL), "ValueError");
  CHECK(handle == NULL);
  CHECK_ERROR(TVMFFIHandleDeinitOnce(NULL, release_handle), "ValueError");
  CHECK_INT(made, 0);
  handle = &value;
  CHECK_ERROR(TVMFFIHandleDeinitOnce(&handle, NULL), "ValueError");
  CHECK(handle == &value);
  /* one handle is created while another is being created */
  handle = NULL;
  CHECK_OK(TVMFFIHandleInitOnce(&handle, make_nested));
  CHECK(handle == &value && nested == &value);
}

int main(void) {
  census_install();
  RUN_BALANCED(test_once);
  RUN_BALANCED(test_failures);
  RUN_BALANCED(test_threads);
  if (bad_input()) {
    RUN_BALANCED(test_bad_input);
    RUN_BALANCED(test_silent_failures);
  }
  return check_report("init_once");
}
