/*
 * Calls that fail in the destructor of a thread-specific key, and in an exit handler of the
 * process. Both run after the thread's own state was destroyed; a failed call must still raise an
 * error.
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

/* Two untaken errors, of which the second replaces the first. The last one is taken. */
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
  if (check_report("error_at_exit") != 0) {
    _exit(1);
  }
}

int main(void) {
  pthread_t thread;
  if (!bad_input()) {
    return check_report("error_at_exit"); /* upstream's thread-local error is already destroyed */
  }
  CHECK_INT(atexit(at_exit), 0);
  CHECK_INT(pthread_key_create(&key, at_end_of_thread), 0);
  CHECK_INT(pthread_create(&thread, NULL, run, NULL), 0);
  CHECK_INT(pthread_join(thread, NULL), 0);
  fail();
  return 0;
}
