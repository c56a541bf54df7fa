/* Functions of a library that `ferrite rpc serve` offers: among them some that end their process,
 * or do not end. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <signal.h>
#include <unistd.h>

#include <tvm/ffi/c_api.h>

#ifndef ANSWER
#define ANSWER 1
#endif

static int integer(TVMFFIAny* result, int64_t value) {
  memset(result, 0, sizeof *result);
  result->type_index = kTVMFFIInt;
  result->v_int64 = value;
  return 0;
}

int __tvm_ffi_answer(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self, (void)args, (void)num_args;
  return integer(result, ANSWER);
}

/* Writes to standard output, which must not reach the client. */
int __tvm_ffi_print(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self, (void)args, (void)num_args;
  puts("a line of a kernel");
  fflush(stdout);
  return integer(result, 0);
}

int __tvm_ffi_crash(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self, (void)args, (void)num_args, (void)result;
  signal(SIGSEGV, SIG_DFL);
  raise(SIGSEGV);
  return -1;
}

int __tvm_ffi_leave(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self, (void)args, (void)num_args, (void)result;
  _exit(7);
  return -1;
}

/* Waits for ever, with a child that does so, too. Their numbers are in the file `processes`. */
int __tvm_ffi_hang(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  FILE* file = fopen("processes", "w");
  pid_t child = fork();
  (void)self, (void)args, (void)num_args, (void)result;
  if (child != 0 && file != NULL) {
    fprintf(file, "%ld %ld\n", (long)getpid(), (long)child);
    fclose(file);
  }
  for (;;) pause();
  return -1;
}
