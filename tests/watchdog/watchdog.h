/*
 * A watchdog for test programs that hang, however slow or busy the machine is. It counts the
 * process's own time, not that of the wall: a process that waits for a lock gets no processor time,
 * one that spins gets much, and one that is merely starved gets little, but some. watchdog.rs is
 * the same for tests in Rust, watched.py for commands.
 */
#ifndef FERRITE_TESTS_WATCHDOG_H_
#define FERRITE_TESTS_WATCHDOG_H_

#include <errno.h>
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SIGALRM /* strict C hides it */
#define SIGALRM 14
#endif

#ifdef __cplusplus
extern "C" {
#endif
int siginterrupt(int number, int flag); /* strict C hides it, too */
#ifdef __cplusplus
}
#endif

/* Number of looks at the process before it counts as hanging. */
#ifndef WATCHDOG_TICKS
#define WATCHDOG_TICKS 10
#endif
/* Seconds of processor time for each second of patience. */
#ifndef WATCHDOG_BUSY
#define WATCHDOG_BUSY 10.0
#endif
/* Processor time between two looks that means no progress. The look itself takes some. */
#define WATCHDOG_IDLE_MICROS 2000

static struct {
  unsigned seconds, idle_ticks;
  clock_t start, last;
} watchdog_state_;

static void watchdog_look_(int number);

static void watchdog_wait_(void) {
  unsigned tick = watchdog_state_.seconds / WATCHDOG_TICKS;
  signal(SIGALRM, watchdog_look_);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* strict C has no sigaction */
  siginterrupt(SIGALRM, 0);
#pragma GCC diagnostic pop
  alarm(tick == 0 ? 1 : tick);
}

static void watchdog_look_(int number) {
  int error = errno;
  clock_t now = clock();
  double used = (double)(now - watchdog_state_.last) * 1e6 / CLOCKS_PER_SEC;
  double in_all = (double)(now - watchdog_state_.start) / CLOCKS_PER_SEC;
  watchdog_state_.idle_ticks = used < WATCHDOG_IDLE_MICROS ? watchdog_state_.idle_ticks + 1 : 0;
  watchdog_state_.last = now;
  if (watchdog_state_.idle_ticks >= WATCHDOG_TICKS || in_all > WATCHDOG_BUSY * watchdog_state_.seconds) {
    signal(number, SIG_DFL);
    raise(number); /* ends the process, at the latest when this handler returns */
  } else {
    watchdog_wait_();
  }
  errno = error;
}

/*
 * Ends the process by SIGALRM if it gets no processor time for this many seconds, or uses ten times
 * as many of processor time, until the next call. 0 stops the watchdog. A forked child has none
 * until it calls this itself.
 */
__attribute__((unused)) static void watchdog(unsigned seconds) {
  watchdog_state_.seconds = seconds;
  watchdog_state_.idle_ticks = 0;
  watchdog_state_.start = watchdog_state_.last = clock();
  if (seconds == 0) {
    alarm(0);
  } else {
    watchdog_wait_();
  }
}

/*
 * Waits for a child that has a watchdog of its own, while this process's watchdog is stopped: a
 * parent gets no processor time, however long its child lives. Returns what waitpid returns.
 */
__attribute__((unused)) static pid_t wait_for_watched(pid_t child, int* status) {
  unsigned seconds = watchdog_state_.seconds;
  pid_t ended;
  watchdog(0);
  ended = waitpid(child, status, 0);
  watchdog(seconds);
  return ended;
}

#endif /* FERRITE_TESTS_WATCHDOG_H_ */
