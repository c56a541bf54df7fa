/* firmware.h: helpers of the programs for the emulated Cortex-M4F; start.c of targets/mcu runs
 * their main. */
#ifndef FIRMWARE_H_
#define FIRMWARE_H_

#include <board.h>
#include <tvm/ffi/c_api.h>

static void print_text(const char* text) {
  size_t size = 0;
  while (text[size] != '\0') ++size;
  board_write(text, size);
}

static void print_number(uint32_t number) {
  char digits[10];
  size_t at = sizeof(digits);
  do {
    digits[--at] = (char)('0' + number % 10);
    number /= 10;
  } while (number != 0);
  board_write(digits + at, sizeof(digits) - at);
}

/* Prints one line of results: a name and a number. */
static void print_result(const char* name, uint32_t number) {
  print_text(name);
  print_text(" ");
  print_number(number);
  print_text("\n");
}

static TVMFFIByteArray bytes_of(const char* text) {
  TVMFFIByteArray bytes;
  bytes.data = text;
  for (bytes.size = 0; text[bytes.size] != '\0';) ++bytes.size;
  return bytes;
}

/* Registers a C function under a name; returns 0 on success. */
static int set_global(const char* name, TVMFFISafeCallType function) {
  TVMFFIByteArray key = bytes_of(name);
  TVMFFIObjectHandle object;
  int status;
  if (TVMFFIFunctionCreate(NULL, function, NULL, &object) != 0) return -1;
  status = TVMFFIFunctionSetGlobal(&key, object, 0);
  return status | TVMFFIObjectDecRef(object);
}

#endif /* FIRMWARE_H_ */
