/* print.c: see print.h. */
#include "print.h"

#include "board.h"

static size_t length(const char* text) {
  size_t size = 0;
  while (text[size] != '\0') ++size;
  return size;
}

void print_bytes(const char* text, size_t size) { board_write(text, size); }

void print_text(const char* text) { board_write(text, length(text)); }

void print_number(uint32_t number) {
  char digits[10];
  size_t at = sizeof(digits);
  do {
    digits[--at] = (char)('0' + number % 10);
    number /= 10;
  } while (number != 0);
  board_write(digits + at, sizeof(digits) - at);
}

void print_small(double value) {
  int exponent = 0, tenths;
  char digit;
  if (value != value) {
    print_text("nan");
    return;
  }
  if (value <= 0) {
    print_text("0");
    return;
  }
  if (value == value / 2) {
    print_text("inf");
    return;
  }
  while (value >= 10 && exponent < 99) {
    value /= 10;
    ++exponent;
  }
  while (value < 1 && exponent > -99) {
    value *= 10;
    --exponent;
  }
  tenths = (int)(value * 10 + 0.5);
  if (tenths > 99) tenths = 99;
  print_number((uint32_t)tenths / 10);
  print_text(".");
  print_number((uint32_t)(tenths % 10));
  print_text(exponent < 0 ? "e-" : "e+");
  if (exponent < 0) exponent = -exponent;
  digit = (char)('0' + exponent / 10);
  print_bytes(&digit, 1);
  print_number((uint32_t)(exponent % 10));
}

void print_row_start(const char* name) {
  print_text("row|");
  print_text(name);
  print_text("|");
}

void print_row_end(void) { print_text("|-\n"); }

void print_row_end_measured(uint32_t tenths_of_instructions) {
  if (tenths_of_instructions == 0) {
    print_row_end(); /* this board does not count instructions */
    return;
  }
  print_text("|");
  print_number(tenths_of_instructions / 10);
  if (tenths_of_instructions < 10000) {
    print_text(".");
    print_number(tenths_of_instructions % 10);
  }
  print_text("\n");
}

void print_measure(const char* memory, size_t bytes) {
  print_text(memory);
  print_text("|");
  print_number((uint32_t)bytes);
  print_text("\n");
}

void print_stack(void) { print_measure("stack", board_stack_used()); }
