/* start.c: start-up, semihosting, and SysTick for one Cortex-M core. */
#include "board.h"

#include "tvm_ffi_platform.h"

/* From the linker script. */
extern uint32_t _data_load[], _data_start[], _data_end[], _bss_start[], _bss_end[], _stack_limit[], _stack_top[];
extern void (*_init_start[])(void);
extern void (*_init_end[])(void);

int main(void);
void reset(void);

/* ---- registers ---- */

#define REGISTER(address) (*(volatile uint32_t*)(address))
#define SYST_CSR REGISTER(0xE000E010u) /* enable 1, interrupt 2, core clock 4, wrapped 1 << 16 */
#define SYST_RVR REGISTER(0xE000E014u)
#define SYST_CVR REGISTER(0xE000E018u)
#define ICSR REGISTER(0xE000ED04u)
#define CPACR REGISTER(0xE000ED88u)

enum { SYST_RUN = 7, SYST_MOST = 0xFFFFFF, PENDSTSET = 1 << 26 };

/* ---- semihosting ---- */

enum { SYS_WRITE0 = 0x04, SYS_EXIT_EXTENDED = 0x20, STOPPED_APPLICATION_EXIT = 0x20026 };

static uint32_t semihost(uint32_t operation, const void* argument) {
  register uint32_t r0 __asm__("r0") = operation;
  register const void* r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
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

/* ---- time: the emulator gives each instruction one nanosecond (-icount shift=0) ---- */

static volatile uint32_t wraps;
static void (*volatile on_timer)(void);

/* Whole ticks, with the wraps that no interrupt has counted yet. */
static uint64_t ticks(void) {
  uint32_t before, now, pending;
  do {
    before = wraps;
    pending = (ICSR & PENDSTSET) != 0;
    now = SYST_CVR;
  } while (before != wraps || pending != ((ICSR & PENDSTSET) != 0));
  return (uint64_t)(before + pending) * (SYST_MOST + 1) + (SYST_MOST - now);
}

uint64_t board_instructions(void) { return ticks() * (1000000000u / 1000u) / (CORE_HZ / 1000u); }

static void run_timer(uint32_t reload) {
  SYST_CSR = 0;
  SYST_RVR = reload;
  SYST_CVR = 0;
  SYST_CSR = SYST_RUN;
}

int board_every(uint32_t instructions, void (*handler)(void)) {
  on_timer = handler;
  run_timer(handler == NULL ? SYST_MOST : (uint32_t)((uint64_t)instructions * (CORE_HZ / 1000u) / 1000000u));
  return 0;
}

static void timer_interrupt(void) {
  void (*handler)(void) = on_timer;
  if (handler == NULL) {
    wraps = wraps + 1;
  } else {
    handler();
  }
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

/* Unwind tables name them, those of LLVM's objects the first and those of the library the second. Nothing unwinds. */
void __aeabi_unwind_cpp_pr0(void) {}
void __aeabi_unwind_cpp_pr1(void) {}

/* ---- start ---- */

static void fault(void) {
  static const char text[] = "fault\n";
  board_write(text, sizeof(text) - 1);
  board_exit(139);
}

void reset(void) {
  const uint32_t* from = _data_load;
  volatile uint32_t* to;
  void (**init)(void);
  for (to = _data_start; to < _data_end;) *to++ = *from++;
  for (to = _bss_start; to < _bss_end;) *to++ = 0;
#ifdef __ARM_FP
  CPACR |= 0xFu << 20; /* full access to the floating-point unit */
  __asm__ volatile("dsb\n\tisb" : : : "memory");
#endif
  paint_stack();
  run_timer(SYST_MOST);
  for (init = _init_start; init < _init_end; ++init) (*init)();
  board_exit(main());
}

__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))_stack_top, reset, fault, fault, fault, fault, fault, NULL,
    NULL, NULL, NULL, fault, fault, NULL, fault, timer_interrupt};
