/* Errors: creation, the raised error of the thread, backtraces. */
#include "check.h"

#include <pthread.h>

static TVMFFIObjectHandle create(const char* kind, const char* message, const char* backtrace) {
  TVMFFIByteArray k = bytes_of(kind);
  TVMFFIByteArray m = bytes_of(message);
  TVMFFIByteArray b = bytes_of(backtrace);
  TVMFFIObjectHandle error = NULL;
  CHECK_INT(TVMFFIErrorCreate(&k, &m, &b, &error), 0);
  return error;
}

static void test_create(void) {
  TVMFFIObjectHandle error = create("ValueError", "message", "frame one\n");
  TVMFFIErrorCell* cell = CELL(TVMFFIErrorCell, error);
  TVMFFIByteArray more = bytes_of("frame two\n");
  CHECK_INT(((TVMFFIObject*)error)->type_index, kTVMFFIError);
  CHECK(bytes_equal(&cell->kind, "ValueError"));
  CHECK(bytes_equal(&cell->message, "message"));
  CHECK(bytes_equal(&cell->backtrace, "frame one\n"));
  CHECK(cell->cause_chain == NULL);
  CHECK(cell->extra_context == NULL);
  CHECK(cell->update_backtrace != NULL);
  cell->update_backtrace(error, &more, kTVMFFIBacktraceUpdateModeAppend);
  CHECK(bytes_equal(&cell->backtrace, "frame one\nframe two\n"));
  cell->update_backtrace(error, &more, kTVMFFIBacktraceUpdateModeReplace);
  CHECK(bytes_equal(&cell->backtrace, "frame two\n"));
  TVMFFIObjectDecRef(error);

  /* any kind chosen by the caller, and empty parts */
  error = create("MyOwnKind", "", "");
  cell = CELL(TVMFFIErrorCell, error);
  CHECK(bytes_equal(&cell->kind, "MyOwnKind"));
  CHECK_INT(cell->message.size, 0);
  CHECK_INT(cell->backtrace.size, 0);
  TVMFFIObjectDecRef(error);
}

static void test_cause_and_context(void) {
  TVMFFIByteArray kind = bytes_of("RuntimeError");
  TVMFFIByteArray message = bytes_of("outer");
  TVMFFIByteArray backtrace = bytes_of("");
  TVMFFIObjectHandle cause = create("KeyError", "inner", "");
  TVMFFIObjectHandle context = NULL;
  TVMFFIObjectHandle error = NULL;
  TVMFFIErrorCell* cell;
  CHECK_OK(TVMFFIObjectCreateOpaque(NULL, kTVMFFIOpaquePyObject, NULL, &context));
  CHECK_INT(TVMFFIErrorCreateWithCauseAndExtraContext(&kind, &message, &backtrace, cause, context,
                                                      &error),
            0);
  cell = CELL(TVMFFIErrorCell, error);
  CHECK(cell->cause_chain == cause);
  CHECK(cell->extra_context == context);
  CHECK_INT(strong_count(cause), 2);
  CHECK_INT(strong_count(context), 2);
  TVMFFIObjectDecRef(error);
  CHECK_INT(strong_count(cause), 1);
  CHECK_INT(strong_count(context), 1);
  CHECK_INT(
      TVMFFIErrorCreateWithCauseAndExtraContext(&kind, &message, &backtrace, NULL, NULL, &error),
      0);
  CHECK(CELL(TVMFFIErrorCell, error)->cause_chain == NULL);
  TVMFFIObjectDecRef(error);
  TVMFFIObjectDecRef(cause);
  TVMFFIObjectDecRef(context);
}

