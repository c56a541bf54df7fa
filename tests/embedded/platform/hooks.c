/* hooks.c: a firmware that defines every hook. */
#include "check.h"

/* ---- lock and unlock ---- */

static size_t depth, sections, unbalanced;

size_t FerritePlatformLock(void) {
  ++sections;
  return depth++;
}

void FerritePlatformUnlock(size_t state) {
  if (--depth != state) ++unbalanced;
}

/* ---- memory: some blocks of one size ---- */

enum { BLOCKS = 32, BLOCK_BYTES = 256, LARGEST = 12345 };

static _Alignas(16) char blocks[BLOCKS][BLOCK_BYTES];
static char taken[BLOCKS];
static int in_use, refuse_all;

void* FerritePlatformAllocate(size_t size, size_t alignment) {
  int i;
  if (refuse_all || size > BLOCK_BYTES || alignment > 16) return NULL;
  for (i = 0; i < BLOCKS; ++i) {
    if (!taken[i]) {
      taken[i] = 1;
      ++in_use;
      return blocks[i];
    }
  }
  return NULL;
}

void FerritePlatformRelease(void* block) {
  size_t i = (size_t)((char*)block - blocks[0]) / BLOCK_BYTES;
  CHECK(taken[i] && blocks[i] == block);
  taken[i] = 0;
  --in_use;
}

size_t FerritePlatformLargestFree(void) { return LARGEST; }

/* ---- tasks ---- */

static void* slots[2];
static int task;
static int yielded;
static void** waited_for;

void** FerritePlatformRaisedSlot(void) { return &slots[task]; }

/* Simulates the other task, which completes its work. */
void FerritePlatformYield(void) {
  if (++yielded == 3) *waited_for = NULL;
}

/* ---- tests ---- */

static void sections_are_the_firmwares(void) {
  TVMFFIAny string;
  size_t before = sections;
  CHECK(make_string(100, &string) == 0);
  CHECK(set_global("a name", NULL) != 0);
  CHECK(raised_is("ValueError", ""));
  CHECK(TVMFFIObjectDecRef(string.v_obj) == 0);
  CHECK(sections > before);
  CHECK(depth == 0 && unbalanced == 0);
}

static void memory_is_the_firmwares(void) {
  TVMFFIAny string;
  int before = in_use;
  CHECK(make_string(100, &string) == 0);
  CHECK(in_use == before + 1);
  CHECK(TVMFFIObjectDecRef(string.v_obj) == 0);
  CHECK(in_use == before);
  REFUSED(make_string(1000, &string), "MemoryError", "12345 free");
  refuse_all = 1;
  REFUSED(make_string(100, &string), "MemoryError", "Out of memory");
  refuse_all = 0;
  CHECK(make_string(100, &string) == 0);
  CHECK(TVMFFIObjectDecRef(string.v_obj) == 0);
}

static void tasks_have_errors_of_their_own(void) {
  task = 0;
  TVMFFIErrorSetRaisedFromCStr("FirstError", "of task 0");
  task = 1;
  TVMFFIErrorSetRaisedFromCStr("SecondError", "of task 1");
  CHECK(slots[0] != NULL && slots[1] != NULL && slots[0] != slots[1]);
  task = 0;
  CHECK(raised_is("FirstError", "of task 0"));
  task = 1;
  CHECK(raised_is("SecondError", "of task 1"));
  task = 0;
  CHECK(slots[0] == NULL && slots[1] == NULL);
}

static int ran;

static int run(void* data) {
  (void)data;
  ++ran;
  return 0;
}

/* Another task runs the initialiser of this handle, and fails in the meantime. */
static void waiting_yields(void) {
  static void* handle = (void*)1;
  waited_for = &handle;
  CHECK(TVMBackendRunOnce(&handle, run, NULL, 0) == 0);
  CHECK(yielded == 3 && ran == 1);
  CHECK(TVMBackendRunOnce(&handle, run, NULL, 0) == 0);
  CHECK(ran == 1);
}

/* ---- the log ---- */

static char heard[256];
static size_t heard_bytes;

static void hear(const char* text, size_t size) {
  CHECK(depth == 0);
  while (size-- != 0 && heard_bytes < sizeof(heard)) heard[heard_bytes++] = *text++;
}

static void warnings_are_heard(void) {
  size_t before;
  TVMFFIErrorMoveFromRaised(NULL); /* has no status to report the error */
  CHECK(heard_bytes == 0);
  FerriteLogSet(hear);
  TVMFFIErrorMoveFromRaised(NULL);
  CHECK(heard_bytes > 10 && heard[0] == 'T' && heard[heard_bytes - 1] == '\n');
  FerriteLogSet(NULL);
  before = heard_bytes;
  TVMFFIErrorMoveFromRaised(NULL);
  CHECK(heard_bytes == before);
}

int main(void) {
  sections_are_the_firmwares();
  memory_is_the_firmwares();
  tasks_have_errors_of_their_own();
  waiting_yields();
  warnings_are_heard();
  CHECK(depth == 0 && unbalanced == 0);
  return failures;
}
