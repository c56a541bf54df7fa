/*
 * Rounds: each is a process of its own that starts from the same state, so that a crash is detected
 * and costs one round. In the n-th, the n-th allocation fails, until a round needs fewer than n.
 */
#ifndef FERRITE_TESTS_ALLOC_FAIL_ROUNDS_H_
#define FERRITE_TESTS_ALLOC_FAIL_ROUNDS_H_

#include "arm.h"
#include "steps.h"

#include <sys/wait.h>
#include <unistd.h>

enum { FINISHED = 0, FAILED = 1, NOT_REACHED = 42 };

/* The outcome of a round, in which an allocation failed, or all succeeded. */
static int verdict(int reached) {
  fflush(stdout);
  if (checks_failed != 0) {
    return FAILED;
  }
  return reached ? FINISHED : NOT_REACHED;
}

/* Runs a walk whose n-th allocation fails, then one that must succeed completely; checks that
 * nothing leaked. */
static int fails_and_repeats(long n, void (*walk)(void)) {
  long blocks_before;
  long objects_before;
  long allocations_before;
  int reached;
  blocks_before = heap.live;
  objects_before = census.live;
  allocations_before = heap.count;
  arm(n);
  walk();
  reached = disarm();
  nothing_raised();
  step_failures = 0;
  walk();
  CHECK_INT(step_failures, 0);
  CHECK(nothing_raised());
  if (!CHECK_INT(census.live, objects_before)) {
    printf("  objects are left\n");
  }
  if (!CHECK_INT(heap.live, blocks_before)) {
    print_blocks_after(allocations_before);
  }
  return verdict(reached);
}

/* Runs rounds until one needs fewer allocations; returns the number of failing rounds. */
static long run(const char* name, int (*walk)(long)) {
  long n;
  long bad = 0;
  for (n = 1; n < 20000 && bad < 30; n++) {
    int status = 0;
    pid_t child;
    fflush(stdout);
    child = fork();
    if (child == 0) {
      checks_failed = 0;
      _exit(walk(n));
    }
    if (child < 0 || wait_for_watched(child, &status) != child) {
      perror("fork");
      exit(2);
    }
    if (WIFSIGNALED(status)) {
      printf("%s: allocation %ld fails: killed by signal %d\n", name, n, WTERMSIG(status));
      bad++;
    } else if (WEXITSTATUS(status) == FAILED) {
      printf("%s: allocation %ld fails: see above\n", name, n);
      bad++;
    } else if (WEXITSTATUS(status) == NOT_REACHED) {
      break;
    } else if (WEXITSTATUS(status) != FINISHED) {
      printf("%s: allocation %ld fails: exit status %d\n", name, n, WEXITSTATUS(status));
      bad++;
    }
  }
  CHECK(n > 4);
  CHECK(n < 20000);
  printf("%s: %ld allocations failed one by one, %ld of them badly\n", name, n - 1, bad);
  return bad;
}

#endif /* FERRITE_TESTS_ALLOC_FAIL_ROUNDS_H_ */
