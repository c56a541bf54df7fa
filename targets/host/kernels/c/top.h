/*
 * top.h: the largest elements of a row.
 *
 * Copyright the Ferrite developers. SPDX-License-Identifier: Apache-2.0
 */
#ifndef FERRITE_KERNELS_TOP_H_
#define FERRITE_KERNELS_TOP_H_

#include <math.h>
#include <stdint.h>

/*
 * Writes the k largest of n elements and their places, the largest first, of equal ones the
 * earliest; k is at most n. What is not a number counts as minus infinity. Most elements are
 * compared once: they are smaller than the k that are there.
 */
static inline void select_top(float* values, int32_t* places, int32_t k, const float* x, int32_t n) {
  int32_t count = 0;
  for (int32_t i = 0; i < n && k > 0; ++i) {
    const float value = x[i] == x[i] ? x[i] : -INFINITY;
    if (count == k && value <= values[k - 1]) continue;
    int32_t at = count < k ? count++ : k - 1;
    for (; at > 0 && values[at - 1] < value; --at) {
      values[at] = values[at - 1];
      places[at] = places[at - 1];
    }
    values[at] = value;
    places[at] = i;
  }
}

#endif /* FERRITE_KERNELS_TOP_H_ */
