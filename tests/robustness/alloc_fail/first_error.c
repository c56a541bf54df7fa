/*
 * The first error of a thread while the process gets no memory at all, not even the C library for
 * itself: the caller gets an error, the process goes on, and what the thread leaves behind is
 * released when it ends.
 *
 *   first_error [KEYS]     # creates so many pthread keys first; glibc allocates for the values of a thread beyond 32
 */
#include "failing_malloc.h"
/* After it, since it needs its feature macros. */
#include "../../conformance/c/check.h"

#include <pthread.h>

static void refuse(int all) {
  heap.of_all = heap.from_there = all;
  heap.fail_in = all;
}

static void raise_error(void) { CHECK_INT(TVMFFIFunctionCall(NULL, NULL, -1, NULL), -1); }

static void take_error(void) {
  TVMFFIObjectHandle error = NULL;
  TVMFFIErrorMoveFromRaised(&error);
  if (CHECK(error != NULL)) {
    CHECK(bytes_equal(&CELL(TVMFFIErrorCell, error)->kind, "MemoryError"));
    TVMFFIObjectDecRef(error);
  }
}

static void* take_it(void* unused) {
  refuse(1);
  raise_error();
  take_error();
  refuse(0);
  return unused;
}

static void* leave_it(void* unused) {
  refuse(1);
  raise_error();
  refuse(0);
  return unused;
}

/* Leaves an error that takes memory, after one without. */
static void* leave_the_second(void* unused) {
  refuse(1);
  raise_error();
  take_error();
  refuse(0);
  raise_error();
  return unused;
}

static pthread_key_t later_key;

/* The destructor of a key that is younger than the library's. */
static void raise_at_end(void* unused) {
  (void)unused;
  raise_error();
}

static void* leave_one_at_the_end(void* unused) {
  take_it(NULL);
  CHECK_INT(pthread_setspecific(later_key, &later_key), 0);
  return unused;
}

static void run(void* (*thread)(void*), const char* what) {
  const long live = heap.live;
  const int failed = checks_failed;
  pthread_t started;
  heap.failed = 0;
  CHECK_INT(pthread_create(&started, NULL, thread, NULL), 0);
  CHECK_INT(pthread_join(started, NULL), 0);
  CHECK(heap.failed > 0);
  CHECK_INT(heap.live, live);
  if (checks_failed != failed) {
    printf("  %s\n", what);
  }
}

int main(int argc, char** argv) {
  pthread_key_t key;
  int keys = argc > 1 ? atoi(argv[1]) : 0;
  if (!watch_library()) {
    return 2;
  }
  while (keys-- > 0) {
    CHECK_INT(pthread_key_create(&key, NULL), 0);
  }
  /* What the first error of the process allocates stays. */
  raise_error();
  CHECK(raised_is(NULL, NULL));
  CHECK_INT(pthread_key_create(&later_key, raise_at_end), 0);
  run(take_it, "the error is taken");
  run(leave_it, "the error is left");
  run(leave_the_second, "a later error is left");
  run(leave_one_at_the_end, "a destructor leaves an error");
  return check_report("first_error");
}
