/* Stands for Zephyr's serial driver. */
#include <zephyr/drivers/uart.h>

#include "serial.h"

const struct device serial_line = {0};

static void start(void) {
  static int is_started;
  if (!is_started) serial_start();
  is_started = 1;
}

int uart_poll_in(const struct device* device, unsigned char* byte) {
  (void)device;
  start();
  *byte = serial_receive();
  return 0;
}

void uart_poll_out(const struct device* device, unsigned char byte) {
  (void)device;
  start();
  serial_send(byte);
}
