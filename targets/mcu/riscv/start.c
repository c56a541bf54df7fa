/* start.c: start-up, semihosting, and the machine timer for one RISC-V core. */
#include "board.h"

#include "tvm_ffi_platform.h"

/* From the linker script. */
extern uint32_t _data_load[], _data_start[], _data_end[], _bss_start[], _bss_end[], _stack_limit[], _stack_top[];
extern void (*_init_start[])(void);
extern void (*_init_end[])(void);

int main(void);

/* ---- semihosting ---- */

enum { SYS_WRITE0 = 0x04, SYS_EXIT_EXTENDED = 0x20, STOPPED_APPLICATION_EXIT = 0x20026 };

/* The three instructions are the call; they must be uncompressed and within one page. */
__attribute__((noinline, aligned(16))) static uint32_t semihost(uint32_t operation, const void* argument) {
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

void board_write(const char* text, size_t size) {
  char piece[64];
  size_t used = 0;
  while (size-- != 0) {
    piece[used++] = *text++;
    if (used == sizeof(piece) - 1 || size == 0) {
      piece[used] = '\0';
      semihost(SYS_WRITE0, piece);
      used = 0;
    }
  }
}

void board_exit(int status) {
  uint32_t block[2];
  block[0] = STOPPED_APPLICATION_EXIT;
  block[1] = (uint32_t)status;
  for (;;) semihost(SYS_EXIT_EXTENDED, block);
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
  static const char text[] = "fault\n";
  uint32_t cause;
  __asm__ volatile("csrr %0, mcause" : "=r"(cause));
  if (cause != (0x80000000u | 7u)) {
    board_write(text, sizeof(text) - 1);
    board_exit(139);
  }
  set_mtimecmp(mtime() + period);
  on_timer();
}

/* ---- the stack: painted at the start, so that what was used can be seen ---- */

enum { PAINT = 0x5A5AA5A5 };

static void paint_stack(void) {
  volatile uint32_t* at = _stack_limit;
  uint32_t here;
  /* Not over the frames in use. */
  while ((uintptr_t)at < (uintptr_t)&here - 64) *at++ = PAINT;
}

size_t board_stack_used(void) {
  const uint32_t* at = _stack_limit;
  while (at < _stack_top && *at == PAINT) ++at;
  return (size_t)((const char*)_stack_top - (const char*)at);
}

/* ---- hooks of the library ---- */

void FerritePlatformAbort(void) {
  static const char text[] = "abort\n";
  board_write(text, sizeof(text) - 1);
  board_exit(134);
  for (;;) continue;
}

/* ---- start ---- */

__attribute__((used)) static void start(void) {
  const uint32_t* from = _data_load;
  volatile uint32_t* to;
  void (**init)(void);
  for (to = _data_start; to < _data_end;) *to++ = *from++;
  for (to = _bss_start; to < _bss_end;) *to++ = 0;
  __asm__ volatile("csrw mtvec, %0" : : "r"(trap));
  paint_stack();
  for (init = _init_start; init < _init_end; ++init) (*init)();
  board_exit(main());
}

__attribute__((naked, section(".start"), used)) void _start(void) {
  __asm__ volatile(
      ".option push\n\t.option norelax\n\tla gp, __global_pointer$\n\t.option pop\n\t"
      "la sp, _stack_top\n\tj start");
}
