/*
 * Signal handlers perform the operations that c_api.h allows while the interrupted code performs
 * the same ones: all counts must be balanced. First in a process with one thread, where counts need
 * no locked instructions, then with a second thread.
 */
#include "check.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

/* Number of references taken by handlers and not yet released. */
static volatile long held;
static volatile long handled;
static volatile long handler_failures;

static TVMFFIObjectHandle shared;   /* retained and released by all */
static TVMFFIObjectHandle function; /* in the global table as "signals.function" */
static int32_t type_index;

static int retain_shared(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self;
  (void)args;
  (void)num_args;
  TVMFFIObjectIncRef(shared);
  *result = any_none();
  return 0;
}

/* Alternately keeps three references to the shared object, and releases them. */
static void handle(int signal) {
  TVMFFIByteArray name = bytes_of("signals.function");
  TVMFFIByteArray key = bytes_of("signals.Type");
  TVMFFIByteArray column = bytes_of("__signals__");
  TVMFFIAny view = any_object(shared);
  TVMFFIAny owned = any_none();
  TVMFFIAny result = any_none();
  TVMFFIObjectHandle found = NULL;
  TVMFFIVersion version;
  int32_t index = 0;
  long bad = signal != SIGUSR1;
  if (handled % 2 == 0) {
    bad += TVMFFIObjectIncRef(shared) != 0;
    bad += TVMFFIAnyViewToOwnedAny(&view, &owned) != 0 || owned.v_obj != shared;
    bad += TVMFFIFunctionGetGlobal(&name, &found) != 0 || found != function;
    bad += TVMFFIFunctionCall(found, NULL, 0, &result) != 0;
    bad += TVMFFIObjectDecRef(found) != 0;
    held += 3;
  } else {
    for (; held > 0; held--) {
      bad += TVMFFIObjectDecRef(shared) != 0;
    }
  }
  TVMFFIGetVersion(&version);
  bad += TVMFFIGetCustomAllocator() == NULL;
  bad += TVMFFITypeKeyToIndex(&key, &index) != 0 || index != type_index;
  bad += TVMFFIGetTypeInfo(index) == NULL || TVMFFIGetTypeAttrColumn(&column) == NULL;
  handler_failures += bad;
  handled++;
}

/* Retains and releases the shared object, directly and through the table, until the handler has run
 * this often. */
static void count_until(long end) {
  TVMFFIByteArray name = bytes_of("signals.function");
  long bad = 0;
  while (handled < end) {
    TVMFFIAny view = any_object(shared);
    TVMFFIAny owned = any_none();
    TVMFFIObjectHandle found = NULL;
    bad += TVMFFIObjectIncRef(shared) != 0;
    bad += TVMFFIAnyViewToOwnedAny(&view, &owned) != 0;
    bad += TVMFFIFunctionGetGlobal(&name, &found) != 0 || found != function;
    bad += TVMFFIObjectDecRef(owned.v_obj) != 0;
    bad += TVMFFIObjectDecRef(found) != 0;
    bad += TVMFFIObjectDecRef(shared) != 0;
  }
  CHECK_INT(bad, 0);
}

/* Starts or stops a signal to this process every 20 microseconds. */
static void send_signals(timer_t timer, long nanoseconds) {
  struct itimerspec every;
  memset(&every, 0, sizeof(every));
  every.it_interval.tv_nsec = nanoseconds;
  every.it_value.tv_nsec = nanoseconds;
  CHECK_INT(timer_settime(timer, 0, &every, NULL), 0);
}

static void test_counts(const char* where) {
  struct sigaction action;
  long end = handled + stress(60001);
  struct sigevent event;
  timer_t timer;
  memset(&event, 0, sizeof(event));
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGUSR1;
  memset(&action, 0, sizeof(action));
  action.sa_handler = handle;
  CHECK_INT(sigaction(SIGUSR1, &action, NULL), 0);
  CHECK_INT(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
  send_signals(timer, 20000);
  count_until(end);
  send_signals(timer, 0);
  CHECK_INT(timer_delete(timer), 0);
  action.sa_handler = SIG_IGN;
  CHECK_INT(sigaction(SIGUSR1, &action, NULL), 0);
  printf("%s: %ld signals, %u references, of which handlers hold %ld\n", where, handled, strong_count(shared), held);
  CHECK_INT(strong_count(shared), 1 + held);
  CHECK_INT(strong_count(function), 2);
  CHECK_INT(handler_failures, 0);
}

static void* wait_for_end(void* gate) {
  pthread_mutex_lock((pthread_mutex_t*)gate);
  pthread_mutex_unlock((pthread_mutex_t*)gate);
  return NULL;
}

static void test_counts_beside_a_thread(void) {
  static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
  pthread_t thread;
  sigset_t signals;
  pthread_mutex_lock(&gate);
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  /* The new thread blocks the signal, so that this thread handles it. */
  CHECK_INT(pthread_sigmask(SIG_BLOCK, &signals, NULL), 0);
  CHECK_INT(pthread_create(&thread, NULL, wait_for_end, &gate), 0);
  CHECK_INT(pthread_sigmask(SIG_UNBLOCK, &signals, NULL), 0);
  test_counts("two threads");
  pthread_mutex_unlock(&gate);
  pthread_join(thread, NULL);
}

int main(void) {
  TVMFFIByteArray name = bytes_of("signals.function");
  TVMFFIByteArray key = bytes_of("signals.Type");
  TVMFFIByteArray column = bytes_of("__signals__");
  TVMFFIAny one = any_int(1);
  int32_t index = 0;
  CHECK_OK(TVMFFIFunctionCreate(NULL, retain_shared, NULL, &shared));
  CHECK_OK(TVMFFIFunctionCreate(NULL, retain_shared, NULL, &function));
  CHECK_OK(TVMFFIFunctionSetGlobal(&name, function, 0));
  type_index = TVMFFITypeGetOrAllocIndex(&key, -1, 1, 0, 1, kTVMFFIObject);
  CHECK(type_index > 0);
  CHECK_OK(TVMFFITypeRegisterAttr(type_index, &column, &one));
  CHECK_OK(TVMFFITypeKeyToIndex(&key, &index));
  test_counts("one thread");
  test_counts_beside_a_thread();
  for (; held > 0; held--) {
    TVMFFIObjectDecRef(shared);
  }
  TVMFFIObjectDecRef(shared);
  TVMFFIObjectDecRef(function);
  return check_report("signals");
}