static void test_raise_and_take(void) {
  TVMFFIObjectHandle error = create("ValueError", "raised", "");
  TVMFFIObjectHandle taken = UNTOUCHED;
  TVMFFIErrorMoveFromRaised(&taken);
  CHECK(taken == NULL);
  TVMFFIErrorSetRaised(error);
  CHECK_INT(strong_count(error), 2);
  TVMFFIErrorMoveFromRaised(&taken);
  CHECK(taken == error);
  CHECK_INT(strong_count(error), 2);
  TVMFFIObjectDecRef(taken);
  TVMFFIErrorMoveFromRaised(&taken);
  CHECK(taken == NULL);
  /* a second error replaces the first */
  TVMFFIErrorSetRaised(error);
  TVMFFIErrorSetRaisedFromCStr("KeyError", "second");
  CHECK_INT(strong_count(error), 1);
  CHECK(raised_is("KeyError", "second"));
  TVMFFIObjectDecRef(error);
}

static void raise_another(void* unused) {
  (void)unused;
  TVMFFIErrorSetRaisedFromCStr("OtherError", "of a deleter");
}

/* Destroying an untaken error may raise another one; the new error must stay raised. */
static void test_stale_error_that_raises(void) {
  TVMFFIByteArray kind = bytes_of("KeyError");
  TVMFFIByteArray none = bytes_of("");
  TVMFFIObjectHandle context = NULL;
  TVMFFIObjectHandle stale = NULL;
  CHECK_OK(TVMFFIObjectCreateOpaque(NULL, kTVMFFIOpaquePyObject, raise_another, &context));
  CHECK_OK(TVMFFIErrorCreateWithCauseAndExtraContext(&kind, &none, &none, NULL, context, &stale));
  TVMFFIObjectDecRef(context);
  TVMFFIErrorSetRaised(stale);
  TVMFFIObjectDecRef(stale);
  TVMFFIErrorSetRaisedFromCStr("ValueError", "the last");
  CHECK(raised_is("ValueError", "the last"));
}

/* Without a status, a line on standard error reports the failure, and the error stays raised. */
static void test_no_place_for_the_error(void) {
  char line[128] = "";
  int ends[2];
  int standard_error = dup(2);
  CHECK(standard_error >= 0 && open_pipe(ends) == 0 && dup2(ends[1], 2) >= 0);
  TVMFFIErrorSetRaisedFromCStr("KeyError", "kept");
  TVMFFIErrorMoveFromRaised(NULL);
  CHECK(dup2(standard_error, 2) >= 0 && close(standard_error) == 0 && close(ends[1]) == 0);
  CHECK(read(ends[0], line, sizeof(line) - 1) > 0 && strstr(line, "TVMFFIErrorMoveFromRaised") != NULL);
  CHECK(close(ends[0]) == 0);
  CHECK(raised_is("KeyError", "kept"));
}

static void test_from_text(void) {
  const char* parts[5];
  TVMFFIObjectHandle taken = NULL;
  TVMFFIErrorSetRaisedFromCStr("TypeError", "message text");
  TVMFFIErrorMoveFromRaised(&taken);
  CHECK(taken != NULL);
  CHECK(bytes_equal(&CELL(TVMFFIErrorCell, taken)->kind, "TypeError"));
  CHECK(bytes_equal(&CELL(TVMFFIErrorCell, taken)->message, "message text"));
  TVMFFIObjectDecRef(taken);
  parts[0] = "one ";
  parts[1] = NULL;
  parts[2] = "two ";
  parts[3] = "";
  parts[4] = "three";
  TVMFFIErrorSetRaisedFromCStrParts("ValueError", parts, 5);
  TVMFFIErrorMoveFromRaised(&taken);
  CHECK(bytes_equal(&CELL(TVMFFIErrorCell, taken)->message, "one two three"));
  TVMFFIObjectDecRef(taken);
  TVMFFIErrorSetRaisedFromCStrParts("ValueError", parts, 0);
  TVMFFIErrorMoveFromRaised(&taken);
  CHECK_INT(CELL(TVMFFIErrorCell, taken)->message.size, 0);
  TVMFFIObjectDecRef(taken);
  TVMFFIErrorSetRaisedFromCStrParts("ValueError", NULL, 0);
  CHECK(raised_is("ValueError", NULL));
}

