/*
 * The allocation that fails: of objects, by the ABI's allocator record, or of any block, by the C
 * library's malloc.
 */
#ifndef FERRITE_TESTS_ALLOC_FAIL_ARM_H_
#define FERRITE_TESTS_ALLOC_FAIL_ARM_H_

#include "failing_malloc.h"

#include "../../conformance/c/check.h"

static int by_malloc;
static int onwards;

/* Makes the n-th allocation from here on fail. */
static void arm(long n) {
  if (by_malloc) {
    heap.fail_in = n;
    heap.from_there = onwards;
    heap.failed = 0;
  } else {
    census.fail_in = n;
    census.fail_onwards = onwards;
  }
}

/* Disarms the failure; returns true if an allocation has failed. */
static int disarm(void) {
  int reached;
  if (by_malloc) {
    reached = heap.failed > 0;
    heap.fail_in = 0;
    heap.from_there = 0;
  } else {
    reached = onwards ? census.fail_in == -1 : census.fail_in == 0;
    census.fail_in = 0;
    census.fail_onwards = 0;
  }
  return reached;
}

/* Reads "objects|malloc once|onwards", and counts allocations from here on. */
static void choose_failures(const char* what, const char* how) {
  by_malloc = strcmp(what, "malloc") == 0;
  onwards = strcmp(how, "onwards") == 0;
  CHECK(watch_library());
  if (by_malloc) {
    census_warm(); /* objects come from malloc, too */
  } else {
    census_install();
  }
}

#endif /* FERRITE_TESTS_ALLOC_FAIL_ARM_H_ */
