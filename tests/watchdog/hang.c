/* Hangs in one of two ways, or goes on slowly and ends. */
#include "watchdog.h"

#include <string.h>

/* Uses the processor for this long. */
static void work(double microseconds) {
  clock_t end = clock() + (clock_t)(microseconds * CLOCKS_PER_SEC / 1e6);
  while (clock() < end) {
  }
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
  } else {
    for (round = 0; round < 5; round++) {
      sleep(1); /* ends early when the watchdog looks */
      work(10000);
      sleep(1);
    }
  }
  return 0;
}
