/*
 * counted_malloc.h: a malloc that tells calls by the library under test from those of others, by the address that they return to.
 */
#ifndef COUNTED_MALLOC_H
#define COUNTED_MALLOC_H

/* Allocations by the library, allocations by others, and blocks of the library that are not freed. */
extern long counted_calls, counted_others, counted_live;

/* Finds the code of the library; nothing is the library's before. */
void counted_find_library(void);

#endif
