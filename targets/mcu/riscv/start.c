/* start.c: start-up and the machine timer for one RISC-V core. */
#include "mcu.h"

/* A semihosting call is these three instructions, which must be uncompressed and within one
 * page. */
__attribute__((noinline, aligned(16))) uint32_t semihost(uint32_t operation, const void* argument) {
  register uint32_t a0 __asm__("a0") = operation;
  register const void* a1 __asm__("a1") = argument;
  __asm__ volatile(
      ".option push\n\t.option norvc\n\t.balign 16\n\t"
      "slli zero, zero, 0x1f\n\tebreak\n\tsrai zero, zero, 7\n\t"
      ".option pop"
      : "+r"(a0)
      : "r"(a1)
      : "memory");
  return a0;
}

/* ---- instructions and the timer ---- */

uint64_t board_instructions(void) {
  uint32_t low, high, again;
  do {
    __asm__ volatile("csrr %0, minstreth\n\tcsrr %1, minstret\n\tcsrr %2, minstreth"
                     : "=&r"(high), "=&r"(low), "=&r"(again));
  } while (high != again);
  return (uint64_t)high << 32 | low;
}

#define MTIMECMP ((volatile uint32_t*)0x02004000u)
#define MTIME ((volatile uint32_t*)0x0200BFF8u)

enum { MSTATUS_MIE = 8, MIE_MTIE = 0x80 };

static void (*volatile on_timer)(void);
static uint32_t period;

static uint64_t mtime(void) {
  uint32_t low, high;
  do {
    high = MTIME[1];
    low = MTIME[0];
  } while (high != MTIME[1]);
  return (uint64_t)high << 32 | low;
}

static void set_mtimecmp(uint64_t time) {
  MTIMECMP[1] = UINT32_MAX; /* no interrupt between the two halves */
  MTIMECMP[0] = (uint32_t)time;
  MTIMECMP[1] = (uint32_t)(time >> 32);
}

/* The emulator gives each instruction one nanosecond (-icount shift=0). */
int board_every(uint32_t instructions, void (*handler)(void)) {
  period = (uint32_t)((uint64_t)instructions * (TIMER_HZ / 1000u) / 1000000u);
  on_timer = handler;
  set_mtimecmp(handler == NULL ? UINT64_MAX : mtime() + period);
  __asm__ volatile("csrs mie, %0\n\tcsrs mstatus, %1" : : "r"(MIE_MTIE), "r"(MSTATUS_MIE) : "memory");
  return 0;
}

__attribute__((interrupt("machine"), aligned(4))) static void trap(void) {
  uint32_t cause;
  __asm__ volatile("csrr %0, mcause" : "=r"(cause));
  if (cause != (0x80000000u | 7u)) fault();
  set_mtimecmp(mtime() + period);
  on_timer();
}

/* ---- start ---- */

__attribute__((used)) static void start(void) {
  __asm__ volatile("csrw mtvec, %0" : : "r"(trap));
  prepare_memory();
  run_firmware();
}

__attribute__((naked, section(".start"), used)) void _start(void) {
  __asm__ volatile(
      ".option push\n\t.option norelax\n\tla gp, __global_pointer$\n\t.option pop\n\t"
      "la sp, _stack_top\n\tj start");
}
