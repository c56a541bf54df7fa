/* start.c: start-up and SysTick for one Cortex-M core. */
#include "mcu.h"

extern uint32_t _stack_top[]; /* from the linker script */

void reset(void);

/* ---- registers ---- */

#define REGISTER(address) (*(volatile uint32_t*)(address))
#define SYST_CSR REGISTER(0xE000E010u) /* enable 1, interrupt 2, core clock 4, wrapped 1 << 16 */
#define SYST_RVR REGISTER(0xE000E014u)
#define SYST_CVR REGISTER(0xE000E018u)
#define ICSR REGISTER(0xE000ED04u)
#define CPACR REGISTER(0xE000ED88u)

enum { SYST_RUN = 7, SYST_MOST = 0xFFFFFF, PENDSTSET = 1 << 26 };

uint32_t semihost(uint32_t operation, const void* argument) {
  register uint32_t r0 __asm__("r0") = operation;
  register const void* r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

/* ---- time: the emulator gives each instruction one nanosecond (-icount shift=0) ---- */

static volatile uint32_t wraps;
static void (*volatile on_timer)(void);

/* Returns the ticks, including a wrap that no interrupt has counted yet. */
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

/* Referenced by the unwind tables of LLVM's objects and of the library, in this order. Never
 * called, since nothing unwinds. */
void __aeabi_unwind_cpp_pr0(void) {}
void __aeabi_unwind_cpp_pr1(void) {}

/* ---- start ---- */

void reset(void) {
#ifdef __ARM_FP
  CPACR |= 0xFu << 20; /* full access to the floating-point unit */
  __asm__ volatile("dsb\n\tisb" : : : "memory");
#endif
  prepare_memory();
  run_timer(SYST_MOST);
  run_firmware();
}

__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))_stack_top, reset, fault, fault, fault, fault, fault, NULL,
    NULL, NULL, NULL, fault, fault, NULL, fault, timer_interrupt};