static void* other_thread(void* argument) {
  TVMFFIObjectHandle taken = UNTOUCHED;
  int* ok = (int*)argument;
  TVMFFIErrorMoveFromRaised(&taken);
  *ok = taken == NULL;
  TVMFFIErrorSetRaisedFromCStr("KeyError", "of the other thread");
  return NULL; /* freed with the thread */
}

static void test_threads(void) {
  pthread_t thread;
  int ok = 0;
  TVMFFIErrorSetRaisedFromCStr("ValueError", "of this thread");
  CHECK_INT(pthread_create(&thread, NULL, other_thread, &ok), 0);
  pthread_join(thread, NULL);
  CHECK(ok);
  CHECK(raised_is("ValueError", "of this thread"));
}

static void test_backtrace(void) {
  const TVMFFIByteArray* trace = TVMFFIBacktrace(__FILE__, __LINE__, "test_backtrace", 0);
  CHECK(trace != NULL);
  trace = TVMFFIBacktrace(NULL, 0, NULL, 1);
  CHECK(trace != NULL);
  CHECK(trace->size == 0 || trace->data != NULL);
}

#ifdef __linux__
/* Returns true if every line is a frame, and main's frame is the last before the C runtime's. */
static int is_of_main(const TVMFFIByteArray* trace) {
  const char *at = trace->data, *end = trace->data + trace->size;
  int found = 0;
  while (at < end) {
    const char* line_end = (const char*)memchr(at, '\n', (size_t)(end - at));
    if (line_end == NULL || strncmp(at, "  File \"", 8) != 0) return 0;
    found = found || (line_end - at > 8 && strncmp(line_end - 8, " in main", 8) == 0);
    at = line_end + 1;
  }
  return found;
}
#endif

static void test_backtraces_of_errors(void) {
  const char own_line[] = "  File \"error.c\", line 7, in own_line\n";
  const TVMFFIByteArray* trace = TVMFFIBacktrace("error.c", 7, "own_line", 0);
  TVMFFIByteArray no_type = bytes_of("test.no_such_type");
  TVMFFIObjectHandle taken = NULL;
  int32_t index = 0;
  size_t size;
  CHECK(trace->size >= sizeof own_line - 1 && strncmp(trace->data, own_line, sizeof own_line - 1) == 0);
#ifdef __linux__
  CHECK(is_of_main(trace));
#endif
  TVMFFIErrorSetRaisedFromCStr("ValueError", "made here");
  TVMFFIErrorMoveFromRaised(&taken);
#ifdef __linux__
  CHECK(is_of_main(&CELL(TVMFFIErrorCell, taken)->backtrace));
#endif
  TVMFFIObjectDecRef(taken);
  CHECK_INT(TVMFFITypeKeyToIndex(&no_type, &index), -1);
  TVMFFIErrorMoveFromRaised(&taken);
#ifdef __linux__
  CHECK(is_of_main(&CELL(TVMFFIErrorCell, taken)->backtrace));
#endif
  /* Raising the error again does not write another backtrace. */
  size = CELL(TVMFFIErrorCell, taken)->backtrace.size;
  TVMFFIErrorSetRaised(taken);
  CHECK(CELL(TVMFFIErrorCell, taken)->backtrace.size == size);
  TVMFFIObjectDecRef(taken);
  TVMFFIErrorMoveFromRaised(&taken);
  TVMFFIObjectDecRef(taken);
}

static void test_long_message(void) {
  size_t size = 1 << 20;
  char* message = (char*)malloc(size + 1);
  TVMFFIObjectHandle taken = NULL;
  memset(message, 'm', size);
  message[size] = '\0';
  TVMFFIErrorSetRaisedFromCStr("ValueError", message);
  TVMFFIErrorMoveFromRaised(&taken);
  CHECK(taken != NULL);
  CHECK_INT(CELL(TVMFFIErrorCell, taken)->message.size, size);
  TVMFFIObjectDecRef(taken);
  free(message);
}

/* ---- bad input --------------------------------------------------------------------------- */

