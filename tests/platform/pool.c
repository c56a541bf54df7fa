/* pool.c: a library that starts without any memory, and gets it at run time. */
#include "check.h"

static int refused_before_main;

static int nothing(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result) {
  (void)self;
  (void)args;
  (void)num_args;
  (void)result;
  return 0;
}

/* As a system library registers itself. */
__attribute__((constructor)) static void before_main(void) {
  refused_before_main = set_global("early", nothing) != 0 && raised_is("MemoryError", "Out of memory");
}

static void before_there_is_memory(void) {
  TVMFFIAny string;
  TVMFFIObjectHandle function = NULL;
  CHECK(refused_before_main);
  REFUSED(make_string(100, &string), "MemoryError", "Out of memory");
  REFUSED(set_global("early", nothing), "MemoryError", "Out of memory");
  /* Without memory for another error, this one stands for it. */
  REFUSED(TVMFFIFunctionCall(NULL, NULL, 0, &string), "MemoryError", "Out of memory");
  CHECK(get_global("early", &function) != 0);
  CHECK(function == NULL);
  CHECK(FerriteMemoryUsed() == 0);
  CHECK(FerriteMemoryFree() == 0);
}

static void memory_that_is_none(void) {
  static char few[8];
  REFUSED(FerriteMemoryAdd(NULL, 64), "MemoryError", "Out of memory");
  CHECK(FerriteMemoryAdd(few, sizeof(few)) != 0);
  CHECK(FerriteMemoryFree() == 0);
}

static void too_little(void) {
  static char first[512];
  TVMFFIAny string;
  size_t before;
  CHECK(FerriteMemoryAdd(first, sizeof(first)) == 0);
  CHECK(FerriteMemoryFree() > 480);
  REFUSED(FerriteMemoryAdd(NULL, 64), "ValueError", "`region`");
  REFUSED(FerriteMemoryAdd(first, 4), "ValueError", "4 bytes");
  before = FerriteMemoryUsed();
  REFUSED(make_string(1000, &string), "MemoryError", "bytes asked, ");
  REFUSED(make_string(1000, &string), "MemoryError", " free");
  CHECK(FerriteMemoryUsed() == before);
}

static void enough(void) {
  static char second[4097];
  TVMFFIAny string;
  size_t before = FerriteMemoryUsed(), most;
  CHECK(FerriteMemoryAdd(second + 1, sizeof(second) - 1) == 0);
  CHECK(make_string(1000, &string) == 0);
  CHECK(FerriteMemoryUsed() >= before + 1000);
  most = FerriteMemoryHighWater();
  CHECK(most >= FerriteMemoryUsed());
  CHECK(TVMFFIObjectDecRef(string.v_obj) == 0);
  CHECK(FerriteMemoryUsed() == before);
  CHECK(FerriteMemoryHighWater() == most);
  CHECK(set_global("late", nothing) == 0);
}

int main(void) {
  before_there_is_memory();
  memory_that_is_none();
  too_little();
  enough();
  return failures;
}
