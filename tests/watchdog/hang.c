/* Hangs in one of two ways, goes on slowly and ends, or waits for a child that does. */
#include "watchdog.h"

#include <string.h>

/* Uses the processor for this long. */
static void work(double microseconds) {
  clock_t end = clock() + (clock_t)(microseconds * CLOCKS_PER_SEC / 1e6);
  while (clock() < end) {
  }
}

static void crawl(void) {
  int round;
  for (round = 0; round < 5; round++) {
    sleep(1); /* ends early when the watchdog looks */
    work(10000);
    sleep(1);
  }
}

static int wait_for_a_child(void) {
  int status = 1;
  pid_t child = fork();
  if (child == 0) {
    watchdog(1);
    crawl();
    _exit(0);
  }
  return wait_for_watched(child, &status) == child && status == 0 ? 0 : 1;
}

int main(int argc, char** argv) {
  int round;
  if (argc != 2) {
    return 2;
  }
  watchdog(1);
  if (strcmp(argv[1], "wait") == 0) {
    for (round = 0; round < 100; round++) {
      pause();
    }
  } else if (strcmp(argv[1], "spin") == 0) {
    work(1e9);
  } else if (strcmp(argv[1], "parent") == 0) {
    return wait_for_a_child();
  } else {
    crawl();
  }
  return 0;
}
