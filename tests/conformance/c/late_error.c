/*
 * Calls that fail late: in the destructor of a thread's key, and in a handler of the process's exit. Both run after what the
 * thread had for itself was destroyed; a failed call has an error to take all the same.
 */
#include "check.h"

#include <pthread.h>

static pthread_key_t key;

static void fail(void) {
  TVMFFIByteArray text = bytes_of("no type");
  DLDataType type;
  CHECK_ERROR(TVMFFIDataTypeFromString(&text, &type), "ValueError");
  CHECK(nothing_raised());
}

/* Two errors that nobody takes: the second one ends the first. The last one is taken. */
static void fail_late(void) {
  TVMFFIErrorSetRaisedFromCStr("ValueError", "first");
  TVMFFIErrorSetRaisedFromCStr("ValueError", "second");
  CHECK(raised_is("ValueError", "second"));
  fail();
}

static void at_end_of_thread(void* value) {
  (void)value;
  fail_late();
}

static void* run(void* argument) {
  CHECK_INT(pthread_setspecific(key, &key), 0);
  fail();
  return argument;
}

static void at_exit(void) {
  fail_late();
  if (check_report("late_error") != 0) {
    _exit(1);
  }
}

int main(void) {
  pthread_t thread;
  if (!bad_input()) {
    return check_report("late_error"); /* upstream's thread-local error is gone by then */
  }
  CHECK_INT(atexit(at_exit), 0);
  CHECK_INT(pthread_key_create(&key, at_end_of_thread), 0);
  CHECK_INT(pthread_create(&thread, NULL, run, NULL), 0);
  CHECK_INT(pthread_join(thread, NULL), 0);
  fail();
  return 0;
}
