/* print.h: texts and numbers through board_write; no C library is needed. */
#ifndef PRINT_H_
#define PRINT_H_

#include <stddef.h>
#include <stdint.h>

void print_bytes(const char* text, size_t size);
void print_text(const char* text);
void print_number(uint64_t number);
/* As 5.8e-06: two digits are enough to see how far off something is. */
void print_small(double value);

/* One row of the table that run.sh prints: "row|NAME|RESULT|INSTRUCTIONS". print_row_end takes 10 times their number. */
void print_row_start(const char* name);
void print_row_end(uint64_t tenths_of_instructions);

#endif /* PRINT_H_ */
