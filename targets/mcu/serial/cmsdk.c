/* cmsdk.c: the UART of Arm's Cortex-M System Design Kit, at the address SERIAL. */
#include "serial.h"

#define REGISTER(offset) (*(volatile uint32_t*)(SERIAL + (offset)))
#define DATA REGISTER(0x00u)
#define STATE REGISTER(0x04u) /* sent byte waits 1, received byte waits 2 */
#define CONTROL REGISTER(0x08u)
#define DIVIDER REGISTER(0x10u)

enum { SEND_AND_RECEIVE = 3, SENDING = 1, RECEIVED = 2, BAUD = 115200 };

void serial_start(void) {
  DIVIDER = CORE_HZ / BAUD;
  CONTROL = SEND_AND_RECEIVE;
}

uint8_t serial_receive(void) {
  while ((STATE & RECEIVED) == 0) continue;
  return (uint8_t)DATA;
}

void serial_send(uint8_t byte) {
  while ((STATE & SENDING) != 0) continue;
  DATA = byte;
}