/* TVMFFIErrorCreate does not raise, since raising itself creates an error. */
#define CHECK_REFUSED(call)                    \
  do {                                         \
    TVMFFIObjectHandle left_ = NULL;           \
    CHECK_INT(call, -1);                       \
    TVMFFIErrorMoveFromRaised(&left_);         \
    if (left_ != NULL) {                       \
      TVMFFIObjectDecRef(left_);               \
    }                                          \
  } while (0)

static void test_bad_create(void) {
  TVMFFIByteArray good = bytes_of("text");
  TVMFFIByteArray no_data = bytes_of_length(NULL, 4);
  TVMFFIByteArray huge = bytes_of_length("x", (size_t)-1);
  TVMFFIByteArray large = bytes_of_length("x", (size_t)-1 / 2 + 1);
  TVMFFIByteArray* wrong[4];
  TVMFFIObjectHandle error = UNTOUCHED;
  TVMFFIObjectHandle text_error = NULL;
  TVMFFIAny text = any_none();
  TVMFFIByteArray long_text = bytes_of("a text that lives in an object");
  size_t i;
  wrong[0] = NULL;
  wrong[1] = &no_data;
  wrong[2] = &huge;
  wrong[3] = &large;
  for (i = 0; i < 4; i++) {
    CHECK_REFUSED(TVMFFIErrorCreate(wrong[i], &good, &good, &error));
    CHECK_REFUSED(TVMFFIErrorCreate(&good, wrong[i], &good, &error));
    if (i != 0) {
      CHECK_REFUSED(TVMFFIErrorCreate(&good, &good, wrong[i], &error));
    }
    CHECK_REFUSED(TVMFFIErrorCreateWithCauseAndExtraContext(wrong[i], &good, &good, NULL, NULL,
                                                            &error));
    CHECK_REFUSED(TVMFFIErrorCreateWithCauseAndExtraContext(&good, wrong[i], &good, NULL, NULL,
                                                            &error));
  }
  CHECK(error == UNTOUCHED);
  CHECK_REFUSED(TVMFFIErrorCreate(&good, &good, &good, NULL));
  CHECK_REFUSED(TVMFFIErrorCreateWithCauseAndExtraContext(&good, &good, &good, NULL, NULL, NULL));
  /* a cause that is not an error */
  CHECK_OK(TVMFFIStringFromByteArray(&long_text, &text));
  CHECK_REFUSED(TVMFFIErrorCreateWithCauseAndExtraContext(&good, &good, &good, text.v_obj, NULL,
                                                          &error));
  CHECK(error == UNTOUCHED);
  CHECK_INT(strong_count(text.v_obj), 1);
  /* out of memory */
  census.fail_in = 1;
  CHECK_REFUSED(TVMFFIErrorCreate(&good, &good, &good, &error));
  census.fail_in = 1;
  CHECK_REFUSED(
      TVMFFIErrorCreateWithCauseAndExtraContext(&good, &good, &good, NULL, text.v_obj, &error));
  census.fail_in = 0;
  CHECK(error == UNTOUCHED);
  CHECK_INT(strong_count(text.v_obj), 1);
  /* an object that is not an error cannot be raised */
  TVMFFIErrorSetRaised(text.v_obj);
  TVMFFIErrorMoveFromRaised(&text_error);
  CHECK(text_error != (TVMFFIObjectHandle)text.v_obj);
  if (text_error != NULL) {
    CHECK_INT(((TVMFFIObject*)text_error)->type_index, kTVMFFIError);
    TVMFFIObjectDecRef(text_error);
  }
  CHECK_INT(strong_count(text.v_obj), 1);
  release_any(&text);
}

