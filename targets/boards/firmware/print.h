/* print.h: texts and numbers through board_write; no C library is needed. */
#ifndef PRINT_H_
#define PRINT_H_

#include <stddef.h>
#include <stdint.h>

void print_bytes(const char* text, size_t size);
void print_text(const char* text);
void print_number(uint32_t number);
/* As 5.8e-06: two digits are enough to see how far off something is. */
void print_small(double value);

/* One row of the table that run.sh prints: "row|NAME|RESULT|INSTRUCTIONS"; what is printed between start and end is the result. */
void print_row_start(const char* name);
void print_row_end(void);
/* Takes 10 times the number of instructions. */
void print_row_end_measured(uint32_t tenths_of_instructions);

/* For the table, the most bytes that were in use at once: of a memory of this name, and of the stack. */
void print_measure(const char* memory, size_t bytes);
void print_stack(void);

#endif /* PRINT_H_ */
