/* print.h: prints strings and numbers by board_write, without a C library. */
#ifndef PRINT_H_
#define PRINT_H_

#include <stddef.h>
#include <stdint.h>

void print_bytes(const char* text, size_t size);
void print_text(const char* text);
void print_number(uint32_t number);
/* Prints a number like 5.8e-06: two digits show the magnitude of an error. */
void print_small(double value);

/* Begins a row of the table that run.sh prints: "row|NAME|RESULT|INSTRUCTIONS". Text printed before
 * the end of the row is the result. */
void print_row_start(const char* name);
void print_row_end(void);
/* Ends the row; the argument is 10 times the number of instructions. */
void print_row_end_measured(uint32_t tenths_of_instructions);

/* Prints the maximum use of a memory of this name, and of the stack, for the table. */
void print_measure(const char* memory, size_t bytes);
void print_stack(void);

#endif /* PRINT_H_ */
