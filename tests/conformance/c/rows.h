/* A table of the symbols that a program tests, each with its test. */
#ifndef FERRITE_TESTS_C_ROWS_H_
#define FERRITE_TESTS_C_ROWS_H_

#include "check.h"

typedef struct {
  const char* symbol;
  void (*test)(void);
  const char* what; /* description of the test, or why there is none */
} check_row;

/* Returns true if a file lists exactly these symbols, one per line in alphabetical order. */
UNUSED_OK static int rows_are_those_of(const char* path, const check_row* rows, size_t count) {
  FILE* list = path == NULL ? NULL : fopen(path, "r");
  char line[80];
  size_t i = 0;
  int same = list != NULL;
  while (same && fgets(line, sizeof(line), list) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    if (i >= count || strcmp(rows[i].symbol, line) != 0) {
      printf("  row %lu is %s, but %s names %s\n", (unsigned long)i,
             i < count ? rows[i].symbol : "missing", path, line);
      same = 0;
    }
    i++;
  }
  if (list != NULL) {
    fclose(list);
  }
  return same && i == count;
}

UNUSED_OK static void run_rows(const check_row* rows, size_t count) {
  size_t i;
  for (i = 0; i < count; i++) {
    printf("%s: %s%s\n", rows[i].symbol, rows[i].test == NULL ? "none: " : "", rows[i].what);
    if (rows[i].test != NULL) {
      rows[i].test();
      CHECK(nothing_raised());
    }
  }
}

#endif /* FERRITE_TESTS_C_ROWS_H_ */
