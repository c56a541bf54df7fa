/*
 * counted_malloc.h: a malloc that counts calls by the library under test apart from others, by
 * their return address.
 */
#ifndef COUNTED_MALLOC_H
#define COUNTED_MALLOC_H

/* Number of allocations by the library and by others, and of live blocks of the library. */
extern long counted_calls, counted_others, counted_live;

/* Finds the library's code; before this, all allocations count as others. */
void counted_find_library(void);

#endif
