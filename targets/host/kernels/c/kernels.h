/*
 * kernels.h: what the kernels in C have in common.
 *
 * Copyright the Ferrite developers. SPDX-License-Identifier: Apache-2.0
 */
#ifndef FERRITE_KERNELS_H_
#define FERRITE_KERNELS_H_

#include <math.h>

#include <ferrite/kernel.h>

/*
 * Compiles a function for several processors; the loader chooses. Give it to the function of one
 * row, and start threads in its caller: the body of a parallel loop is a function of its own, which
 * compilers do not clone.
 */
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#define VECTOR __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define VECTOR
#endif

/* Number of elements from which threads are worth their start. */
#define PARALLEL 32768

/*
 * Runs a block for each number from 0 up to `count`, in threads if together they work on enough
 * elements. The choice is made before the parallel region, since even one of a single thread costs
 * more than a small kernel.
 */
#define PARALLEL_FOR(i, count, work, ...)               \
  do {                                                  \
    if ((count) > 1 && (work) > PARALLEL) {             \
      _Pragma("omp parallel for")                       \
      for (int64_t i = 0; i < (count); ++i) __VA_ARGS__ \
    } else {                                            \
      for (int64_t i = 0; i < (count); ++i) __VA_ARGS__ \
    }                                                   \
  } while (0)

/* The elements of a tensor, by their type. */
static inline float* f32(const FerriteTensorArg* x) { return (float*)ferrite_data(x); }
static inline int32_t* i32(const FerriteTensorArg* x) { return (int32_t*)ferrite_data(x); }
static inline int64_t* i64(const FerriteTensorArg* x) { return (int64_t*)ferrite_data(x); }

#endif /* FERRITE_KERNELS_H_ */