static void test_bad_raise(void) {
  const char* parts[2];
  TVMFFIObjectHandle taken = UNTOUCHED;
  parts[0] = "a";
  parts[1] = "b";
  TVMFFIErrorMoveFromRaised(NULL);
  TVMFFIErrorSetRaisedFromCStr("ValueError", "kept while the out-pointer is null");
  TVMFFIErrorMoveFromRaised(NULL);
  CHECK(raised_is("ValueError", "kept"));
  TVMFFIErrorSetRaised(NULL);
  TVMFFIErrorMoveFromRaised(&taken);
  if (taken != NULL) { /* a description of the misuse is accepted, too */
    TVMFFIObjectDecRef(taken);
  }
  TVMFFIErrorSetRaisedFromCStr(NULL, "no kind");
  CHECK(raised_is(NULL, NULL));
  TVMFFIErrorSetRaisedFromCStr("ValueError", NULL);
  CHECK(raised_is(NULL, NULL));
  TVMFFIErrorSetRaisedFromCStr(NULL, NULL);
  CHECK(raised_is(NULL, NULL));
  TVMFFIErrorSetRaisedFromCStrParts(NULL, parts, 2);
  CHECK(raised_is(NULL, NULL));
  TVMFFIErrorSetRaisedFromCStrParts("ValueError", NULL, 2);
  CHECK(raised_is(NULL, NULL));
  TVMFFIErrorSetRaisedFromCStrParts("ValueError", parts, -1);
  CHECK(raised_is(NULL, NULL));
  TVMFFIErrorSetRaisedFromCStrParts("ValueError", parts, INT_MIN);
  CHECK(raised_is(NULL, NULL));
  census.fail_in = 1;
  TVMFFIErrorSetRaisedFromCStr("ValueError", "no memory for this message");
  census.fail_in = 0;
  CHECK(raised_is("MemoryError", NULL));
}

static void test_bad_backtrace_update(void) {
  TVMFFIObjectHandle error = create("ValueError", "message", "frame\n");
  TVMFFIErrorCell* cell = CELL(TVMFFIErrorCell, error);
  TVMFFIByteArray no_data = bytes_of_length(NULL, 4);
  TVMFFIByteArray huge = bytes_of_length("x", (size_t)-1);
  TVMFFIByteArray more = bytes_of("more\n");
  TVMFFIByteArray itself;
  cell->update_backtrace(error, NULL, kTVMFFIBacktraceUpdateModeAppend);
  cell->update_backtrace(error, &no_data, kTVMFFIBacktraceUpdateModeAppend);
  cell->update_backtrace(error, &huge, kTVMFFIBacktraceUpdateModeReplace);
  cell->update_backtrace(NULL, &more, kTVMFFIBacktraceUpdateModeReplace);
  CHECK(bytes_equal(&cell->backtrace, "frame\n"));
  cell->update_backtrace(error, &more, 77);
  cell->update_backtrace(error, &more, kTVMFFIBacktraceUpdateModeReplace);
  /* the new text overlaps the old one */
  itself = cell->backtrace;
  cell->update_backtrace(error, &itself, kTVMFFIBacktraceUpdateModeAppend);
  CHECK(bytes_equal(&cell->backtrace, "more\nmore\n"));
  itself = cell->backtrace;
  cell->update_backtrace(error, &itself, kTVMFFIBacktraceUpdateModeReplace);
  CHECK(bytes_equal(&cell->backtrace, "more\nmore\n"));
  TVMFFIObjectDecRef(error);
  TVMFFIBacktrace(NULL, -1, "function", -1);
  TVMFFIBacktrace("file", INT_MIN, NULL, INT_MAX);
}

int main(void) {
  TVMFFIBacktrace(NULL, 0, NULL, 0); /* creates the per-thread state here */
  census_install();
  RUN_BALANCED(test_create);
  RUN_BALANCED(test_cause_and_context);
  RUN_BALANCED(test_raise_and_take);
  RUN_BALANCED(test_from_text);
  RUN_BALANCED(test_threads);
  RUN_BALANCED(test_backtrace);
  RUN_BALANCED(test_backtraces_of_errors);
  RUN_BALANCED(test_long_message);
  if (bad_input()) {
    RUN_BALANCED(test_bad_create);
    RUN_BALANCED(test_bad_raise);
    RUN_BALANCED(test_no_place_for_the_error);
    RUN_BALANCED(test_stale_error_that_raises);
    RUN_BALANCED(test_bad_backtrace_update);
  }
  return check_report("error");
}
